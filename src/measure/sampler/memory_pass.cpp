#include "measure/sampler/memory_pass.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "measure/sampler/memory_classes.hpp"
#include "measure/sampler/step_marks.hpp"
#include "tbench/core/text.hpp"

namespace tbench::measure {
namespace {

constexpr std::size_t kSteps = 2;
constexpr std::size_t kLargest = 10;

std::map<std::string, std::int64_t> without_zeros(std::map<std::string, std::int64_t> split) {
  std::erase_if(split, [](const auto& part) { return part.second == 0; });
  return split;
}

/// Returns the bytes in live blocks before event `index`.
std::int64_t allocated_before(const AllocationLog& log, std::size_t index) {
  return index == 0 ? log.allocated_before : log.events[index - 1].allocated;
}

std::vector<PhaseMemory> phases_of(const AllocationLog& log, const LoggedStep& step,
                                   std::span<const std::string_view> names, const MemoryClasses& classes) {
  std::vector<PhaseMemory> phases;
  std::size_t begin = step.begin;
  for (std::size_t i = 0; i < step.phase_ends.size(); ++i) {
    std::int64_t peak = allocated_before(log, begin);
    for (std::size_t event = begin; event < step.phase_ends[i]; ++event) {
      peak = std::max(peak, log.events[event].allocated);
    }
    begin = step.phase_ends[i];
    phases.push_back({.phase = std::string{names[i]},
                      .allocated_peak = peak,
                      .held = allocated_before(log, begin),
                      .held_split = without_zeros(classes.behind(begin))});
  }
  return phases;
}

/// Converts `FORWARD/layer.3/ffn` to `FORWARD/layer.*/ffn`.
std::string label_path(const std::string& names) {
  std::vector<std::string> labels = split(names, '/');
  for (std::string& label : labels) label = range_label(label);
  return join(labels, "/");
}

std::vector<RangeMemory> by_range(const AllocationLog& log, std::span<const std::size_t> live) {
  std::map<std::string, RangeMemory> sums;
  for (const std::size_t index : live) {
    const AllocationEvent& event = log.events[index];
    RangeMemory& sum = sums[label_path(log.ranges[event.range])];
    sum.bytes += event.bytes;
    ++sum.allocations;
  }
  std::vector<RangeMemory> ranges;
  for (auto& [path, sum] : sums) {
    sum.range = path;
    ranges.push_back(std::move(sum));
  }
  std::ranges::stable_sort(ranges, std::ranges::greater{}, &RangeMemory::bytes);
  return ranges;
}

std::vector<Allocation> largest_of(const AllocationLog& log, std::span<const std::size_t> live) {
  std::vector<Allocation> allocations;
  for (const std::size_t index : live) {
    const AllocationEvent& event = log.events[index];
    allocations.push_back({.range = log.ranges[event.range], .bytes = event.bytes});
  }
  std::ranges::stable_sort(allocations, std::ranges::greater{}, &Allocation::bytes);
  if (allocations.size() > kLargest) allocations.resize(kLargest);
  return allocations;
}

}  // namespace

std::int64_t add_log(MemoryUse& use, const AllocationLog& log, std::span<const LoggedStep> steps,
                     std::span<const std::string_view> phases, std::span<const LiveTensors> marks) {
  std::int64_t peak = log.allocated_before;
  std::size_t at_peak = 0;  // number of events up to the peak
  for (std::size_t i = 0; i < log.events.size(); ++i) {
    if (log.events[i].allocated < peak) continue;
    peak = log.events[i].allocated;
    at_peak = i + 1;
  }
  const std::vector<std::size_t> live = live_behind(log, at_peak);
  use.peak_ranges = by_range(log, live);
  use.largest = largest_of(log, live);
  const MemoryClasses classes{log, steps, phases, marks};
  use.split = without_zeros(classes.behind(at_peak));
  if (!steps.empty()) use.phases = phases_of(log, steps.back(), phases, classes);
  return peak;
}

MemoryUse measure_memory(Case& subject, Timer& timer, MemoryProbe& probe, const MemoryLogSink& sink) {
  // A replayed step allocates nothing; only the one step that records the graph does.
  const std::size_t steps = subject.discard_recording() ? 1 : kSteps;
  probe.release_cached();
  probe.reset_peaks();
  std::vector<LiveTensors> held;
  const auto look = [&] {
    held.push_back({.event = probe.logged_events(), .tensors = subject.live_tensors()});
    return held.back().event;
  };
  auto marks = step_marks<LoggedStep>(look);
  const Step step = [&](PhaseMarker& timed) { marks.launch(subject, timed); };
  probe.start_log();
  AllocationLog log;
  try {
    static_cast<void>(timer.time_steps(steps, step, {}));
    look();
    log = probe.stop_log();
  } catch (...) {
    static_cast<void>(probe.stop_log());
    throw;
  }
  const MemoryPeaks peaks = probe.peaks();
  MemoryUse use;
  use.allocated_peak = peaks.allocated;
  use.requested_peak = peaks.requested;
  use.reserved_peak = peaks.reserved;
  const std::int64_t logged_peak = add_log(use, log, marks.steps(), subject.phases(), held);
  if (logged_peak != peaks.allocated) {
    use.unlogged = peaks.allocated - logged_peak;
    if (!use.split.empty()) use.split["other"] += *use.unlogged;
  }
  if (sink) sink(log, marks.steps());
  return use;
}

}  // namespace tbench::measure
