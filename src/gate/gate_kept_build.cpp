// Screens the first runs of a machine, which has no earlier runs to compare with: the kept build runs every case next
// to them.
#include "gate/judging_steps.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/comparison.hpp"

namespace tbench::gate {
namespace {

constexpr const char* kFoundBy = "kept build";

using Comparisons = std::unordered_map<std::string, compare::CaseComparison>;

/// Compares the kept build's run with the candidate, as `tbench diff` does. Returns the comparisons by key.
Comparisons compared(const compare::ComparisonSide& kept, const std::vector<CaseVerdict>& cases,
                     const Environment& environment, std::optional<double> tau) {
  compare::ComparisonSide next;
  next.environments = {environment};
  for (const CaseVerdict& c : cases) next.cases.push_back(*c.measured);
  const bool have_common = std::ranges::any_of(kept.cases, [&](const results::MeasuredCase& c) {
    return std::ranges::find(next.cases, c.key, &results::MeasuredCase::key) != next.cases.end();
  });
  if (!have_common) return {};
  Comparisons by_key;
  const compare::Comparison comparison = compare::compare(kept, next, {.tau = tau, .cross = false, .force = true});
  for (const compare::CaseComparison& c : comparison.cases) by_key.emplace(results::match_key(c.id), c);
  return by_key;
}

/// Returns the difference of ln(time) if it exceeds the known spread between two processes of the same build, otherwise
/// 0.
double difference_beyond(const compare::CaseComparison& c) {
  const double difference = c.known_test ? c.known_test->difference : std::log(c.ratio.value());
  const double limit = std::log1p(c.known_test && c.known_limit ? *c.known_limit : c.threshold);
  return std::abs(difference) > limit ? difference : 0;
}

bool needs_more_memory(const compare::CaseComparison& c) {
  const std::optional<compare::Peaks> peaks = compare::comparable_peaks(c);
  return peaks && compare::memory_outcome(peaks->base, peaks->next) == Outcome::kRegressed;
}

/// Marks a case as a regression candidate if it is slower or needs more memory than with the kept build.
/// @return  whether the case has to be confirmed
bool screen_case(CaseVerdict& c, const results::MeasuredCase& kept, const compare::CaseComparison& comparison) {
  if (c.is_suspect) return true;
  put_change(c.result, kept);
  c.result.device_ratio = comparison.device_ratio;
  if (needs_more_memory(comparison)) become_suspect(c, "memory");
  const double difference = difference_beyond(comparison);
  if (difference > 0) become_suspect(c, kFoundBy);
  if (c.is_suspect) return true;
  if (difference < -std::log1p(c.result.threshold)) c.result.outcome = Outcome::kImproved;
  return difference != 0;
}

/// Marks a case as a regression candidate if it fails with the candidate alone.
void screen_failure(CaseVerdict& c, const compare::CaseComparison& comparison) {
  const std::optional<Outcome> failure = failure_of(*c.measured);
  if (c.has_failed || !failure || comparison.base.status != Status::kOk) return;
  c.has_failed = true;
  c.result.outcome = *failure;
  c.result.note = failure_text(*c.measured);
  become_suspect(c, kFoundBy);
}

}  // namespace

KeptBuildRun screen_by_kept_build(std::vector<CaseVerdict>& cases, const Environment& environment, const RunOnce& run,
                                  std::optional<double> tau) {
  KeptBuildRun result;
  if (!run || cases.empty()) return result;
  std::vector<std::string> names;
  for (const CaseVerdict& c : cases) names.push_back(c.result.name);
  const compare::ComparisonSide kept = run(names);
  const Comparisons comparisons = compared(kept, cases, environment, tau);
  for (CaseVerdict& c : cases) {
    const auto found = comparisons.find(c.result.key);
    const bool has_base = found != comparisons.end() && found->second.base.time;
    if (found != comparisons.end() && !c.value) screen_failure(c, found->second);
    if (!c.value) continue;
    if (!has_base) {
      if (c.result.is_expected) result.lacking.push_back(c.result.name);
      continue;
    }
    ++result.cases;
    const auto usual = std::ranges::find(kept.cases, c.result.key, &results::MeasuredCase::key);
    if (screen_case(c, *usual, found->second)) result.differing.push_back(c.result.name);
  }
  return result;
}

}  // namespace tbench::gate
