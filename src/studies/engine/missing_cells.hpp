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
  /// other; empty: all of the study's. Together they select all that are missing.
  std::vector<std::string> filters;
  std::map<std::string, std::size_t> filter_of;  // by case name: index into `filters`
};

/// @param all      the study's cases
/// @param missing  those of them that were not measured
[[nodiscard]] MissingCells missing_cells(std::span<const CaseId> all, std::span<const CaseId> missing);

}  // namespace tbench::studies
