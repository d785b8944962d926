// Writes a profile to one folder: its trace, its tables, its flame graph and the allocations of its steps.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tbench/core/allocation_log.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace_file.hpp"

namespace tbench::profile {

/// Creates the folder and writes these files, each atomically, replacing the files of an earlier profile:
/// - trace.json.gz: the trace (trace_file.hpp)
/// - kernels.csv, ranges.csv, api.csv: the tables of profile_page.hpp with all rows and the full names of kernels
/// - folded.txt: the GPU's nanoseconds by ranges, class and kernel, for flame graphs
/// - summary.json: the result of profile_json
/// @param profile  profile of `trace`
/// @throws         UsageError  naming the folder or file, the problem and the remedy, if the folder or a file cannot be
///                             written, if a file of such a name is not from an earlier profile, or if pack_trace
///                             refuses the trace
void write_profile_files(const std::string& folder, const Trace& trace, const TraceFacts& facts,
                         const Profile& profile);

inline constexpr const char* kMemoryCsvName = "memory.csv";
inline constexpr const char* kMemoryPickleName = "memory.pickle";

/// Returns a CSV with a row per event: its step, phase and range, the address, the bytes (negative if freed), and the
/// bytes in live blocks after the event.
/// @param steps   the positions of the steps in the log, in order
/// @param phases  names of the phases
[[nodiscard]] std::string memory_csv(const AllocationLog& log, std::span<const LoggedStep> steps,
                                     std::span<const std::string_view> phases);

/// Returns a file that https://pytorch.org/memory_viz and torch.cuda._memory_viz can open. It has the events of device
/// 0 in order, a segment for each block that is live at the end of the log, and a segment for all memory allocated
/// before the log. Ranges take the place of PyTorch's stack frames. An event's time is its number, because the log has
/// no times.
[[nodiscard]] std::string memory_pickle(const AllocationLog& log);

/// Writes memory.csv and memory.pickle to an existing folder.
/// @throws  UsageError  naming the file and the problem
void write_memory_files(const std::string& folder, const AllocationLog& log, std::span<const LoggedStep> steps,
                        std::span<const std::string_view> phases);

}  // namespace tbench::profile
