#include "gate/confirmation_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/stats/descriptive.hpp"
#include "tbench/stats/robust.hpp"

namespace tbench::gate {
namespace {

constexpr std::size_t kMinBlocks = 3;

void collect(const std::vector<compare::ComparisonSide>& runs, const std::string& key, Processes& found) {
  for (const compare::ComparisonSide& run : runs) {
    for (const results::MeasuredCase& c : run.cases) {
      if (c.key != key) continue;
      for (const results::Replicate& replicate : c.replicates) found.push_back(&replicate);
    }
  }
}

/// Returns a measure of a step from a process, or nullopt if the process does not have it.
using Measure = std::optional<double> (*)(const results::Replicate&);

std::optional<double> time_of(const results::Replicate& r) {
  return r.time ? std::optional{r.time->value} : std::nullopt;
}
std::optional<double> cycles_of(const results::Replicate& r) {
  return r.time && r.sm_clock ? std::optional{r.time->value * r.sm_clock->value} : std::nullopt;
}
std::optional<double> device_time_of(const results::Replicate& r) {
  return r.device_time ? std::optional{r.device_time->value} : std::nullopt;
}

/// Returns the mean of the measure's logarithm over the processes that are `ok`.
std::optional<double> mean_of(const Processes& processes, Measure measure) {
  std::vector<double> values;
  for (const results::Replicate* r : processes) {
    const std::optional<double> value = r->status == Status::kOk ? measure(*r) : std::nullopt;
    if (value) values.push_back(std::log(*value));
  }
  return values.empty() ? std::nullopt : std::optional{stats::mean(values)};
}

}  // namespace

Evidence evidence_of(CaseVerdict& judged, const std::vector<ConfirmationBlock>& blocks) {
  Evidence evidence{
      .judged = &judged, .base = {}, .next = {}, .differences = {}, .in_cycles = {}, .of_device = {}, .test = {}};
  const std::string& key = judged.result.key;
  for (const ConfirmationBlock& block : blocks) {
    Processes base;
    Processes next;
    collect(block.base, key, base);
    collect(block.next, key, next);
    const auto add_difference = [&](Measure measure, std::vector<double>& differences) {
      const std::optional<double> of_base = mean_of(base, measure);
      const std::optional<double> of_next = mean_of(next, measure);
      if (of_base && of_next) differences.push_back(*of_next - *of_base);
    };
    add_difference(time_of, evidence.differences);
    Processes both = base;
    both.insert(both.end(), next.begin(), next.end());
    if (compare::clocks_are_comparable(both)) add_difference(cycles_of, evidence.in_cycles);
    add_difference(device_time_of, evidence.of_device);
    std::ranges::move(base, std::back_inserter(evidence.base));
    std::ranges::move(next, std::back_inserter(evidence.next));
  }
  if (evidence.differences.size() >= kMinBlocks) evidence.test = stats::paired_t_test(evidence.differences);
  return evidence;
}

}  // namespace tbench::gate
