// The allocations of a few steps on the disk.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tbench/core/allocation_log.hpp"

namespace tbench::profile {

inline constexpr const char* kMemoryCsvName = "memory.csv";
inline constexpr const char* kMemoryPickleName = "memory.pickle";

/// A row an event: step and phase in which it was, range, address, bytes (below 0: freed), bytes in live blocks behind
/// it.
/// @param steps   where they lie in the log, in order
/// @param phases  their names
[[nodiscard]] std::string memory_csv(const AllocationLog& log, std::span<const LoggedStep> steps,
                                     std::span<const std::string_view> phases);

/// What https://pytorch.org/memory_viz and torch.cuda._memory_viz open: the events of device 0 in order, and a segment
/// for each block of the log that is live at its end and for all that was before. Ranges stand where PyTorch has the
/// frames of a stack. An event's time is its number: the log has none.
[[nodiscard]] std::string memory_pickle(const AllocationLog& log);

/// Writes both into a folder that is there.
/// @throws  UsageError  naming the file and the problem
void write_memory_files(const std::string& folder, const AllocationLog& log, std::span<const LoggedStep> steps,
                        std::span<const std::string_view> phases);

}  // namespace tbench::profile
