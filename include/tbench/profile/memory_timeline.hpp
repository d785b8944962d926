// The memory that each range holds over a step, from the events in memory.csv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Reads the rows of memory.csv.
/// @param text  as memory_csv writes it
/// @param name  name of the file, for the error
/// @throws      UsageError  naming the file, the line, the problem and the remedy
[[nodiscard]] std::vector<MemoryRow> read_memory_csv(std::string_view text, const std::string& name);

/// The bytes that one range holds after each of the timeline's points.
struct MemoryBand {
  std::string range;  // `FORWARD/layer.*/ffn`; or `before the step`, `(no range)`, `others`
  std::vector<std::int64_t> bytes;
};

/// The point at which a phase begins.
struct MemoryPhase {
  std::string name;
  std::size_t point{};
};

struct MemoryTimeline {
  std::int64_t step{};
  std::vector<std::size_t> events;  // one per point: the event's number in the step, from 1
  std::vector<MemoryBand> bands;    // never negative; they add up to the bytes that the allocator counted
  std::vector<MemoryPhase> phases;  // in the order in which they begin
  std::size_t peak{};               // the point with the most bytes
};

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
