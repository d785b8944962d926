// A trace file: what its writer and reader have in common, and where its events are drawn. A viewer shows the events of
// a track as a stack, and drops one that begins inside of another and ends outside of it.
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
  std::uint32_t lane{};  // of its thread, counted from 0
  bool is_call{};
};

/// The events of a lane in the order of their starts; among events that start together the one that ends last comes
/// first, a range before a call. The events of one lane nest.
[[nodiscard]] std::vector<HostEvent> host_events(const Trace& trace);

/// Returns for each operation the lane of its stream, counted from 0: operations of one lane do not overlap. Kernels of
/// one stream do where one was launched to begin before the previous one has ended (programmatic dependent launch).
[[nodiscard]] std::vector<std::uint32_t> operation_lanes(const Trace& trace);

/// Rises whenever a field changes its meaning, or one that is new must be there.
inline constexpr std::int64_t kTraceSchemaVersion = 1;
/// The key of what is ours: schema_version, base_ns, name where there is one, steps, gpus, names. It stands before
/// `traceEvents`.
inline constexpr const char* kTraceHeader = "tbench";

/// 13 days: whole nanoseconds up to here survive as the microseconds of a double.
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
