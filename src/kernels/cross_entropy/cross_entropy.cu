// Two kernels with one row per CTA. The first kernel holds the row in registers in its storage type. Each thread sums
// exponentials relative to its own maximum, the CTA combines these sums to lse with one barrier, and the exponentials
// are computed once more for the gradient. Keeping them in float32 would take twice the registers, and latency
// dominates with three rows per SM instead of six. The second kernel, for rows that are too long for registers, reads
// the row twice.
#include <limits>
#include <string>

#include "kernels/common/dispatch.hpp"
#include "kernels/common/step_fault.cuh"
#include "kernels/common/vectors.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/cross_entropy.hpp"

namespace tbench::kernels {
namespace {

constexpr int kMaxThreads = 1024;  // per CTA of the second kernel
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// The sum of exp(x - maximum) over some x, and their maximum. If the maximum is minus infinity, the sum is 0 or NaN.
struct PartialSum {
  float maximum, sum;
};

/// Returns the number to subtract from each x before exponentiation: the maximum, or 0 if the maximum is minus
/// infinity, because x minus the maximum would be NaN.
__device__ __forceinline__ float reference_of(float maximum) { return maximum == kMinusInfinity ? 0.0F : maximum; }

/// Returns exp(x - reference), with one multiply-add. Its error is the rounding error of x log2(e).
__device__ __forceinline__ float exp_of_difference(float x, float reference) {
  constexpr float kLog2E = 1.44269504F;
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(power) : "f"(fmaf(x, kLog2E, -reference * kLog2E)));
  return power;
}

/// Returns the sum of `part` relative to `maximum`, which is at least the maximum of `part`.
__device__ __forceinline__ float rescaled(const PartialSum& part, float maximum) {
  return part.maximum == kMinusInfinity ? part.sum : part.sum * expf(part.maximum - maximum);
}

/// Returns the sum over the warp. The maximum is reduced first, so that each lane computes only one exponential.
__device__ __forceinline__ PartialSum of_warp(const PartialSum& mine) {
  float maximum = mine.maximum;
#pragma unroll
  for (int distance = kWarpThreads / 2; distance > 0; distance /= 2) {
    maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffU, maximum, distance));
  }
  return {maximum, warp_sum(injected(InjectedStepFault::kEntropyRescale) ? mine.sum : rescaled(mine, maximum))};
}

/// Returns log(sum(exp(x))) of the CTA's row, in all threads.
__device__ float lse_of_block(PartialSum mine) {
  __shared__ PartialSum of_warps[kMaxThreads / kWarpThreads];
  const int warp = static_cast<int>(threadIdx.x) / kWarpThreads, lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  mine = of_warp(mine);
  if (warp > 0) delay(InjectedStepFault::kEntropyBarrier);
  if (lane == 0) of_warps[warp] = mine;
  if (!injected(InjectedStepFault::kEntropyBarrier)) __syncthreads();
  const int warps = static_cast<int>(blockDim.x) / kWarpThreads;
  mine = of_warp(lane < warps ? of_warps[lane] : PartialSum{kMinusInfinity, 0.0F});
  return reference_of(mine.maximum) + logf(mine.sum);
}

__device__ __forceinline__ bool is_word(std::int64_t target, std::int64_t width) {
  return target >= 0 && target < width;
}

/// Writes the row's results; one thread calls it.
__device__ void write_row_results(const CrossEntropy& problem, std::int64_t row, float lse, float of_target) {
  problem.losses[row] = injected(InjectedStepFault::kEntropyLoss) ? lse : lse - of_target;
  if (problem.lse != nullptr) problem.lse[row] = lse;
}

/// Returns the target's logit, before the row is overwritten; NaN for a target outside the vocabulary.
template <class Element>
__device__ float logit_of_target(const CrossEntropy& problem, std::int64_t row, std::int64_t target) {
  if (!is_word(target, problem.width)) return std::numeric_limits<float>::quiet_NaN();
  return to_float(static_cast<const Element*>(problem.logits)[row * problem.width + target]);
}

__device__ __forceinline__ float scale_of(const CrossEntropy& problem) {
  return problem.scale == nullptr ? problem.factor : problem.factor * *problem.scale;
}

/// Minimum number of CTAs per SM. It limits the registers per thread, because many rows in flight hide latency.
__host__ __device__ constexpr int row_blocks(int vectors) { return vectors <= 4 ? 3 : 2; }

template <class Element, int kWidth, int kVectors>
__global__ void __launch_bounds__(kCrossEntropyRowThreads, row_blocks(kVectors))
    cross_entropy_row_kernel(const __grid_constant__ CrossEntropy problem) {
  const std::int64_t row = blockIdx.x;
  const int width = static_cast<int>(problem.width);
  const auto column = [](int i) { return static_cast<int>(threadIdx.x + i * blockDim.x) * kWidth; };
  const auto* const logits = static_cast<const Element*>(problem.logits) + row * width;
  Word<Element, kWidth> words[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (column(i) < width) words[i] = load_once<kWidth>(logits + column(i));
  }
  const std::int64_t late = injected(InjectedStepFault::kEntropyTargetRow) && row + 1 < problem.rows ? 1 : 0;
  const std::int64_t target = problem.targets[row + late];
  float of_target = 0.0F;  // read before the barrier after which the row is overwritten
  if (threadIdx.x == 0) of_target = logit_of_target<Element>(problem, row, target);
  PartialSum mine{kMinusInfinity, 0.0F};
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (column(i) >= width) continue;
    float values[kWidth];
    unpack<Element, kWidth>(words[i], values);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) mine.maximum = fmaxf(mine.maximum, values[j]);
  }
  const float reference = reference_of(mine.maximum);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (column(i) >= width) continue;
    if (injected(InjectedStepFault::kEntropyLastVector) && column(i) + kWidth >= width) continue;
    opaque(words[i]);
    float values[kWidth];
    unpack<Element, kWidth>(words[i], values);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) mine.sum += exp_of_difference(values[j], reference);  // a NaN makes the sum NaN
  }
  const float lse = lse_of_block(mine);
  if (threadIdx.x == 0) write_row_results(problem, row, lse, of_target);
  const float scale = scale_of(problem);
  int word = is_word(target, width) ? static_cast<int>(target) : -kWidth;
  if (injected(InjectedStepFault::kEntropyTarget)) ++word;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (column(i) >= width) continue;
    opaque(words[i]);
    float values[kWidth];
    unpack<Element, kWidth>(words[i], values);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) values[j] = scale * exp_of_difference(values[j], lse);
    if (const int place = word - column(i); place >= 0 && place < kWidth) {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) values[j] -= j == place ? scale : 0.0F;
    }
    store<kWidth>(static_cast<Element*>(problem.gradient) + row * width + column(i), values);
  }
}

template <class Element>
__global__ void __launch_bounds__(kMaxThreads)
    cross_entropy_long_row_kernel(const __grid_constant__ CrossEntropy problem) {
  const std::int64_t row = blockIdx.x, begin = row * problem.width, width = problem.width;
  const auto* const logits = static_cast<const Element*>(problem.logits) + begin;
  auto* const gradient = static_cast<Element*>(problem.gradient) + begin;
  const std::int64_t target = problem.targets[row];
  float of_target = 0.0F;
  if (threadIdx.x == 0) of_target = logit_of_target<Element>(problem, row, target);
  PartialSum mine{kMinusInfinity, 0.0F};
#pragma unroll 4
  for (std::int64_t i = threadIdx.x; i < width; i += kMaxThreads) {
    const float value = to_float(logits[i]);
    if (value <= mine.maximum) {
      mine.sum += exp_of_difference(value, reference_of(mine.maximum));
    } else {  // a new maximum, or a NaN
      const float maximum = fmaxf(mine.maximum, value);
      mine = {maximum, rescaled(mine, maximum) + rescaled({value, 1.0F}, maximum)};
    }
  }
  const float lse = lse_of_block(mine);
  if (threadIdx.x == 0) write_row_results(problem, row, lse, of_target);
  const float scale = scale_of(problem);
#pragma unroll 4
  for (std::int64_t i = threadIdx.x; i < width; i += kMaxThreads) {
    const float value = scale * exp_of_difference(to_float(logits[i]), lse);
    gradient[i] = from_float<Element>(i == target ? value - scale : value);
  }
}

template <class Element, int kWidth>
auto row_kernel(int vectors) {
  switch (vectors) {
    case 1:
      return &cross_entropy_row_kernel<Element, kWidth, 1>;
    case 2:
      return &cross_entropy_row_kernel<Element, kWidth, 2>;
    case 4:
      return &cross_entropy_row_kernel<Element, kWidth, 4>;
    case 8:
      return &cross_entropy_row_kernel<Element, kWidth, 8>;
    default:
      return &cross_entropy_long_row_kernel<Element>;
  }
}

}  // namespace

void cross_entropy(const CrossEntropy& problem, cudaStream_t stream) {
  const CrossEntropyPlan plan = cross_entropy_plan(problem.rows, problem.width, problem.precision,
                                                   are_aligned({problem.logits, problem.gradient}, kVectorBytes));
  check_pointers("cross_entropy", {problem.logits, problem.targets, problem.gradient, problem.losses});
  with_storage_type("cross_entropy", problem.precision, [&](auto type) {
    using Element = typename decltype(type)::Type;
    constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(Element));
    upload_step_fault(stream);
    const auto kernel =
        plan.width_of_vector == 1 ? row_kernel<Element, 1>(plan.vectors) : row_kernel<Element, kWidth>(plan.vectors);
    kernel<<<static_cast<unsigned>(problem.rows), static_cast<unsigned>(plan.threads), 0, stream>>>(problem);
  });
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tbench::kernels
