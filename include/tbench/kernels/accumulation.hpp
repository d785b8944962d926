// Sums in a chosen order and number format, on one block of threads, behind a plain launch function: to see what an
// accumulator does to a long sum, not how fast a sum can be.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

enum class SumOrder {
  kSequential,  // s += x, one after the other
  kPairwise,    // neighbours, then neighbours of these, ...: see kPairwiseLanes
  kKahan        // sequential; what an addition loses is taken along: Kahan, "Further remarks on reducing truncation
                // errors", CACM 8 (1965)
};

/// A pairwise sum has so many lanes: lane j sums terms j, j + lanes, ... , then lane j takes lane j + lanes / 2, and so
/// on. A lane of m terms is that of its first 2^k terms, 2^k the largest power below m, plus that of the others.
inline constexpr int kPairwiseLanes = 1024;

/// The sum of a, or of a * b. Terms (products are float32's) and the result of every addition are rounded to the
/// nearest number of the accumulator's format, ties to even.
struct SumProblem {
  const void* a{};          // [count] on the device: float, __half or __nv_bfloat16 as `input` says
  const void* b{};          // [count] of the same type, or null
  std::int64_t count{};     // 1 to 2^31
  Precision input{};        // kFp32, kFp16 or kBf16
  Precision accumulator{};  // kFp32, or the input's
  SumOrder order{};
};

/// Enqueues the sum, one launch. The same bits every time.
/// @param result  one float on the device, written; of a 16-bit accumulator its value
/// @throws        std::invalid_argument for a format or count that there is no kernel for; cuda::CudaError
void sum(const SumProblem& problem, float* result, cudaStream_t stream);

}  // namespace tbench::kernels
