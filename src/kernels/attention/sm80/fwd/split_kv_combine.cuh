// The combine kernel of split-KV, for few Q tiles and many keys. Each CTA of the forward kernel processes a part of a
// row's keys and leaves its part of O, divided by its own sum, and its lse in the workspace, in float32. The combine
// kernel weights the parts by their lse in a fixed order, so that results are bitwise identical in every run.
#pragma once

#include <cmath>

#include "kernels/attention/common/softmax.cuh"
#include "kernels/attention/sm80/common/split_warps.cuh"
#include "kernels/attention/sm80/fwd/params.cuh"

namespace tbench::kernels::sm80 {

/// Combines kCombineElements elements of a row of o per thread. The row's first thread also combines lse.
template <class Element, int kHeadDim>
__device__ __forceinline__ void combine_splits(const FwdParams<Element>& p) {
  constexpr int kPerRow = kHeadDim / kCombineElements;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kCombineThreads + threadIdx.x;
  const std::int64_t row = index / kPerRow;
  const int column = static_cast<int>(index % kPerRow) * kCombineElements;
  if (row >= p.seq_q) return;
  const std::int64_t head = static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y;
  const std::int64_t first = head * p.splits.num_splits * p.seq_q + row;
  const int splits = p.causal ? static_cast<int>(row) / p.splits.keys + 1 : p.splits.num_splits;
  float highest = -INFINITY;
#pragma unroll 4
  for (int i = 0; i < splits; ++i) highest = fmaxf(highest, p.splits.lse[first + std::int64_t{i} * p.seq_q]);
  float total = 0.0f;
  float4 sum{};
#pragma unroll 4
  for (int i = 0; i < splits; ++i) {
    const std::int64_t split = first + std::int64_t{i} * p.seq_q;
    const float weight = exp2_approximate((p.splits.lse[split] - highest) * kLog2E);
    const float4 o = *reinterpret_cast<const float4*>(p.splits.o + split * kHeadDim + column);
    total += weight;
    sum =
        float4{fmaf(weight, o.x, sum.x), fmaf(weight, o.y, sum.y), fmaf(weight, o.z, sum.z), fmaf(weight, o.w, sum.w)};
  }
  const float inverse = 1.0f / total;
  store_4(p.o.head(blockIdx.z, blockIdx.y) + row * p.o.row_stride + column,
          float4{sum.x * inverse, sum.y * inverse, sum.z * inverse, sum.w * inverse}, p.o.vectors);
  if (column == 0) p.lse[head * p.seq_q + row] = highest + logarithm(total);
}

}  // namespace tbench::kernels::sm80
