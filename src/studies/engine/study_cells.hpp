// Finds the cases of a study's tables, their measurements, and the commands that measure the missing cases.
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

struct StudyCells {
  std::vector<CaseId> unfiltered;  // all cases that `flags` select, in the study's order
  std::vector<CaseId> cases;       // the cases that pass the options' filter
  std::vector<CaseId> missing;     // the subset of `cases` without a record
  /// The records of each case in `unfiltered` and Study::beside, by name. They belong to the results, which must
  /// outlive this.
  std::map<std::string, std::vector<const Record*>> measured;
  std::map<const Record*, std::string> gpus;  // for each record, the UUID of its GPU; empty if it ran on a CPU
  std::size_t untraced{};  // number of cases in `missing` that have a time but lack the trace that the study needs
  std::vector<ModelSize> sizes;  // the built-in sizes, and the sizes from the files' command lines
  std::string flags;             // flags of transformer_bench, without a filter: `--tb_study=NAME --tb_axis=...`
};

/// Finds the cases of a study and their records. The result has no case if the options' filter selects none.
/// @throws  UsageError  as study_report(), except for a filter that selects no case
[[nodiscard]] StudyCells study_cells(const Study& study, std::span<const results::NamedResults> results,
                                     const StudyOptions& options);

/// The filters that select exactly the missing cases of a study.
struct MissingCells {
  /// Regular expressions for --benchmark_filter. Each selects some of the missing cases, and no other case that a run
  /// with the same number of ranks has. An empty filter selects all cases of such a run. Together, the filters select
  /// all missing cases.
  std::vector<std::string> filters;
  /// For each filter, the key `gpus` of its cases, which is the number of ranks of the run. Empty for cases without the
  /// key.
  std::vector<std::string> gpus;
  /// For each filter, ` --tb_packages=DIR` if cases of it need the packages of `impl:compiled`, or else an empty text.
  std::vector<std::string> packages;
  std::map<std::string, std::size_t> filter_of;  // by case name, the index in `filters`
  /// For each filter, the cases that it selects: `Model size:2.7B precision:fp32 (24 cases)`. The keys are those that
  /// distinguish the cases from the others.
  std::vector<std::string> texts;
};

/// Returns the filters of the missing cases.
/// @param all      the study's cases
/// @param missing  the cases that were not measured
[[nodiscard]] MissingCells missing_cells(std::span<const CaseId> all, std::span<const CaseId> missing);

}  // namespace tbench::studies
