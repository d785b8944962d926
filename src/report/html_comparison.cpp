#include "html_comparison.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tbench/report/comparison.hpp"
#include "tbench/report/comparison_page.hpp"

namespace tbench::report {
namespace {

constexpr int kDigits = 5;

void put(Json& json, const char* key, const std::optional<double>& value) {
  if (value) json[key] = rounded(*value, kDigits);
}

void put(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

ComparisonSide side_of_results(const NamedResults& result) {
  std::vector<ComparedRun> runs;
  runs.push_back(compared_run(result.label, result.file));
  return side_of(std::move(runs));
}

std::optional<double> milliseconds(const SideOfCase& side) {
  return side.time ? std::optional{to_milliseconds(*side.time)} : std::nullopt;
}

std::optional<double> memory_ratio(const CaseComparison& c) {
  if (!c.base.peak_bytes || !c.next.peak_bytes || *c.base.peak_bytes == 0) return std::nullopt;
  return static_cast<double>(*c.next.peak_bytes) / static_cast<double>(*c.base.peak_bytes);
}

Json case_data(const CaseComparison& c, PageFamilies& families) {
  Json json;
  json["family"] = families.index_of(c.id);
  json["values"] = families.values(c.id);
  if (c.verdict) json["verdict"] = to_string(*c.verdict);
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

Json comparison_data(const Comparison& comparison, PageFamilies& families) {
  Json cases = Json::array();
  for (const CaseComparison& c : comparison.cases) cases.push_back(case_data(c, families));
  Json means = Json::array();
  for (const FamilyMean& mean : comparison.families) {
    Json& json = means.emplace_back(Json{{"family", mean.family}, {"cases", mean.cases}});
    json["ratio"] = rounded(mean.ratio, kDigits);
    put(json, "cycles", mean.cycle_ratio);
  }
  return {{"summary", comparison_summary(comparison)},
          {"cross", comparison.cross},
          {"differences", comparison.differences},
          {"warnings", comparison.warnings},
          {"means", std::move(means)},
          {"only_in_base", comparison.only_in_base},
          {"only_in_new", comparison.only_in_next},
          {"cases", std::move(cases)}};
}

/// Files that must not or cannot be compared say why: the page has their numbers all the same.
Json comparison_or_refusal(const NamedResults& base, const NamedResults& next, PageFamilies& families) {
  try {
    return comparison_data(compare(side_of_results(base), side_of_results(next), {}), families);
  } catch (const std::runtime_error& error) {
    return {{"refused", error.what()}};
  }
}

}  // namespace

Json html_comparisons(std::span<const NamedResults> results, PageFamilies& families) {
  Json comparisons = Json::array();
  for (std::size_t i = 1; i < results.size(); ++i) {
    Json& json = comparisons.emplace_back(comparison_or_refusal(results.front(), results[i], families));
    json["file"] = i;
  }
  return comparisons;
}

}  // namespace tbench::report
