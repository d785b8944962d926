// The cases of a side: cases of one key become one, repetitions inside one process become one replicate.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tbench/compare/sides.hpp"
#include "tbench/results/measured_case.hpp"

namespace tbench::compare {

/// Adds the cases of a file; cases with the same key become one, with all replicates.
/// @param index  where the side's cases are, by key
void add_cases(ComparisonSide& side, std::unordered_map<std::string, std::size_t>& index,
               std::vector<results::MeasuredCase> cases);

/// The cases of one file, with what they are called in warnings.
[[nodiscard]] ComparisonSide side_of_cases(const std::string& path, std::vector<results::MeasuredCase> cases);

/// Repetitions inside one process vary less than processes do: together they are one replicate, and the side gets a
/// warning.
/// @param options  of a results file: with several processes nothing is joined
/// @param remedy   how to measure in several processes
void join_repetitions(ComparisonSide& side, const std::map<std::string, std::string>& options,
                      const std::string& remedy);

}  // namespace tbench::compare
