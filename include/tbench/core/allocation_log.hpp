// Every allocation of a few steps, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tbench {

/// A block of an allocator that was given out or taken back.
struct AllocationEvent {
  std::uint64_t address{};
  std::int64_t bytes{};      // of the block; below 0: it was freed
  std::int64_t allocated{};  // bytes in live blocks behind the event, as the allocator counts them
  std::size_t range{};       // index of AllocationLog::ranges
  bool operator==(const AllocationEvent&) const = default;
};

struct AllocationLog {
  std::int64_t allocated_before{};
  std::vector<AllocationEvent> events;
  /// Names of the ranges that were open, the outermost first, one `/` apart; empty outside of any range.
  std::vector<std::string> ranges;
};

/// Of the events that allocate what is live behind the first `count` of the log, the indexes, in order.
[[nodiscard]] std::vector<std::size_t> live_behind(const AllocationLog& log, std::size_t count);

/// Where in a log a step and its phases lie.
struct LoggedStep {
  std::size_t begin{};                  // events before it
  std::vector<std::size_t> phase_ends;  // events before the end of each
};

/// What a case finds out about its memory from: the moment at which the allocator's bytes peaked.
struct MemoryPeak {
  std::int64_t allocated{};
  /// Blocks of the log that were live then, and still are: a gradient is one, an activation is none.
  std::vector<AllocationEvent> kept;
};

}  // namespace tbench
