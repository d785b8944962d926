// A profile on the disk: its trace, its tables, its flame graph and the allocations of its steps in one folder.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tbench/core/allocation_log.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace_file.hpp"

namespace tbench::profile {

/// Makes the folder and writes, each as a whole: trace.json.gz (trace_file.hpp), kernels.csv, ranges.csv and api.csv
/// (the tables of profile_page.hpp with every row, kernels with their whole names), folded.txt (for flame graphs: the
/// GPU's nanoseconds by ranges, class and kernel) and summary.json (profile_json). Replaces an earlier profile's files.
/// @param profile  of `trace`
/// @throws         UsageError  naming the folder or file, the problem and the remedy: it cannot be made or written, has
///                             a file of such a name that is of no earlier profile, or pack_trace refuses the trace
void write_profile_files(const std::string& folder, const Trace& trace, const TraceFacts& facts,
                         const Profile& profile);

inline constexpr const char* kMemoryCsvName = "memory.csv";
inline constexpr const char* kMemoryPickleName = "memory.pickle";

/// A row an event: step and phase in which it was, range, address, bytes (below 0: freed), bytes in live blocks behind
/// it.
/// @param steps   where they lie in the log, in order
/// @param phases  their names
[[nodiscard]] std::string memory_csv(const AllocationLog& log, std::span<const LoggedStep> steps,
                                     std::span<const std::string_view> phases);

/// Returns the file that https://pytorch.org/memory_viz and torch.cuda._memory_viz open: the events of device 0 in
/// order, and a segment for each block of the log that is live at its end and for all that was before. Ranges stand
/// where PyTorch has the frames of a stack. An event's time is its number: the log has none.
[[nodiscard]] std::string memory_pickle(const AllocationLog& log);

/// Writes both into a folder that is there.
/// @throws  UsageError  naming the file and the problem
void write_memory_files(const std::string& folder, const AllocationLog& log, std::span<const LoggedStep> steps,
                        std::span<const std::string_view> phases);

}  // namespace tbench::profile
