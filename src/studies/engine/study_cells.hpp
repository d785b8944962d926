// Which cases a study's table is about, what was measured of them, and how to measure those that no file has.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

// Which cases a study's table is about, given the files, and what was measured of them.

struct StudyCells {
  std::vector<CaseId> unfiltered;  // what `flags` select, in the study's order
  std::vector<CaseId> cases;       // those of them that pass the options' filter
  std::vector<CaseId> missing;     // those of `cases` without a record
  std::map<std::string, std::vector<const Record*>>
      measured;  // of `unfiltered` and Study::beside, by name; of the results, which outlive this
  std::map<const Record*, std::string> gpus;  // UUID of the GPU that each of these ran on; empty: of a CPU
  std::size_t untraced{};        // of `missing`, those with a time and without the trace that the study needs
  std::vector<ModelSize> sizes;  // built-in, and of the files' command lines
  std::string flags;             // of transformer_bench, without a filter: `--tb_study=NAME --tb_axis=...`
};

/// @throws  as study_report
[[nodiscard]] StudyCells study_cells(const Study& study, std::span<const results::NamedResults> results,
                                     const StudyOptions& options);

// How to measure exactly the cells of a study that no file has.

struct MissingCells {
  /// Regular expressions for --benchmark_filter, each of which selects some of the missing cases of the study and no
  /// other of those that a run with that many ranks has; if empty, all of these. Together they select all that are
  /// missing.
  std::vector<std::string> filters;
  /// One a filter: the key `gpus` of its cases, which is the number of ranks of the run; empty: cases without the key.
  std::vector<std::string> gpus;
  std::map<std::string, std::size_t> filter_of;  // by case name: index into `filters`
};

/// @param all      the study's cases
/// @param missing  those of them that were not measured
[[nodiscard]] MissingCells missing_cells(std::span<const CaseId> all, std::span<const CaseId> missing);

}  // namespace tbench::studies
