// A launch function that adds up numbers in a chosen order and number format, in one CTA. It shows how an accumulator's
// format and order affect a long sum, not how fast a sum can be.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

enum class SumOrder {
  kSequential,  // s += x, one term after the other
  kPairwise,    // adds adjacent terms, then adjacent sums, and so on; see kPairwiseLanes
  kKahan  // sequential, and carries the rounding error of each addition along: Kahan, "Further remarks on reducing
          // truncation errors", CACM 8 (1965)
};

/// Number of lanes of a pairwise sum. Lane j adds up terms j, j + lanes, ...; then lane j adds the sum of lane j +
/// lanes / 2, and so on. A lane with m terms adds the sum of its first 2^k terms, where 2^k is the largest power of two
/// below m, and the sum of its remaining terms.
inline constexpr int kPairwiseLanes = 1024;

/// Describes the sum of the elements of `a`, or of the products a[i] * b[i]. Products are float32 products. Terms and
/// the result of every addition are rounded to the nearest number of the accumulator's format, ties to even.
struct SumProblem {
  const void* a{};          // [count] on the device: float, __half or __nv_bfloat16 as `input` says
  const void* b{};          // [count], same type as `a`; null: no products
  std::int64_t count{};     // 1 to 2^31
  Precision input{};        // kFp32, kFp16 or kBf16
  Precision accumulator{};  // kFp32, or the input's precision
  SumOrder order{};
};

/// Enqueues the sum, in one launch. The result is bitwise identical in every run.
/// @param result  one float on the device, written: the accumulator's final value, converted to float if the
///                accumulator has 16 bits
/// @throws        std::invalid_argument if there is no kernel for the format or count; cuda::CudaError
void sum(const SumProblem& problem, float* result, cudaStream_t stream);

}  // namespace tbench::kernels
