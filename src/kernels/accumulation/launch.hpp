// The launch behind kernels::sum, after its checks.
#pragma once

#include "tbench/kernels/accumulation.hpp"

namespace tbench::kernels {

inline constexpr std::int64_t kMostSumTerms = std::int64_t{1} << 31;

/// @param problem  whose count and formats there are kernels for
void launch_sum(const SumProblem& problem, float* result, cudaStream_t stream);

}  // namespace tbench::kernels
