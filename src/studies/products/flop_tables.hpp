// The tables of inference's FLOP, bytes and times: matrix products beside all other kernels.
#pragma once

#include <vector>

#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// Returns the tables of the forward pass: shares of FLOP and time, and the operations outside matrix products.
[[nodiscard]] std::vector<StudyRowTable> flop_tables();

}  // namespace tbench::studies
