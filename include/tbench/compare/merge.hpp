// Merges results files of one machine model and one build into the file that an undivided run would have written. The
// files are shards of a selection (--tb_shard), or parts chosen by --benchmark_filter.
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

/// Joins files, labelled by their paths.
///
/// Records: shards come in the order in which an undivided run has their cases; other files follow each other, in
/// processes (--tb_processes) each in that process's order. Ceilings come first, as always. A ceiling that several
/// files measured is taken from the first of them. Other records keep the ceiling of their own machine.
///
/// Header: the first shard's or file's one, with the earliest date; the GPU's UUID where all are of one GPU, else the
/// option `merged_gpus`. Without the options that tell the parts apart; `interrupted` where something is missing.
///
/// @param parts  at least one; one that was killed counts as `interrupted`
/// @throws  NotComparable  for another machine (GPU, settings, memory, processor), other versions, another build, clock
///                         policy or option: what differs and in which files
/// @throws  UsageError     for the same run of a case in two files, the same shard twice, shards beside files that are
///                         none, shards by different durations, or one with more cases than it can have
[[nodiscard]] Merged merge(std::vector<results::NamedResults> parts);

}  // namespace tbench::compare
