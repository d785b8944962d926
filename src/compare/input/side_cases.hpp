// The cases of a side: cases with the same key become one case, and repetitions inside one process become one
// replicate.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tbench/compare/sides.hpp"
#include "tbench/results/measured_case.hpp"

namespace tbench::compare {

/// Adds the cases of a file. Cases with the same key become one case with all replicates.
/// @param index  the indexes of the side's cases, by key
void add_cases(ComparisonSide& side, std::unordered_map<std::string, std::size_t>& index,
               std::vector<results::MeasuredCase> cases);

/// Returns a side with the cases of one file.
/// @param path  name of the file in warnings
[[nodiscard]] ComparisonSide side_of_cases(const std::string& path, std::vector<results::MeasuredCase> cases);

/// Joins the repetitions inside one process into one replicate, since they vary less than processes do, and adds a
/// warning to the side.
/// @param options  the options of a results file; if it has several processes, nothing is joined
/// @param remedy   flags for a measurement in several processes, for the warning
void join_repetitions(ComparisonSide& side, const std::map<std::string, std::string>& options,
                      const std::string& remedy);

}  // namespace tbench::compare
