// Compares the shares of FLOP and time of matrix products and all other kernels, and says what limits the others.
#pragma once

#include <string>
#include <vector>

#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// Returns the sentences about flop_tables(). A sentence without its measurements is left out.
[[nodiscard]] std::vector<std::string> flop_sentences(const StudyMeasurements& all);

}  // namespace tbench::studies
