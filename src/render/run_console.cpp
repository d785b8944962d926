#include "tbench/render/run_console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tbench/core/text.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::render {
namespace {

/// Returns the parameters that have the same value in all cases of a family; none for a single case.
std::vector<CaseId::Parameter> shared_by(const std::vector<const CaseId*>& cases) {
  std::vector<CaseId::Parameter> shared;
  if (cases.size() < 2) return shared;
  for (const CaseId::Parameter& parameter : cases.front()->parameters()) {
    const auto has_it = [&](const CaseId* id) { return id->has({&parameter, 1}); };
    if (std::ranges::all_of(cases, has_it)) shared.push_back(parameter);
  }
  return shared;
}

/// Returns the keys of a family's cases without the shared ones, in the order of the names.
std::vector<std::string> other_keys(const std::vector<const CaseId*>& cases,
                                    const std::vector<CaseId::Parameter>& shared) {
  std::vector<std::string> keys;
  for (const CaseId* id : cases) {
    for (const auto& [key, value] : id->parameters()) {
      if (std::ranges::find(shared, key, &CaseId::Parameter::first) != shared.end()) continue;
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

std::string legend_line(const std::string& family, const std::vector<std::string>& keys,
                        const std::vector<CaseId::Parameter>& shared) {
  std::string line = family;
  for (const std::string& key : keys) line += " " + key;
  if (shared.empty()) return line;
  line += "; all";
  for (const auto& [key, value] : shared) line += fmt::format(" {}:{}", key, value);
  return line;
}

std::string cases_text(std::size_t count) { return counted(count, "case is", "cases are"); }

/// Returns whether the rate is above its ceiling by more than the measurement error.
bool is_above_ceiling(const Record& record) {
  const std::map<std::string, double> counters = counters_of(record);
  const auto above = counters.find("above_ceiling");
  return above != counters.end() && above->second > 0;
}

/// Returns the record that comes nearest to its ceiling, or null. Leaves out records above their ceiling, which are
/// wrong or read from a cache.
const Record* nearest_to_ceiling(std::span<const Record> records) {
  const Record* nearest = nullptr;
  constexpr double kMost = 100 * kMostOfACeiling;  // percent
  double share = 0;
  for (const Record& record : records) {
    const std::optional<double> of_this = metric_value(record, Metric::kCeilingShare);
    if (!record.timing || !of_this || *of_this <= share || *of_this > kMost) continue;
    nearest = &record;
    share = *of_this;
  }
  return nearest;
}

/// Returns the command that shows the results: on a page, or as tables if there is a page.
std::string report_command(const RunOutput& output) {
  std::vector<std::string> words{"./tbench", "report"};
  if (!output.study.empty()) words.insert(words.end(), {"--study", output.study});
  words.push_back(output.path);
  if (!output.has_page) words.insert(words.end(), {"-o", "report.html"});
  return results::command_line(words);
}

std::string next_command(std::span<const Record> records, const RunOutput& output) {
  const auto failed = std::ranges::find_if(records, [](const Record& r) { return is_failure(r.status); });
  if (failed != records.end()) {
    const std::string name = failed->id.name();
    return fmt::format("next: the failed case alone:{}", results::isolate_command("", {.of_all = {}}, {&name, 1}));
  }
  if (output.path.empty()) return "next: --benchmark_out=a.json keeps the results";
  return "next: " + report_command(output);
}

}  // namespace

ShortNames::ShortNames(std::span<const CaseId> cases, Numbers numbers) : numbers_{numbers} {
  std::map<std::string, std::vector<const CaseId*>> families;
  std::vector<std::string> order;
  for (const CaseId& id : cases) {
    std::vector<const CaseId*>& family = families[id.family()];
    if (family.empty()) order.push_back(id.family());
    family.push_back(&id);
  }
  for (const std::string& family : order) {
    const std::vector<CaseId::Parameter> shared = shared_by(families[family]);
    keys_[family] = other_keys(families[family], shared);
    legend_.push_back(legend_line(family, keys_[family], shared));
  }
  for (const CaseId& id : cases) width_ = std::max(width_, display_width((*this)(id)));
}

std::string ShortNames::operator()(const CaseId& id) const {
  const auto family = keys_.find(id.family());
  if (family == keys_.end()) return id.name();
  std::string name = id.family();
  for (const std::string& key : family->second) {
    const std::string* const value = id.find(key);
    if (value == nullptr) continue;
    if (numbers_ == Numbers::kWithKeys && parse_integer(*value)) name += " " + key;
    name += " " + *value;
  }
  return name;
}

std::vector<Finding> findings_of(std::span<const Record> records) {
  std::vector<Finding> findings;
  std::set<std::string> host_bound;  // names: a case may have several records
  std::set<std::string> not_sharp;
  std::set<std::string> above;
  for (const Record& record : records) {
    const Record* const one = &record;
    const std::string marks = marks_of({&one, 1});
    if (marks.find('h') != std::string::npos) host_bound.insert(record.id.name());
    if (marks.find_first_of("*~") != std::string::npos) not_sharp.insert(record.id.name());
    if (is_above_ceiling(record)) above.insert(record.id.name());
  }
  if (!host_bound.empty()) {
    findings.push_back({.is_warning = true,
                        .text = fmt::format("{} limited by the host: a time differs by 10 to 50 % on another machine",
                                            cases_text(host_bound.size()))});
  }
  if (!not_sharp.empty()) {
    findings.push_back({.is_warning = true,
                        .text = fmt::format("{} not sharp (unstable, throttled, wide, or little more than a launch)",
                                            cases_text(not_sharp.size()))});
  }
  if (!above.empty()) {
    findings.push_back(
        {.is_warning = true,
         .text = fmt::format("{} above the ceiling: the formula or the timing is wrong", cases_text(above.size()))});
  }
  if (const Record* const nearest = nearest_to_ceiling(records)) {
    findings.push_back({.is_warning = false,
                        .text = fmt::format("nearest to its ceiling: {}, {:.0f} % of {}", nearest->id.name(),
                                            *metric_value(*nearest, Metric::kCeilingShare), nearest->work->ceiling)});
  }
  return findings;
}

std::vector<std::string> findings_of(std::span<const Record> records, const RunOutput& output) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings_of(records)) lines.push_back(finding.text);
  if (!records.empty()) lines.push_back(next_command(records, output));
  return lines;
}

}  // namespace tbench::render
