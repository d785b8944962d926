// The memory that each range holds over a step, from an allocator's log or from the events in memory.csv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/allocation_log.hpp"

namespace tbench::profile {

/// A row of memory.csv (profile_files.hpp).
struct MemoryRow {
  std::int64_t step{};  // from 1; 0 outside every step
  std::string phase;    // empty outside every phase
  std::string range;
  std::uint64_t address{};
  std::int64_t bytes{};      // size of the block; negative if it was freed
  std::int64_t allocated{};  // bytes in live blocks after the event
};

/// Returns the rows of a log.
/// @param steps   in order, each with an end for each of `phases`
[[nodiscard]] std::vector<MemoryRow> memory_rows(const AllocationLog& log, std::span<const LoggedStep> steps,
                                                 std::span<const std::string_view> phases);

/// Reads the rows of memory.csv.
/// @param text  as memory_csv writes it
/// @param name  name of the file, for the error
/// @throws      UsageError  naming the file, the line, the problem and the remedy
[[nodiscard]] std::vector<MemoryRow> read_memory_csv(std::string_view text, const std::string& name);

struct TimelineOptions {
  /// At least 1. More events are divided into this many groups, and the event with the most bytes represents its group.
  std::size_t max_points{600};
  /// At least 3: `before the step`, the ranges with the most bytes at any point, and `others`.
  std::size_t max_bands{9};
};

/// Returns the timeline of the log's last step, whose memory is like the memory of all later steps. A block counts for
/// the range that allocated it. Ranges with numbered labels (`layer.0`, `layer.1`) count as one. The first band has the
/// blocks that existed before the step. Returns nullopt if no row belongs to a phase of a step.
[[nodiscard]] std::optional<MemoryTimeline> memory_timeline(std::span<const MemoryRow> rows,
                                                            const TimelineOptions& options = {});

}  // namespace tbench::profile
