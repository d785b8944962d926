// The side of a results file of this project.
#pragma once

#include <string>
#include <vector>

#include "tbench/compare/sides.hpp"
#include "tbench/results/measured_case.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::compare {

/// Returns the side of a results file.
/// @param path    name of the file in warnings
/// @param header  the file, with or without its records
/// @param cases   the cases of its records
[[nodiscard]] ComparisonSide our_side(const std::string& path, const results::ResultFile& header,
                                      std::vector<results::MeasuredCase> cases);

}  // namespace tbench::compare
