// Finds the call that launched each operation, and computes when a device worked, when it waited, and what it waited
// for.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// Returns for each operation of the trace the index of the call that launched it, or kNone if there is none. Among the
/// calls with the operation's process and correlation, the first to begin counts, which is the outermost. Operations of
/// one replay of a CUDA graph share a call.
[[nodiscard]] std::vector<Index> launching_calls(const Trace& trace);

/// Computes the length of the union of intervals, which must be added in the order of their starts.
class BusyTime {
 public:
  void add(std::int64_t start_ns, std::int64_t end_ns);
  [[nodiscard]] std::int64_t total_ns() const { return total_ns_; }

 private:
  std::int64_t covered_until_ns_{INT64_MIN};
  std::int64_t total_ns_{};
};

/// Adds the time from the end of a device's earlier work to the start of its next operation, if there is any.
/// @param next_launch  call that launched the operation; null if it is unknown or if no operation follows
void add_gap(Gaps& gaps, std::int64_t from_ns, std::int64_t to_ns, const ApiCall* next_launch);

/// A part of the trace's time.
struct Window {
  std::int64_t begin_ns{};
  std::int64_t end_ns{};
};

/// Computes device times in many windows of one trace, with the operations sorted by device once.
class DeviceOperations {
 public:
  using Device = std::pair<std::uint16_t, std::uint16_t>;  // process, number

  /// @param trace  must outlive this
  explicit DeviceOperations(const Trace& trace);
  /// Returns the same as device_time.
  [[nodiscard]] DeviceTime time(std::span<const Index> launched_by, const Device& device, Window window) const;
  /// Returns the same as device_times.
  [[nodiscard]] std::vector<DeviceTime> times(std::span<const Index> launched_by) const;

 private:
  const Trace& trace_;
  std::map<Device, std::vector<Index>> by_device_;  // indexes of the operations, in order
};

/// Returns the time of a device in a window. Operations that begin in the window count, up to the end of the window.
/// @param launched_by      launching_calls(trace)
/// @param process, device  the device whose operations count
[[nodiscard]] DeviceTime device_time(const Trace& trace, std::span<const Index> launched_by, std::uint16_t process,
                                     std::uint16_t device, Window window);

/// Returns the time of every device with operations, from the start of its first operation to the end of its last one.
/// The devices are ordered by process and number.
/// @param launched_by  launching_calls(trace)
[[nodiscard]] std::vector<DeviceTime> device_times(const Trace& trace, std::span<const Index> launched_by);

}  // namespace tbench::profile
