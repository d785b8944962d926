// Results files of one kind of machine and one build as the one file that an undivided run would have written: the
// shards of a selection (--tb_shard), or the parts of one that were chosen by --benchmark_filter; and whether files are
// of one kind.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tbench/results/result_file.hpp"

namespace tbench::fleet {

struct Merged {
  results::ResultFile file;
  std::vector<std::string> notes;    // what was left out of the file
  std::vector<std::string> missing;  // shards and cases that an undivided run would have; empty: it is whole
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
/// @throws  compare::NotComparable  for another machine (GPU, settings, memory, processor), other versions, another
///                                  build, clock policy or option: what differs and in which files
/// @throws  UsageError              for the same run of a case in two files, the same shard twice, shards beside files
///                                  that are none, shards by different durations, or one with more cases than it can
///                                  have
[[nodiscard]] Merged merge(std::vector<results::NamedResults> parts);

// kinds.cpp: what has to be the same in all files, and who differs.

/// Facts, besides the GPU specimen, that a machine's results depend on, by the name that a reader knows.
using Facts = std::map<std::string, std::string>;
[[nodiscard]] Facts machine_facts(const Environment& environment);

/// @throws  compare::NotComparable  unless machine, build and command line are the same in all: every difference, with
///                                  the files, and the remedy
void check_same_kind(std::span<const results::NamedResults> parts);

/// Returns the options of an undivided run: the options of the parts, without `shard`, `shard_places` and
/// `shared_cases`. Different filters become one that selects what they select together; different `durations` and
/// `context.KEY` become a list of all values.
/// @param parts  as check_same_kind leaves them
/// @throws       compare::NotComparable  for different filters of which one excludes
[[nodiscard]] std::map<std::string, std::string> joined_options(std::span<const results::NamedResults> parts);

/// `'a.json'`, `'a.json' and 2 more`.
[[nodiscard]] std::string listed(std::span<const std::string> labels);

}  // namespace tbench::fleet
