#include "measure/sampler/memory_pass.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "tbench/core/text.hpp"

namespace tbench::measure {
namespace {

constexpr std::size_t kSteps = 2;
constexpr std::size_t kLargest = 10;

/// Says where in the log each step and phase ends, and passes the marks on.
class LogMarker final : public PhaseMarker {
 public:
  explicit LogMarker(const MemoryProbe& probe) : probe_{probe} {}

  void launch(Case& subject, PhaseMarker& marker) {
    marker_ = &marker;
    steps_.push_back({.begin = probe_.logged_events(), .phase_ends = {}});
    subject.launch(*this);
  }
  void mark() override {
    marker_->mark();
    steps_.back().phase_ends.push_back(probe_.logged_events());
  }
  [[nodiscard]] const std::vector<LoggedStep>& steps() const { return steps_; }

 private:
  const MemoryProbe& probe_;
  PhaseMarker* marker_{};
  std::vector<LoggedStep> steps_;
};

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

/// Of the events that allocate what is live behind the first `count` of them, in the order of the log.
std::vector<std::size_t> live_behind(const AllocationLog& log, std::size_t count) {
  std::unordered_map<std::uint64_t, std::size_t> live;  // by address
  for (std::size_t i = 0; i < count; ++i) {
    const AllocationEvent& event = log.events[i];
    if (event.bytes < 0) live.erase(event.address);
    if (event.bytes >= 0) live[event.address] = i;
  }
  std::vector<std::size_t> indexes;
  for (const auto& [address, index] : live) indexes.push_back(index);
  std::ranges::sort(indexes);
  return indexes;
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
  probe.release_cached();
  probe.reset_peaks();
  LogMarker marker{probe};
  const Step step = [&](PhaseMarker& timed) { marker.launch(subject, timed); };
  probe.start_log();
  AllocationLog log;
  try {
    static_cast<void>(timer.time_steps(kSteps, step, {}));
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
  add_log(use, log, marker.steps(), subject.phases(), peak);
  if (peak.allocated != peaks.allocated) use.unlogged = peaks.allocated - peak.allocated;
  peak.allocated = peaks.allocated;
  use.split = subject.memory_split(peak);
  if (sink) sink(log, marker.steps());
  return use;
}

}  // namespace tbench::measure
