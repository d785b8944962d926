// Two kernels for sums. In one kernel, a single thread adds the terms that its CTA has loaded (sequential, Kahan). In
// the other kernel, each thread of a CTA sums one lane in pairs, and then the threads' sums are added in pairs. All
// arithmetic is in float32 and rounded to the accumulator's format after every operation. For 16-bit formats the result
// is the same as with 16-bit arithmetic, because float32 has more than twice their bits (Figueroa, "When is double
// rounding innocuous?", 1995).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/common/vectors.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/accumulation.hpp"

namespace tbench::kernels {
namespace {

constexpr std::int64_t kMaxSumTerms = std::int64_t{1} << 31;
constexpr int kLoadingThreads = 256;
constexpr int kTileTerms = 4096;  // 16 KiB of shared memory
constexpr int kLevels = 22;       // enough for a lane of 2^31 / kPairwiseLanes = 2^21 terms, whose sum has level 21
static_assert(kMaxSumTerms / kPairwiseLanes <= std::int64_t{1} << (kLevels - 1), "a lane's terms need more levels");

template <class Accumulator>
__device__ float add(float x, float y) {
  return rounded<Accumulator>(__fadd_rn(x, y));
}

template <class Accumulator>
__device__ float subtract(float x, float y) {
  return rounded<Accumulator>(__fsub_rn(x, y));
}

/// Returns term `i` in the accumulator's format. The product is not contracted with the addition that follows.
template <class Input, class Accumulator>
__device__ float term(const Input* a, const Input* b, std::int64_t i) {
  const float x = to_float(a[i]);
  return rounded<Accumulator>(b == nullptr ? x : __fmul_rn(x, to_float(b[i])));
}

template <class Input, class Accumulator, bool kCompensated>
__global__ void ordered_sum_kernel(const Input* a, const Input* b, std::int64_t count, float* result) {
  __shared__ float terms[kTileTerms];
  float sum = 0.0F, lost = 0.0F;
  for (std::int64_t first = 0; first < count; first += kTileTerms) {
    const int tile = count - first < kTileTerms ? static_cast<int>(count - first) : kTileTerms;
    for (int i = static_cast<int>(threadIdx.x); i < tile; i += kLoadingThreads) {
      terms[i] = term<Input, Accumulator>(a, b, first + i);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll 8
      for (int i = 0; i < tile; ++i) {
        if constexpr (kCompensated) {
          const float corrected = subtract<Accumulator>(terms[i], lost);
          const float next = add<Accumulator>(sum, corrected);
          lost = subtract<Accumulator>(subtract<Accumulator>(next, sum), corrected);
          sum = next;
        } else {
          sum = add<Accumulator>(sum, terms[i]);
        }
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *result = sum;
}

/// Each lane counts its terms in binary: if bit `level` of the count is set, partial[level] is a sum of 2^level terms.
template <class Input, class Accumulator>
__global__ void pairwise_sum_kernel(const Input* a, const Input* b, std::int64_t count, float* result) {
  __shared__ float lanes[kPairwiseLanes];
  float partial[kLevels] = {};
  unsigned taken = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += kPairwiseLanes, ++taken) {
    float value = term<Input, Accumulator>(a, b, i);
#pragma unroll
    for (int level = 0; level < kLevels; ++level) {  // unrolled, so that `partial` stays in registers
      if (((taken >> level) & 1U) == 0U) {
        partial[level] = value;
        break;
      }
      value = add<Accumulator>(partial[level], value);
    }
  }
  float sum = 0.0F;
#pragma unroll
  for (int level = 0; level < kLevels; ++level) {
    if (((taken >> level) & 1U) != 0U) sum = add<Accumulator>(partial[level], sum);
  }
  lanes[threadIdx.x] = sum;
  __syncthreads();
  for (int stride = kPairwiseLanes / 2; stride > 0; stride /= 2) {
    if (static_cast<int>(threadIdx.x) < stride) {
      lanes[threadIdx.x] = add<Accumulator>(lanes[threadIdx.x], lanes[threadIdx.x + stride]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *result = lanes[0];
}

template <class Input, class Accumulator>
void launch(const SumProblem& problem, float* result, cudaStream_t stream) {
  const auto* a = static_cast<const Input*>(problem.a);
  const auto* b = static_cast<const Input*>(problem.b);
  switch (problem.order) {
    case SumOrder::kSequential:
      ordered_sum_kernel<Input, Accumulator, false><<<1, kLoadingThreads, 0, stream>>>(a, b, problem.count, result);
      break;
    case SumOrder::kPairwise:
      pairwise_sum_kernel<Input, Accumulator><<<1, kPairwiseLanes, 0, stream>>>(a, b, problem.count, result);
      break;
    case SumOrder::kKahan:
      ordered_sum_kernel<Input, Accumulator, true><<<1, kLoadingThreads, 0, stream>>>(a, b, problem.count, result);
      break;
  }
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void sum(const SumProblem& problem, float* result, cudaStream_t stream) {
  if (problem.count < 1 || problem.count > kMaxSumTerms) {
    throw std::invalid_argument{"sum: " + std::to_string(problem.count) + " terms; the kernels take 1 to " +
                                std::to_string(kMaxSumTerms)};
  }
  const bool is_wide = problem.accumulator == Precision::kFp32;
  if (problem.input == Precision::kTf32 || (problem.accumulator != problem.input && !is_wide)) {
    throw std::invalid_argument{"sum: " + std::string{to_string(problem.input)} + " input and " +
                                std::string{to_string(problem.accumulator)} +
                                " accumulator have no kernel: an accumulator is fp32 or of the input's format"};
  }
  if (problem.a == nullptr || result == nullptr) throw std::invalid_argument{"sum: a or the result is null"};
  switch (problem.input) {
    case Precision::kFp16:
      return is_wide ? launch<__half, float>(problem, result, stream) : launch<__half, __half>(problem, result, stream);
    case Precision::kBf16:
      return is_wide ? launch<__nv_bfloat16, float>(problem, result, stream)
                     : launch<__nv_bfloat16, __nv_bfloat16>(problem, result, stream);
    default:
      return launch<float, float>(problem, result, stream);
  }
}

}  // namespace tbench::kernels
