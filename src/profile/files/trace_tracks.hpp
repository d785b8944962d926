// Where the events of a trace are drawn. A viewer shows the events of a track as a stack, and drops one that begins
// inside of another and ends outside of it.
#pragma once

#include <cstdint>
#include <vector>

#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// A range or a call.
struct HostEvent {
  std::int64_t start_ns{};
  std::int64_t end_ns{};
  Index index{};  // in Trace::ranges or Trace::calls
  Index thread{};
  std::uint32_t lane{};  // of its thread, counted from 0
  bool is_call{};
};

/// In the order of their starts; of those that start together what ends last first, a range before a call. The events
/// of one lane nest.
[[nodiscard]] std::vector<HostEvent> host_events(const Trace& trace);

/// Of each operation the lane of its stream, counted from 0: those of one lane do not overlap. Kernels of one stream do
/// where one was launched to begin before the one before it has ended (programmatic dependent launch).
[[nodiscard]] std::vector<std::uint32_t> operation_lanes(const Trace& trace);

}  // namespace tbench::profile
