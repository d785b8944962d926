// The forward kernel of the norms of q and k: a row stays in registers from its only load to its only store. Rows are
// in the order of memory: token after token, the heads of q, then the heads of k.
#pragma once

#include "kernels/common/pdl.cuh"
#include "kernels/qk_norm_rope/head_rows.cuh"

namespace tbench::kernels {

inline constexpr int kQkForwardThreads = 256;

template <class Element, int kWidth, int kVectors>
__global__ void __launch_bounds__(kQkForwardThreads)
    qk_norm_rope_forward_kernel(const __grid_constant__ QkNormRopeForward tensors, HeadExtents extents) {
  griddep_launch_dependents();
  const unsigned index = blockIdx.x * kQkForwardThreads + threadIdx.x;
  const unsigned row = index / extents.lanes, lane = index % extents.lanes;
  const unsigned all_heads = extents.heads + extents.kv_heads;
  const unsigned token = row / all_heads, head = row - token * all_heads;
  const bool is_row = token < extents.tokens;  // threads behind the last row take part in the sums of their warp
  const auto column = [&](int i) { return (lane + i * extents.lanes) * kWidth; };
  const auto has = [&](int i) { return is_row && column(i) < extents.head_dim; };
  const std::int64_t begin = std::int64_t{head} * extents.head_dim;
  const auto* const from = static_cast<const Element*>(tensors.x.data) + token * tensors.x.stride + begin;
  auto* const to = static_cast<Element*>(tensors.y.data) + token * tensors.y.stride + begin;
  const float* const weight = weight_of(tensors.constants, head < extents.heads);
  griddep_wait();
  Word<Element, kWidth> words[kVectors];
  float squares = 0.0F;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (!has(i)) continue;
    words[i] = load_once<kWidth>(from + column(i));
    float values[kWidth];
    unpack<Element, kWidth>(words[i], values);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) squares += values[j] * values[j];
  }
  const float rstd = rsqrtf(sum_of_row(squares, extents.lanes) * extents.inverse_head_dim + extents.epsilon);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (!has(i)) continue;
    if (injected(InjectedStepFault::kQkNormLastHead) && head + 1 == all_heads) continue;
    float values[kWidth], of_weight[kWidth];
    unpack<Element, kWidth>(words[i], values);
    load_floats<kWidth>(weight + column(i), of_weight);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) values[j] *= rstd * of_weight[j];
    rotate<kWidth>(values, tensors.constants, token % extents.seq, column(i), extents, /*backward=*/false);
    store<kWidth>(to + column(i), values);
  }
}

}  // namespace tbench::kernels
