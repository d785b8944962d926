// The log of an allocator: every allocation and release during a few steps, in order; and what a log says of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbench {

/// One allocation or release of an allocator's block.
struct AllocationEvent {
  std::uint64_t address{};
  std::int64_t bytes{};      // size of the block; negative if it was freed
  std::int64_t allocated{};  // bytes in live blocks after the event, as the allocator counts them
  std::size_t range{};       // index into AllocationLog::ranges
  std::size_t operation{};   // index into AllocationLog::operations, if the log has operations
  bool operator==(const AllocationEvent&) const = default;
};

struct AllocationLog {
  std::int64_t allocated_before{};
  std::vector<AllocationEvent> events;
  /// Names of the open ranges, outermost first, separated by `/`. The name is empty outside of any range.
  std::vector<std::string> ranges;
  /// The LibTorch operators that allocated, such as `aten::mm`: each the innermost operator that does more than
  /// allocate. The name is empty outside of any operator. The list is empty if operators were not logged.
  std::vector<std::string> operations{};
};

/// Returns the indexes of the events, in order, that allocated the blocks live after the first `count` events of the
/// log.
[[nodiscard]] std::vector<std::size_t> live_behind(const AllocationLog& log, std::size_t count);

/// The positions of a step and of its phases in a log.
struct LoggedStep {
  std::size_t begin{};                  // number of events before the step
  std::vector<std::size_t> phase_ends;  // number of events before the end of each phase
};

/// A tensor that a case holds at some moment: its storage and its use.
struct LiveTensor {
  std::uint64_t address{};        // address of the storage; 0 for several blocks, or part of one, older than the log
  std::int64_t bytes{};           // bytes requested
  std::string_view memory_class;  // a key of MemoryUse::split, in static storage
};

/// The tensors that a case holds at some event of a log. A storage counts for the first of its tensors.
struct LiveTensors {
  std::size_t event{};  // number of events before this moment
  std::vector<LiveTensor> tensors;
};

/// The bytes that one range holds after each of the timeline's points.
struct MemoryBand {
  std::string range;  // `FORWARD/layer.*/ffn`; or `before the step`, `(no range)`, `others`
  std::vector<std::int64_t> bytes;
  bool operator==(const MemoryBand&) const = default;
};

/// The point at which a phase begins.
struct MemoryPhase {
  std::string name;
  std::size_t point{};
  bool operator==(const MemoryPhase&) const = default;
};

/// The bytes that each range holds over a step, at some of its events.
struct MemoryTimeline {
  std::int64_t step{};
  std::vector<std::size_t> events;  // one per point: the event's number in the step, from 1
  std::vector<MemoryBand> bands;    // never negative; they add up to the bytes that the allocator counted
  std::vector<MemoryPhase> phases;  // in the order in which they begin
  std::size_t peak{};               // the point with the most bytes
  bool operator==(const MemoryTimeline&) const = default;
};

}  // namespace tbench
