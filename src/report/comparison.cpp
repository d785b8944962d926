#include "tbench/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include "case_comparison.hpp"
#include "case_filter.hpp"
#include "comparability.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::report {
namespace {

using Texts = std::vector<std::string>;

/// Where a case without a value stands in a sorted list.
constexpr double kLast = std::numeric_limits<double>::infinity();

constexpr std::array<std::string_view, 7> kVerdicts{"REGRESSED",    "IMPROVED", "CLOCK", "AMBIGUOUS",
                                                    "INSUFFICIENT", "INVALID",  "SAME"};

struct Matches {
  std::vector<MatchedCase> pairs;
  Texts only_in_base;
  Texts only_in_next;
};

Matches match(const ComparisonSide& base, const ComparisonSide& next, const std::string& filter) {
  const CaseFilter passes{filter};
  std::unordered_map<std::string, const ComparedCase*> in_next;
  for (const ComparedCase& c : next.cases) in_next.emplace(c.key, &c);
  std::set<std::string> matched;
  Matches matches;
  for (const ComparedCase& c : base.cases) {
    const auto found = in_next.find(c.key);
    if (found != in_next.end()) matched.insert(c.key);
    if (!passes(c.id.name())) continue;
    if (found == in_next.end()) {
      matches.only_in_base.push_back(c.id.name());
    } else {
      matches.pairs.push_back({&c, found->second});
    }
  }
  for (const ComparedCase& c : next.cases) {
    if (!matched.contains(c.key) && passes(c.id.name())) matches.only_in_next.push_back(c.id.name());
  }
  return matches;
}

void check_matches(const Matches& matches, const ComparisonSide& base, const ComparisonSide& next,
                   const std::string& filter) {
  if (!matches.pairs.empty()) return;
  if (base.cases.empty() || next.cases.empty()) {
    throw UsageError{
        fmt::format("the {} side has no cases; give a file with results", base.cases.empty() ? "base" : "new")};
  }
  const bool any = !matches.only_in_base.empty() || !matches.only_in_next.empty();
  if (!filter.empty() && !any) {
    throw UsageError{fmt::format("--filter: no case of {} matches '{}'; the first case is {}",
                                 std::max(base.cases.size(), next.cases.size()), filter, base.cases.front().id.name())};
  }
  throw UsageError{fmt::format("the sides have no case in common; the first ones are '{}' and '{}'",
                               base.cases.front().id.name(), next.cases.front().id.name())};
}

void decide_all(std::vector<ChangeOfCase>& changes, const CompareOptions& options) {
  std::vector<double> p_values;
  for (const ChangeOfCase& change : changes) {
    if (change.is_tested) p_values.push_back(*change.result.p_value);
  }
  const std::vector<double> adjusted = benjamini_hochberg(p_values);
  std::size_t next = 0;
  for (ChangeOfCase& change : changes) {
    const std::optional<double> p = change.is_tested ? std::optional{adjusted[next++]} : std::nullopt;
    decide(change, p, adjusted.size(), options);
  }
}

std::string family_of(const CaseId& id) { return id.family().substr(0, id.family().find('/')); }

std::vector<FamilyMean> family_means(const std::vector<CaseComparison>& cases) {
  struct Ratios {
    std::vector<double> time;
    std::vector<double> cycles;
  };
  std::vector<std::pair<std::string, Ratios>> families;  // in the order of the cases
  for (const CaseComparison& c : cases) {
    if (!c.ratio) continue;
    const std::string name = family_of(c.id);
    auto found = std::ranges::find(families, name, &std::pair<std::string, Ratios>::first);
    if (found == families.end()) found = families.insert(families.end(), {name, {}});
    found->second.time.push_back(*c.ratio);
    if (c.cycle_ratio) found->second.cycles.push_back(*c.cycle_ratio);
  }
  std::vector<FamilyMean> means;
  for (const auto& [name, ratios] : families) {
    FamilyMean mean{
        .family = name, .cases = ratios.time.size(), .ratio = geometric_mean(ratios.time), .cycle_ratio = {}};
    if (!ratios.cycles.empty()) mean.cycle_ratio = geometric_mean(ratios.cycles);
    means.push_back(std::move(mean));
  }
  return means;
}

SideFacts facts(const ComparisonSide& side) { return {.paths = side.paths, .device = device_names(side)}; }

}  // namespace

std::string_view to_string(Verdict verdict) { return kVerdicts.at(static_cast<std::size_t>(verdict)); }

Comparison compare(const ComparisonSide& base, const ComparisonSide& next, const CompareOptions& options) {
  Matches matches = match(base, next, options.filter);
  check_matches(matches, base, next, options.filter);
  Comparison comparison;
  comparison.warnings = base.warnings;
  comparison.warnings.insert(comparison.warnings.end(), next.warnings.begin(), next.warnings.end());
  const Texts objected = objections(base, next, matches.pairs);
  if (!objected.empty() && !options.force) {
    throw NotComparable{join(objected, "; ") + "; measure again alike, or compare all the same with --force"};
  }
  for (const std::string& objection : objected) comparison.warnings.push_back(objection + " (--force)");
  comparison.cross = options.cross.value_or(devices_differ(base, next));
  comparison.base = facts(base);
  comparison.next = facts(next);
  comparison.differences = differences_of(base, next);
  comparison.only_in_base = std::move(matches.only_in_base);
  comparison.only_in_next = std::move(matches.only_in_next);
  std::vector<ChangeOfCase> changes;
  changes.reserve(matches.pairs.size());
  for (const MatchedCase& pair : matches.pairs) changes.push_back(measure_change(*pair.base, *pair.next, options));
  if (!comparison.cross) decide_all(changes, options);
  for (ChangeOfCase& change : changes) {
    if (comparison.cross) change.result.note = status_note(change.result.base, change.result.next);
    comparison.cases.push_back(std::move(change.result));
  }
  comparison.families = family_means(comparison.cases);
  return comparison;
}

void sort_cases(Comparison& comparison, CaseOrder order) {
  const auto sort_by = [&](auto key) { std::ranges::stable_sort(comparison.cases, {}, key); };
  switch (order) {
    case CaseOrder::kFile:
      break;
    case CaseOrder::kName:
      sort_by([](const CaseComparison& c) { return c.id.name(); });
      break;
    case CaseOrder::kChange:
      sort_by([](const CaseComparison& c) { return c.ratio ? -*c.ratio : kLast; });
      break;
    case CaseOrder::kP:
      sort_by([](const CaseComparison& c) { return c.p_value.value_or(kLast); });
      break;
  }
}

std::map<Verdict, std::size_t> count_verdicts(const Comparison& comparison) {
  std::map<Verdict, std::size_t> counts;
  for (const CaseComparison& c : comparison.cases) {
    if (c.verdict) ++counts[*c.verdict];
  }
  return counts;
}

int exit_status(const Comparison& comparison, bool strict) {
  const std::map<Verdict, std::size_t> counts = count_verdicts(comparison);
  if (counts.contains(Verdict::kRegressed)) return kExitRegressed;
  const bool is_uncertain = counts.contains(Verdict::kAmbiguous) || counts.contains(Verdict::kInsufficient);
  return strict && is_uncertain ? kExitUncertain : kExitOk;
}

}  // namespace tbench::report
