// Heads as rows in the kernels of the norms of q and k: the threads that hold a row, their sum over it, and the
// rotation of a thread's pairs.
#pragma once

#include "kernels/common/step_fault.cuh"
#include "kernels/common/vectors.cuh"
#include "tbench/kernels/qk_norm_rope.hpp"

namespace tbench::kernels {

/// The extents in 32 bits. `lanes` adjacent threads hold a row: a power of two, at most a warp.
struct HeadExtents {
  unsigned tokens, seq, heads, kv_heads, head_dim, lanes;
  float epsilon, inverse_head_dim;
};

/// @param width  elements of a vector
inline HeadExtents head_extents(const QkNormRopeShape& shape, int width) {
  unsigned lanes = 1;
  while (lanes < kWarpThreads && lanes * static_cast<unsigned>(width) < shape.head_dim) lanes *= 2;
  return {.tokens = static_cast<unsigned>(shape.tokens),
          .seq = static_cast<unsigned>(shape.seq),
          .heads = static_cast<unsigned>(shape.heads),
          .kv_heads = static_cast<unsigned>(shape.kv_heads),
          .head_dim = static_cast<unsigned>(shape.head_dim),
          .lanes = lanes,
          .epsilon = shape.epsilon,
          .inverse_head_dim = 1.0F / static_cast<float>(shape.head_dim)};
}

/// Returns the sum over the threads of a row, in each of them. All threads of the warp call it together.
__device__ __forceinline__ float sum_of_row(float value, unsigned lanes) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffU, value, distance);
  }
  return value;
}

/// Loads float32 values in words of 16 bytes, or one by one if the row is accessed pair by pair.
template <int kWidth>
__device__ __forceinline__ void load_floats(const float* from, float (&values)[kWidth]) {
  constexpr int kWord = kWidth >= 4 ? 4 : 1;
#pragma unroll
  for (int i = 0; i < kWidth; i += kWord) {
    float word[kWord];
    unpack<float, kWord>(load_cached<kWord>(from + i), word);
#pragma unroll
    for (int j = 0; j < kWord; ++j) values[i + j] = word[j];
  }
}

/// Rotates the pairs of a vector that begins at element `column` of a row by the angles of its position, or by the
/// negative angles.
template <int kWidth>
__device__ __forceinline__ void rotate(float (&values)[kWidth], const QkNormRopeConstants& constants, unsigned position,
                                       unsigned column, const HeadExtents& extents, bool backward) {
  constexpr int kPairs = kWidth / 2;
  const unsigned late = injected(InjectedStepFault::kQkNormPosition) && position > 0 ? 1 : 0;
  const std::int64_t angle = (std::int64_t{position - late} * extents.head_dim + column) / 2;
  float cos[kPairs], sin[kPairs];
  unpack<float, kPairs>(load_cached<kPairs>(constants.cos + angle), cos);
  unpack<float, kPairs>(load_cached<kPairs>(constants.sin + angle), sin);
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    const float a = values[2 * i], b = values[2 * i + 1];
    const float s = backward && !injected(InjectedStepFault::kQkNormSign) ? -sin[i] : sin[i];
    values[2 * i] = a * cos[i] - b * s;
    values[2 * i + 1] = a * s + b * cos[i];
  }
}

/// Returns the weight of q's or k's norm.
__device__ __forceinline__ const float* weight_of(const QkNormRopeConstants& constants, bool is_q) {
  return is_q || injected(InjectedStepFault::kQkNormWeightOfQ) ? constants.q_weight : constants.k_weight;
}

}  // namespace tbench::kernels
