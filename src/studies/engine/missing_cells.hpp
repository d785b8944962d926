// How to measure exactly the cells of a study that no file has.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"

namespace tbench::studies {

struct MissingCells {
  /// Regular expressions for --benchmark_filter, each of which selects some of the missing cases of the study and no
  /// other of those that a run with so many ranks has; empty: all of these. Together they select all that are missing.
  std::vector<std::string> filters;
  /// One a filter: the key `gpus` of its cases, which is the number of ranks of the run; empty: cases without the key.
  std::vector<std::string> gpus;
  std::map<std::string, std::size_t> filter_of;  // by case name: index into `filters`
};

/// @param all      the study's cases
/// @param missing  those of them that were not measured
[[nodiscard]] MissingCells missing_cells(std::span<const CaseId> all, std::span<const CaseId> missing);

}  // namespace tbench::studies
