#include "measure/sampler/memory_pass.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "measure/sampler/step_marks.hpp"
#include "tbench/core/text.hpp"

namespace tbench::measure {
namespace {

constexpr std::size_t kSteps = 2;
constexpr std::size_t kLargest = 10;

/// Bytes in live blocks before event `index`.
std::int64_t allocated_before(const AllocationLog& log, std::size_t index) {
  return index == 0 ? log.allocated_before : log.events[index - 1].allocated;
}

std::vector<PhaseMemory> phases_of(const AllocationLog& log, const LoggedStep& step,
                                   std::span<const std::string_view> names) {
  std::vector<PhaseMemory> phases;
  std::size_t begin = step.begin;
  for (std::size_t i = 0; i < step.phase_ends.size(); ++i) {
    std::int64_t peak = allocated_before(log, begin);
    for (std::size_t event = begin; event < step.phase_ends[i]; ++event) {
      peak = std::max(peak, log.events[event].allocated);
    }
    begin = step.phase_ends[i];
    phases.push_back({.phase = std::string{names[i]}, .allocated_peak = peak, .held = allocated_before(log, begin)});
  }
  return phases;
}

/// `FORWARD/layer.3/ffn` as `FORWARD/layer.*/ffn`.
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

void add_log(MemoryUse& use, const AllocationLog& log, std::span<const LoggedStep> steps,
             std::span<const std::string_view> phases, MemoryPeak& peak) {
  peak.allocated = log.allocated_before;
  std::size_t at_peak = 0;  // events up to it
  for (std::size_t i = 0; i < log.events.size(); ++i) {
    if (log.events[i].allocated < peak.allocated) continue;
    peak.allocated = log.events[i].allocated;
    at_peak = i + 1;
  }
  const std::vector<std::size_t> live = live_behind(log, at_peak);
  const std::vector<std::size_t> left = live_behind(log, log.events.size());
  for (const std::size_t index : live) {
    if (std::ranges::binary_search(left, index)) peak.kept.push_back(log.events[index]);
  }
  use.peak_ranges = by_range(log, live);
  use.largest = largest_of(log, live);
  if (!steps.empty()) use.phases = phases_of(log, steps.back(), phases);
}

MemoryUse measure_memory(Case& subject, Timer& timer, MemoryProbe& probe, const MemoryLogSink& sink) {
  // A step that is replayed allocates nothing: the one that records it does, once.
  const std::size_t steps = subject.discard_recording() ? 1 : kSteps;
  probe.release_cached();
  probe.reset_peaks();
  auto marks = step_marks<LoggedStep>([&probe] { return probe.logged_events(); });
  const Step step = [&](PhaseMarker& timed) { marks.launch(subject, timed); };
  probe.start_log();
  AllocationLog log;
  try {
    static_cast<void>(timer.time_steps(steps, step, {}));
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
  MemoryPeak peak;
  add_log(use, log, marks.steps(), subject.phases(), peak);
  if (peak.allocated != peaks.allocated) use.unlogged = peaks.allocated - peak.allocated;
  peak.allocated = peaks.allocated;
  use.split = subject.memory_split(peak);
  if (sink) sink(log, marks.steps());
  return use;
}

}  // namespace tbench::measure
