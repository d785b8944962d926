// Describes how the cases of a write-up are measured, in lines that are shown with the list of its files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tbench/results/result_file.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// Returns the line with each family's warm-up and timed steps, and the line with the seeds and the GPU's power limit.
/// @param results  not empty
[[nodiscard]] std::vector<std::string> protocol_lines(std::span<const std::reference_wrapper<const Study>> studies,
                                                      std::span<const results::NamedResults> results);

}  // namespace tbench::studies
