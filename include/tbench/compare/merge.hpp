// Merges results files from the same machine model and the same build into the file that an undivided run would have
// written. The files are shards of a selection (--tb_shard), or parts chosen by --benchmark_filter.
#pragma once

#include <string>
#include <vector>

#include "tbench/results/result_file.hpp"

namespace tbench::compare {

struct Merged {
  results::ResultFile file;
  std::vector<std::string> notes;    // descriptions of the omitted data
  std::vector<std::string> missing;  // shards and cases that an undivided run would have; empty if the file is complete
};

/// Joins files, which are labelled by their paths.
///
/// Records: ceilings come first. The records of shards have the order of an undivided run. The records of other files
/// follow each other, file by file. With several processes (--tb_processes), each process has its records in its own
/// order. If several files measured a ceiling, the first file's record counts. Other records keep the ceiling of their
/// own machine.
///
/// Header: the header of the first shard or file, with the earliest date and without the options that tell the parts
/// apart, and the machines of all files (add_machines()). `interrupted` is set if something is missing.
///
/// @param parts  at least one file; the file of a killed run counts as `interrupted`
/// @throws  NotComparable  if machines (GPU, settings, memory, processor), versions, builds, clock policies or options
///                         differ; the message names the differences and the files
/// @throws  UsageError     if two files have the same run of a case, a shard is given twice, shards are mixed with
///                         other files or come from different divisions, or a shard has more cases than it can have
[[nodiscard]] Merged merge(std::vector<results::NamedResults> parts);

}  // namespace tbench::compare
