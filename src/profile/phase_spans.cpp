// Determines when the devices worked on each phase.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "profile/device_time.hpp"
#include "profile/ranges.hpp"

namespace tbench::profile {
namespace {

using Device = DeviceOperations::Device;

/// The time from the first to the last operation of one range of a phase, on one device.
struct PhaseWindow {
  Window window{};
  Index outermost{};  // Phases::outermost_around
};

/// The operations of phases on one device.
struct PhaseOperations {
  std::vector<std::pair<std::int64_t, std::size_t>> starts;  // start time and phase of each operation, in order
  std::map<std::size_t, std::vector<PhaseWindow>> windows;   // by phase

  [[nodiscard]] bool has_other_phase(std::size_t phase, std::int64_t from_ns, std::int64_t to_ns) const {
    const auto first = std::ranges::lower_bound(starts, from_ns, {}, [](const auto& start) { return start.first; });
    const auto last = std::ranges::lower_bound(starts, to_ns, {}, [](const auto& start) { return start.first; });
    return std::any_of(first, std::max(first, last), [&](const auto& start) { return start.second != phase; });
  }
};

std::map<Device, PhaseOperations> phase_operations(const Trace& trace, const RangeTree& tree, const Phases& phases,
                                                   std::span<const Index> launched_by) {
  std::map<Device, PhaseOperations> devices;
  std::map<std::pair<Device, Index>, Window> windows;
  for (std::size_t i = 0; i < trace.operations.size(); ++i) {
    const Operation& operation = trace.operations[i];
    const Index range = launched_by[i] == kNone ? kNone : phases.range_around(tree.range_of_call[launched_by[i]]);
    if (range == kNone) continue;
    const Device device{operation.process, operation.device};
    devices[device].starts.emplace_back(operation.start_ns, phases.phase_of(range));
    const auto [found, is_new] = windows.try_emplace({device, range}, Window{operation.start_ns, operation.end_ns});
    if (!is_new) found->second.end_ns = std::max(found->second.end_ns, operation.end_ns);
  }
  for (const auto& [key, window] : windows) {
    const auto& [device, range] = key;
    devices[device].windows[phases.phase_of(range)].push_back({window, phases.outermost_around(range)});
  }
  return devices;
}

/// Returns the union of the phase's windows, in order. Two windows inside the same outermost range of the phase are
/// joined, unless another phase works between them.
std::vector<Window> joined(const PhaseOperations& operations, std::size_t phase, std::vector<PhaseWindow> windows) {
  std::ranges::sort(windows, {}, [](const PhaseWindow& one) { return one.window.begin_ns; });
  std::vector<Window> joined;
  Index outermost = kNone;  // outermost range of the last window
  for (const PhaseWindow& next : windows) {
    const bool goes_on =
        !joined.empty() && (next.window.begin_ns <= joined.back().end_ns ||
                            (next.outermost == outermost &&
                             !operations.has_other_phase(phase, joined.back().end_ns, next.window.begin_ns)));
    if (goes_on) {
      joined.back().end_ns = std::max(joined.back().end_ns, next.window.end_ns);
    } else {
      joined.push_back(next.window);
    }
    outermost = next.outermost;
  }
  return joined;
}

}  // namespace

void add_phase_spans(const Trace& trace, const RangeTree& tree, const Phases& phases,
                     std::span<const Index> launched_by, std::vector<PhaseTime>& times) {
  const DeviceOperations all{trace};
  for (const auto& [device, operations] : phase_operations(trace, tree, phases, launched_by)) {
    for (const auto& [index, windows] : operations.windows) {
      PhaseTime& phase = times[index];
      for (const Window& window : joined(operations, index, windows)) {
        const DeviceTime time = all.time(launched_by, device, window);
        phase.span_ns += time.span_ns;
        phase.busy_ns += time.busy_ns;
        phase.gaps.add(time.gaps);
      }
    }
  }
}

}  // namespace tbench::profile
