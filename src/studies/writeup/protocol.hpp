// Describes how the cases of a write-up are measured, in lines that are shown with the list of its files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tbench/results/result_file.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// Returns the lines with each family's warm-up and timed steps, with when the host waits for the timed steps, with the
/// number of traced steps, and with the seeds and the GPU's power limit. A line without a fact is left out.
/// @param results  not empty
[[nodiscard]] std::vector<std::string> protocol_lines(std::span<const std::reference_wrapper<const Study>> studies,
                                                      std::span<const results::NamedResults> results);

}  // namespace tbench::studies
