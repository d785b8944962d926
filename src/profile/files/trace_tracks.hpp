// The constants that the writer and the reader of trace files share, and the assignment of events to lanes. A viewer
// shows the events of a track as a stack. It drops an event that begins inside another event and ends outside it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// A range or a call.
struct HostEvent {
  std::int64_t start_ns{};
  std::int64_t end_ns{};
  Index index{};  // in Trace::ranges or Trace::calls
  Index thread{};
  std::uint32_t lane{};  // lane of the thread, counted from 0
  bool is_call{};
};

/// Returns the ranges and calls with their lanes. The events of one lane nest. They are in the order of their starts;
/// for equal starts, the event that ends last comes first, and a range precedes a call.
[[nodiscard]] std::vector<HostEvent> host_events(const Trace& trace);

/// Returns the lane of each operation in its stream, counted from 0. Operations of one lane do not overlap. Kernels of
/// one stream overlap if a kernel may begin before the previous one has ended (programmatic dependent launch).
[[nodiscard]] std::vector<std::uint32_t> operation_lanes(const Trace& trace);

/// Version of the file format. It rises if a field changes its meaning or if a new field is required.
inline constexpr std::int64_t kTraceSchemaVersion = 1;
/// The key of this program's header, which precedes `traceEvents`: schema_version, base_ns, name (if known), steps,
/// gpus, names.
inline constexpr const char* kTraceHeader = "tbench";

/// The maximum length of a trace, 13 days. Up to this length, whole nanoseconds survive the conversion to microseconds
/// as a double.
inline constexpr std::int64_t kMaxTraceNs = std::int64_t{1} << 50;

// Categories of events: ranges, calls of the CUDA API, and operations by their kind.
inline constexpr std::string_view kRangeCategory = "range";
inline constexpr std::string_view kCallCategory = "api";
inline constexpr std::array<std::string_view, 4> kOperationCategories{"kernel", "memcpy", "memset", "graph"};

[[nodiscard]] constexpr std::string_view category_of(OperationKind kind) {
  return kOperationCategories[static_cast<std::size_t>(kind)];
}
static_assert(category_of(OperationKind::kGraph) == "graph");

}  // namespace tbench::profile
