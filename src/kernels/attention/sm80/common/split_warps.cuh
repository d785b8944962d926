// Split warps, for a grid that is too small to fill the GPU: groups of warps of a CTA share the same rows and divide
// the rows that the CTA streams. Each group has its own sums, in float32 for every storage type. They are added at the
// end, through the memory of the tiles and in the order of the groups, so that results are bitwise identical in every
// run.
#pragma once

#include <cmath>

#include "kernels/attention/common/smem_tile.cuh"
#include "kernels/attention/common/warp_reduce.cuh"
#include "kernels/attention/sm80/common/tile_scheduler.cuh"

namespace tbench::kernels::sm80 {

/// Returns the index of a warp's share of the CTA's rows, among `kWarps` warps in `kSplitWarps` groups, and below of
/// its share of the streamed rows.
template <int kWarps, int kSplitWarps>
__device__ __forceinline__ int row_warp(int warp) {
  return kSplitWarps == 1 ? warp : warp % (kWarps / kSplitWarps);
}
template <int kWarps, int kSplitWarps>
__device__ __forceinline__ int split_of_warp(int warp) {
  return kSplitWarps == 1 ? 0 : warp / (kWarps / kSplitWarps);
}

/// Combines the groups' softmax statistics; each group has seen a part of the keys. `sum` is a lane's part of a row's
/// sum of exp2(scale * (score - reference)). A group that saw none of the row's keys has a reference of -infinity and
/// sums of 0. Sets the factors by which each group has to multiply its part of O, so that the parts add up to O. Calls
/// done(row, reference, sum) with the whole row's values for the warp's rows, in each of the four lanes of a row.
/// `statistics` is a buffer [kSplitWarps, kRows] in shared memory whose previous contents are no longer needed;
/// `warp_row` is the first of the warp's rows in the CTA. All threads of the CTA take part.
template <int kRows, int kSplitWarps, int kRowBlocks, class Done>
__device__ __forceinline__ void combine_split_warps(const float (&reference)[kRowBlocks][2],
                                                    float (&sum)[kRowBlocks][2], float scale, int group, int warp_row,
                                                    int lane, float2* statistics, float (&factor)[kRowBlocks][2],
                                                    Done&& done) {
#pragma unroll
  for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      sum[m][half] = quad_sum(sum[m][half]);
      const int row = warp_row + m * 16 + half * 8 + lane / 4;
      if (lane % 4 == 0) statistics[group * kRows + row] = float2{reference[m][half], sum[m][half]};
    }
  }
  __syncthreads();
#pragma unroll
  for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp_row + m * 16 + half * 8 + lane / 4;
      float2 of[kSplitWarps];  // reference, sum
      float highest = -INFINITY, total = 0.0f;
#pragma unroll
      for (int i = 0; i < kSplitWarps; ++i) {
        of[i] = statistics[i * kRows + row];
        highest = fmaxf(highest, of[i].x);
      }
#pragma unroll
      for (int i = 0; i < kSplitWarps; ++i) total += of[i].y * exp2_approximate((of[i].x - highest) * scale);
      factor[m][half] = exp2_approximate((reference[m][half] - highest) * scale) / total;
      done(row, highest, total);
    }
  }
}

/// Stores four adjacent elements of a row.
template <class Element>
__device__ __forceinline__ void store_4(Element* destination, float4 x, bool vectors) {
  struct alignas(4 * sizeof(Element)) Quad {
    Element elements[4];
  };
  const Quad quad{{Element(x.x), Element(x.y), Element(x.z), Element(x.w)}};
  if (vectors) {
    *reinterpret_cast<Quad*>(destination) = quad;
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) destination[i] = quad.elements[i];
  }
}

/// Stores rows [first_row, first_row + kRows) of the CTA, except for rows from `rows` on: the total of the groups'
/// sums, each times its factor(m, half). `partials` is a buffer [kSplitWarps, kRows, head_dim] with padded rows whose
/// previous contents are no longer needed; `own_row` is the first of this warp's rows in it. All threads of the CTA
/// take part.
template <int kHeadDim, int kRows, int kSplitWarps, int kThreads, int kRowBlocks, class Element, class Factor>
__device__ __forceinline__ void store_split_warps_sums(const float (&sums)[kRowBlocks][kHeadDim / 8][4], char* partials,
                                                       int own_row, const GlobalMatrix<Element>& matrix,
                                                       TileScheduler place, int first_row, int rows, Factor&& factor) {
  constexpr int kRowBytes = row_bytes<float>(kHeadDim);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarpSize;
  char* const own = partials + (own_row + lane / 4) * kRowBytes + lane % 4 * 8;
#pragma unroll
  for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float scale = factor(m, half);
#pragma unroll
      for (int d = 0; d < kHeadDim / 8; ++d) {
        *reinterpret_cast<float2*>(own + (m * 16 + half * 8) * kRowBytes + d * 32) =
            float2{sums[m][d][2 * half] * scale, sums[m][d][2 * half + 1] * scale};
      }
    }
  }
  __syncthreads();
  Element* const head = matrix.head(place.batch(), place.head());
  constexpr int kAtOnce = 4, kPerRow = kHeadDim / kAtOnce;
  for (int index = thread; index < kRows * kPerRow; index += kThreads) {
    const int row = index / kPerRow, column = index % kPerRow * kAtOnce;
    if (first_row + row >= rows) break;
    float4 sum{};
#pragma unroll
    for (int group = 0; group < kSplitWarps; ++group) {
      const float4 part = *reinterpret_cast<const float4*>(partials + (group * kRows + row) * kRowBytes + column * 4);
      sum = float4{sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
    }
    store_4(head + (first_row + row) * matrix.row_stride + column, sum, matrix.vectors);
  }
}

}  // namespace tbench::kernels::sm80
