// A profile on the disk: its trace, its tables and its flame graph in one folder.
#pragma once

#include <string>

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

}  // namespace tbench::profile
