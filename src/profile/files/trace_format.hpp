// What the writer and the reader of a trace file have in common.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tbench/profile/trace.hpp"

namespace tbench::profile {

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
