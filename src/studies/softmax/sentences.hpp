// Says how much time softmax and attention's matrix products take for their FLOP, and what limits them.
#pragma once

#include <string>
#include <vector>

#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// Returns the sentences of the study `softmax_vs_matmul`. A sentence without its measurements is left out.
[[nodiscard]] std::vector<std::string> attention_sentences(const StudyMeasurements& all);

}  // namespace tbench::studies
