// The tables of attention's parts: times, FLOP, shares of the core's time and FLOP, and rates beside the ceilings.
#pragma once

#include <vector>

#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// Returns the tables of the study `softmax_vs_matmul`.
[[nodiscard]] std::vector<StudyRowTable> attention_tables();

}  // namespace tbench::studies
