// The comparisons of a page with several files, in the form that its scripts read.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "html/page.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/compare/comparison_output.hpp"

namespace tbench::html {
namespace {

constexpr int kDigits = 5;

void put(results::Json& json, const char* key, const std::optional<double>& value) {
  if (value) json[key] = rounded(*value, kDigits);
}

void put(results::Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

std::optional<double> milliseconds(const compare::SideOfCase& side) {
  return side.time ? std::optional{to_milliseconds(*side.time)} : std::nullopt;
}

std::optional<double> memory_ratio(const compare::CaseComparison& c) {
  const std::optional<compare::Peaks> peaks = compare::comparable_peaks(c);
  if (!peaks || peaks->base == 0) return std::nullopt;
  return static_cast<double>(peaks->next) / static_cast<double>(peaks->base);
}

results::Json case_data(const compare::CaseComparison& c, PageFamilies& families) {
  results::Json json;
  json["family"] = families.index_of(c.id);
  json["values"] = families.values(c.id);
  if (c.outcome) json["outcome"] = to_string(*c.outcome);
  put(json, "base_ms", milliseconds(c.base));
  put(json, "new_ms", milliseconds(c.next));
  put(json, "ratio", c.ratio);
  if (c.ratio_interval) {
    json["interval"] = {rounded(c.ratio_interval->low, kDigits), rounded(c.ratio_interval->high, kDigits)};
    if (c.interval_is_within) json["within"] = true;
  }
  put(json, "cycles", c.cycle_ratio);
  put(json, "memory", memory_ratio(c));
  put(json, "p", c.adjusted_p);
  put(json, "finds", c.smallest_detectable);
  json["n"] = {c.base.replicates, c.next.replicates};
  put(json, "note", c.note);
  return json;
}

results::Json comparison_data(const compare::Comparison& comparison, PageFamilies& families) {
  results::Json cases = results::Json::array();
  for (const compare::CaseComparison& c : comparison.cases) cases.push_back(case_data(c, families));
  results::Json means = results::Json::array();
  for (const compare::FamilyMean& mean : comparison.families) {
    results::Json& json = means.emplace_back(results::Json{{"family", mean.family}, {"cases", mean.cases}});
    json["ratio"] = rounded(mean.ratio, kDigits);
    put(json, "cycles", mean.cycle_ratio);
  }
  return {{"summary", compare::comparison_summary(comparison)},
          {"cross", comparison.cross},
          {"differences", comparison.differences},
          {"warnings", comparison.warnings},
          {"means", std::move(means)},
          {"only_in_base", comparison.only_in_base},
          {"only_in_new", comparison.only_in_next},
          {"cases", std::move(cases)}};
}

}  // namespace

results::Json html_comparisons(std::span<const FileComparison> comparisons, PageFamilies& families) {
  results::Json all = results::Json::array();
  for (const FileComparison& against : comparisons) {
    results::Json& json = all.emplace_back(against.comparison ? comparison_data(*against.comparison, families)
                                                              : results::Json{{"refused", against.refused}});
    json["file"] = against.file;
  }
  return all;
}

}  // namespace tbench::html
