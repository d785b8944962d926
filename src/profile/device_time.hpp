// Which call launched which operation; when a device worked and when it waited, and for whom.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// For each operation of the trace the index of the call that launched it: the first to begin of those with its process
/// and correlation, which is the outermost; kNone if there is none. Operations of one replay of a CUDA graph share a
/// call.
[[nodiscard]] std::vector<Index> launching_calls(const Trace& trace);

/// Length of the union of intervals that come in the order of their starts.
class BusyTime {
 public:
  void add(std::int64_t start_ns, std::int64_t end_ns);
  [[nodiscard]] std::int64_t total_ns() const { return total_ns_; }

 private:
  std::int64_t covered_until_ns_{INT64_MIN};
  std::int64_t total_ns_{};
};

/// A part of the trace's time.
struct Window {
  std::int64_t begin_ns{};
  std::int64_t end_ns{};
};

/// The operations of each device, for the time of many windows.
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
  std::map<Device, std::vector<Index>> by_device_;  // in order
};

/// Returns the time of a device in a window: operations that begin in it count, until its end.
/// @param launched_by      launching_calls(trace)
/// @param process, device  whose operations count
[[nodiscard]] DeviceTime device_time(const Trace& trace, std::span<const Index> launched_by, std::uint16_t process,
                                     std::uint16_t device, Window window);

/// Every device that has operations, from its first one to its last one; by process and number.
/// @param launched_by  launching_calls(trace)
[[nodiscard]] std::vector<DeviceTime> device_times(const Trace& trace, std::span<const Index> launched_by);

}  // namespace tbench::profile
