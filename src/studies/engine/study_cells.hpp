// Which cases a study's table is about, given the files, and what was measured of them.
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
  std::vector<CaseId> unfiltered;  // what `flags` select, in the study's order
  std::vector<CaseId> cases;       // those of them that pass the options' filter
  std::vector<CaseId> missing;     // those of `cases` without a record
  std::map<std::string, std::vector<const Record*>>
      measured;                  // of `unfiltered` and Study::beside, by name; of the results, which outlive this
  std::size_t untraced{};        // of `missing`, those with a time and without the trace that the study needs
  std::vector<ModelSize> sizes;  // built-in, and of the files' command lines
  std::string flags;             // of transformer_bench, without a filter: `--tb_study=NAME --tb_axis=...`
};

/// @throws  as study_report
[[nodiscard]] StudyCells study_cells(const Study& study, std::span<const results::NamedResults> results,
                                     const StudyOptions& options);

}  // namespace tbench::studies
