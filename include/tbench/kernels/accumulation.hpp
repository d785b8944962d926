// Sums in a chosen order and number format, in one CTA, as a plain launch function. They show what an accumulator does
// to a long sum, not how fast a sum can be.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

enum class SumOrder {
  kSequential,  // s += x, one term after the other
  kPairwise,    // adjacent terms, then adjacent sums, and so on; see kPairwiseLanes
  kKahan  // sequential, with the error of each addition carried along: Kahan, "Further remarks on reducing truncation
          // errors", CACM 8 (1965)
};

/// Lanes of a pairwise sum. Lane j sums terms j, j + lanes, ...; then lane j adds lane j + lanes / 2, and so on. The
/// sum of a lane with m terms is the sum of its first 2^k terms, 2^k being the largest power below m, plus the sum of
/// the others.
inline constexpr int kPairwiseLanes = 1024;

/// The sum of a, or of a * b. Products are float32 products. Terms and the result of every addition are rounded to the
/// nearest number of the accumulator's format, ties to even.
struct SumProblem {
  const void* a{};          // [count] on the device: float, __half or __nv_bfloat16 as `input` says
  const void* b{};          // [count] of the same type, or null
  std::int64_t count{};     // 1 to 2^31
  Precision input{};        // kFp32, kFp16 or kBf16
  Precision accumulator{};  // kFp32, or the input's precision
  SumOrder order{};
};

/// Enqueues the sum, in one launch. The bits are the same in every run.
/// @param result  one float on the device, written; with a 16-bit accumulator its value
/// @throws        std::invalid_argument if there is no kernel for the format or count; cuda::CudaError
void sum(const SumProblem& problem, float* result, cudaStream_t stream);

}  // namespace tbench::kernels
