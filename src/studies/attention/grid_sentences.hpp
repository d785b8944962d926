// The sentences of the study `attention_grid`.
#pragma once

#include <string>
#include <vector>

#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// Returns, for each implementation of the cases, how its time and memory grow with the length, which memory the
/// longest sequences need, and its gains over `naive`; then the memory that recomputing saves, and the smallest
/// allocation that failed. A sentence is left out if its figures were not measured.
[[nodiscard]] std::vector<std::string> grid_sentences(const StudyMeasurements& all);

}  // namespace tbench::studies
