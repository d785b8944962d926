#include "tbench/profile/step_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "profile/device_time.hpp"
#include "profile/steps/per_step.hpp"
#include "tbench/profile/profile.hpp"

namespace tbench::profile {
namespace {

/// The operations of one step, with the calls and names of the whole trace.
struct StepOperations {
  std::vector<Operation> operations;
  std::vector<Index> launched_by;
  std::int64_t first_start_ns{INT64_MAX};
  std::int64_t last_end_ns{INT64_MIN};

  void add(const Operation& operation, Index launch) {
    operations.push_back(operation);
    launched_by.push_back(launch);
    first_start_ns = std::min(first_start_ns, operation.start_ns);
    last_end_ns = std::max(last_end_ns, operation.end_ns);
  }
};

KernelClass class_of(const Operation& operation, const std::string& name, KernelClassifier& classify) {
  switch (operation.kind) {
    case OperationKind::kMemcpy:
      return KernelClass::kMemcpy;
    case OperationKind::kMemset:
      return KernelClass::kMemset;
    case OperationKind::kGraph:
      return KernelClass::kOther;
    case OperationKind::kKernel:
      break;
  }
  return classify(name);
}

/// Sums of the kernels' durations, by phase and name.
class KernelSums {
 public:
  KernelSums(const Trace& trace, const KernelRules& rules, std::span<const std::string_view> phases)
      : trace_{trace}, classify_{rules}, phases_{phases} {}

  void add(const Operation& operation, std::size_t phase) {
    auto& [kernel_class, durations] = sums_[{phase, operation.name}];
    if (durations.count() == 0) kernel_class = class_of(operation, trace_.names[operation.name], classify_);
    durations.add(operation.end_ns - operation.start_ns);
  }

  [[nodiscard]] std::vector<TracedKernel> take(const PerStep& per_step) const {
    std::vector<TracedKernel> kernels;
    for (const auto& [key, sum] : sums_) {
      const Durations& durations = sum.durations;
      kernels.push_back({.phase = std::string{phases_[key.first]},
                         .kernel_class = std::string{to_string(sum.kernel_class)},
                         .name = trace_.names[key.second],
                         .calls = per_step.count(durations.count()),
                         .total = per_step.time(durations.total_ns()),
                         .min = seconds_of(durations.min_ns()),
                         .max = seconds_of(durations.max_ns()),
                         .standard_deviation = {}});
      if (durations.count() < 2) continue;
      kernels.back().standard_deviation = seconds_of(durations.std_ns());
    }
    const auto order_of = [&](const TracedKernel& kernel) { return std::ranges::find(phases_, kernel.phase); };
    std::ranges::stable_sort(kernels, [&](const TracedKernel& a, const TracedKernel& b) {
      return std::pair{order_of(a), -a.total.value} < std::pair{order_of(b), -b.total.value};
    });
    return kernels;
  }

 private:
  struct Sum {
    KernelClass kernel_class{};
    Durations durations;
  };

  const Trace& trace_;
  KernelClassifier classify_;
  std::span<const std::string_view> phases_;
  std::map<std::pair<std::size_t, Index>, Sum> sums_;
};

/// Adds a device's times in two windows. The longest gap is the longer of the two.
DeviceTime sum(const DeviceTime& a, const DeviceTime& b) {
  DeviceTime both = a;
  both.span_ns += b.span_ns;
  both.busy_ns += b.busy_ns;
  both.gaps.host_ns += b.gaps.host_ns;
  both.gaps.device_ns += b.gaps.device_ns;
  both.gaps.other_ns += b.gaps.other_ns;
  both.gaps.longest_ns = std::max(a.gaps.longest_ns, b.gaps.longest_ns);
  both.launches += b.launches;
  return both;
}

/// Returns the device's time from `begin_ns` to the end of the part's last operation.
/// @param scratch  has the calls of the trace
DeviceTime time_of(Trace& scratch, const StepOperations& part, std::int64_t begin_ns) {
  if (part.operations.empty()) return {};
  scratch.operations = part.operations;
  const Operation& first = part.operations.front();
  return device_time(scratch, part.launched_by, first.process, first.device, {begin_ns, part.last_end_ns});
}

/// Returns the device's time of consecutive steps as one window, which begins at the end of the first step. The first
/// step itself does not count.
DeviceTime chained_time(Trace& scratch, const std::vector<StepOperations>& steps) {
  StepOperations counted;
  for (const StepOperations& step : std::span{steps}.subspan(1)) {
    for (std::size_t i = 0; i < step.operations.size(); ++i) counted.add(step.operations[i], step.launched_by[i]);
  }
  const StepOperations& first = steps.front();
  const std::int64_t first_end_ns = first.operations.empty() ? counted.first_start_ns : first.last_end_ns;
  return time_of(scratch, counted, std::min(first_end_ns, counted.first_start_ns));
}

DeviceTime burst_time(Trace& scratch, const std::vector<StepOperations>& steps) {
  DeviceTime total;
  for (const StepOperations& step : std::span{steps}.subspan(1)) {
    total = sum(total, time_of(scratch, step, step.first_start_ns));
  }
  return total;
}

std::int64_t union_of(std::span<const Interval> intervals) {
  BusyTime busy;
  for (const Interval& interval : intervals) busy.add(interval.start_ns, interval.end_ns);
  return busy.total_ns();
}

}  // namespace

StepTrace summarise_steps(const Trace& trace, const KernelRules& rules, std::span<const EnqueuedStep> steps,
                          std::span<const std::string_view> phases, Regime regime) {
  check_steps(steps, phases.size());
  const std::vector<Index> launched_by = launching_calls(trace);
  std::vector<StepOperations> parts(steps.size());
  KernelSums kernels{trace, rules, phases};
  StepTrace summary;
  summary.steps = static_cast<std::int64_t>(steps.size()) - 1;
  for (std::size_t i = 0; i < trace.operations.size(); ++i) {
    if (launched_by[i] == kNone) ++summary.without_launch;
    if (launched_by[i] == kNone) continue;
    const std::optional<StepPlace> place = place_of(trace.calls[launched_by[i]].start_ns, steps);
    if (!place) continue;
    parts[place->step].add(trace.operations[i], launched_by[i]);
    if (place->step > 0) kernels.add(trace.operations[i], place->phase);
  }
  Trace scratch;
  scratch.calls = trace.calls;
  const DeviceTime time = regime == Regime::kBurst ? burst_time(scratch, parts) : chained_time(scratch, parts);
  const PerStep per_step{summary.steps};
  summary.span = per_step.time(time.span_ns);
  summary.device = per_step.time(time.busy_ns);
  summary.host_gaps = per_step.time(time.gaps.host_ns);
  summary.device_gaps = per_step.time(time.gaps.device_ns);
  summary.other_gaps = per_step.time(time.gaps.other_ns);
  summary.longest_gap = seconds_of(time.gaps.longest_ns);
  summary.launches = per_step.count(time.launches);
  summary.kernels = kernels.take(per_step);
  return summary;
}

Exposure exposure_of(std::span<const Interval> intervals, std::span<const Interval> others) {
  std::vector<Interval> all;
  all.reserve(intervals.size() + others.size());
  std::ranges::merge(intervals, others, std::back_inserter(all), {}, &Interval::start_ns, &Interval::start_ns);
  // The exposed time is the union of all intervals less the union of the others.
  return {.total_ns = union_of(intervals), .exposed_ns = union_of(all) - union_of(others)};
}

std::optional<Exposure> communication_of(const Trace& trace, const KernelRules& rules) {
  KernelClassifier classify{rules};
  std::vector<Interval> collective;
  std::vector<Interval> others;
  for (const Operation& operation : trace.operations) {
    const bool is_collective =
        operation.kind == OperationKind::kKernel && classify(trace.names[operation.name]) == KernelClass::kCollective;
    (is_collective ? collective : others).push_back({.start_ns = operation.start_ns, .end_ns = operation.end_ns});
  }
  if (collective.empty()) return std::nullopt;
  return exposure_of(collective, others);
}

}  // namespace tbench::profile
