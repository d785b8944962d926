// Every allocation of a few steps, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbench {

/// A block of an allocator that was given out or taken back.
struct AllocationEvent {
  std::uint64_t address{};
  std::int64_t bytes{};      // of the block; below 0: it was freed
  std::int64_t allocated{};  // bytes in live blocks behind the event, as the allocator counts them
  std::size_t range{};       // index of AllocationLog::ranges
  std::size_t operation{};   // index of AllocationLog::operations, where the log has them
  bool operator==(const AllocationEvent&) const = default;
};

struct AllocationLog {
  std::int64_t allocated_before{};
  std::vector<AllocationEvent> events;
  /// Names of the ranges that were open, the outermost first, one `/` apart; empty outside of any range.
  std::vector<std::string> ranges;
  /// The operators of LibTorch that allocated, `aten::mm`: the innermost one that does more than allocate; empty
  /// outside of every operator. May be empty.
  std::vector<std::string> operations{};
};

/// Returns the indexes, in order, of the events that allocate what is live behind the first `count` events of the log.
[[nodiscard]] std::vector<std::size_t> live_behind(const AllocationLog& log, std::size_t count);

/// The place of a step and of its phases in a log.
struct LoggedStep {
  std::size_t begin{};                  // events before it
  std::vector<std::size_t> phase_ends;  // events before the end of each
};

/// A tensor that a case holds at some moment: a storage and its use.
struct LiveTensor {
  std::uint64_t address{};        // of the storage; 0: several blocks, or a part of one, held since before the log
  std::int64_t bytes{};           // that it asked for
  std::string_view memory_class;  // a key of MemoryUse::split, of static storage
};

/// The tensors that a case holds behind some event of a log. A storage counts for the first of its tensors.
struct LiveTensors {
  std::size_t event{};  // events before
  std::vector<LiveTensor> tensors;
};

}  // namespace tbench
