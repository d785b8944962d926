// The backward kernel of the norms of q and k. Each CTA leaves its share of the weights' gradients, the sum over its
// own rows: first the share of q's weight, then the share of k's weight.
#pragma once

#include "kernels/common/pdl.cuh"
#include "kernels/qk_norm_rope/head_rows.cuh"

namespace tbench::kernels {

inline constexpr int kQkBackwardThreads = 512;
inline constexpr int kQkBackwardWarps = kQkBackwardThreads / kWarpThreads;

/// The sums of each warp, for one of the two weights.
using WarpSums = float[kQkBackwardWarps][kQkNormMaxHeadDim];

/// The heads of q or of k.
struct HeadsPart {
  unsigned first, heads;
  const float* weight;
  float* share;  // [head_dim], written: this CTA's share of the weight's gradient
};

/// Adds up a thread's sums over the rows of its warp and then over the CTA's warps, in a fixed order.
template <int kWidth, int kVectors>
__device__ void store_share(float (&dweight)[kVectors][kWidth], const HeadExtents& extents, float* share,
                            WarpSums& sums) {
  const unsigned lane = threadIdx.x % kWarpThreads, warp = threadIdx.x / kWarpThreads;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const unsigned column = (lane % extents.lanes + i * extents.lanes) * kWidth;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      for (unsigned distance = extents.lanes; distance < kWarpThreads; distance *= 2) {
        dweight[i][j] += __shfl_xor_sync(0xffffffffU, dweight[i][j], distance);
      }
      if (lane < extents.lanes && column < extents.head_dim) sums[warp][column + j] = dweight[i][j];
    }
  }
  __syncthreads();
  for (unsigned column = threadIdx.x; column < extents.head_dim; column += kQkBackwardThreads) {
    float sum = 0.0F;
    for (int other = 0; other < kQkBackwardWarps; ++other) sum += sums[other][column];
    share[column] = sum;
  }
  __syncthreads();  // now the sums have been read
}

/// Computes dx of the heads of one part, and the CTA's share of the weight's gradient. Warps take rows in turn; all
/// rows of a warp's step are computed together, so that its threads meet in the sums.
template <class Element, int kWidth, int kVectors>
__device__ void backward_of_part(const QkNormRopeBackward& tensors, const HeadExtents& extents, const HeadsPart& part,
                                 WarpSums& sums) {
  const unsigned lane = threadIdx.x % extents.lanes, rows_of_a_warp = kWarpThreads / extents.lanes;
  const unsigned in_warp = threadIdx.x % kWarpThreads / extents.lanes;
  const unsigned warp = blockIdx.x * kQkBackwardWarps + threadIdx.x / kWarpThreads;
  const unsigned rows = extents.tokens * part.heads, step = gridDim.x * kQkBackwardWarps * rows_of_a_warp;
  const auto column = [&](int i) { return (lane + i * extents.lanes) * kWidth; };
  float weight[kVectors][kWidth] = {}, dweight[kVectors][kWidth] = {};
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (column(i) < extents.head_dim) load_floats<kWidth>(part.weight + column(i), weight[i]);
  }
  for (unsigned first = warp * rows_of_a_warp; first < rows; first += step) {
    const unsigned row = first + in_warp, token = row / part.heads;
    const auto has = [&](int i) { return row < rows && column(i) < extents.head_dim; };
    const std::int64_t begin = std::int64_t{part.first + row - token * part.heads} * extents.head_dim;
    const auto* const x = static_cast<const Element*>(tensors.x.data) + token * tensors.x.stride + begin;
    const auto* const dy = static_cast<const Element*>(tensors.dy.data) + token * tensors.dy.stride + begin;
    auto* const dx = static_cast<Element*>(tensors.dx.data) + token * tensors.dx.stride + begin;
    float values[kVectors][kWidth] = {}, gradients[kVectors][kWidth] = {};
    float squares = 0.0F, products = 0.0F;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (!has(i)) continue;
      unpack<Element, kWidth>(load_once<kWidth>(x + column(i)), values[i]);
      unpack<Element, kWidth>(load_once<kWidth>(dy + column(i)), gradients[i]);
      rotate<kWidth>(gradients[i], tensors.constants, token % extents.seq, column(i), extents, /*backward=*/true);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        squares += values[i][j] * values[i][j];
        products += gradients[i][j] * weight[i][j] * values[i][j];
      }
    }
    const float rstd = rsqrtf(sum_of_row(squares, extents.lanes) * extents.inverse_head_dim + extents.epsilon);
    const float sum_of_products = sum_of_row(products, extents.lanes);
    const float mean =
        injected(InjectedStepFault::kQkNormMean) ? 0.0F : sum_of_products * rstd * extents.inverse_head_dim;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (!has(i)) continue;
      float result[kWidth];
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        const float normed = values[i][j] * rstd;
        const float slope = injected(InjectedStepFault::kQkNormDweightSlope) ? weight[i][j] : 1.0F;
        dweight[i][j] += gradients[i][j] * normed * slope;
        result[j] = rstd * (gradients[i][j] * weight[i][j] - normed * mean);
      }
      store<kWidth>(dx + column(i), result);
    }
  }
  store_share<kWidth, kVectors>(dweight, extents, part.share, sums);
}

template <class Element, int kWidth, int kVectors>
__global__ void __launch_bounds__(kQkBackwardThreads, 2)
    qk_norm_rope_backward_kernel(const __grid_constant__ QkNormRopeBackward tensors, HeadExtents extents) {
  __shared__ WarpSums sums;
  griddep_launch_dependents();
  griddep_wait();
  float* const share = tensors.workspace + std::int64_t{blockIdx.x} * 2 * extents.head_dim;
  const HeadsPart q{0, extents.heads, weight_of(tensors.constants, true), share};
  const HeadsPart k{extents.heads, extents.kv_heads, weight_of(tensors.constants, false), share + extents.head_dim};
  backward_of_part<Element, kWidth, kVectors>(tensors, extents, q, sums);
  backward_of_part<Element, kWidth, kVectors>(tensors, extents, k, sums);
}

}  // namespace tbench::kernels
