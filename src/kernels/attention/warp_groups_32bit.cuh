// Where a grid is too small to fill the GPU: warps of a block that share the same rows, in groups that divide what the
// block streams past those rows. Each has sums of its own; they are added at the end, through the memory of the tiles,
// in the order of the groups: the same bits every time.
#pragma once

#include "tf32.cuh"

namespace tbench::kernels {

/// A warp's place among `kWarps` in `kGroups`: which share of the block's rows it takes, and which of the streamed
/// ones.
template <int kWarps, int kGroups>
__device__ __forceinline__ int row_warp(int warp) {
  return kGroups == 1 ? warp : warp % (kWarps / kGroups);
}
template <int kWarps, int kGroups>
__device__ __forceinline__ int warp_group(int warp) {
  return kGroups == 1 ? 0 : warp / (kWarps / kGroups);
}

/// Whether the block rounds to TF32, in shared memory, the tiles that it streams. With groups few warps read the same
/// rows: each rounds what it reads.
template <bool kExact, int kGroups>
constexpr bool kRoundsStreamedTiles = !kExact && kGroups == 1;

/// Writes the block's rows [first_row, first_row + kRows) that lie below `rows`: the groups' sums, each times its
/// factor(m, half). `partials` is [kGroups, kRows, head_dim] with padded rows, whose old contents nobody reads any
/// more; `own_row` is the first of this warp's rows there. All threads of the block take part.
template <int kHeadDim, int kRows, int kGroups, int kThreads, int kRowBlocks, class Factor>
__device__ __forceinline__ void store_group_sums(const float (&sums)[kRowBlocks][kHeadDim / 8][4], char* partials,
                                                 int own_row, const Matrix<float>& matrix, BlockPlace place,
                                                 int first_row, int rows, Factor&& factor) {
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
  constexpr int kVectorsPerRow = kHeadDim * 4 / kVectorBytes;
  float* const head = matrix.head(place.batch(), place.head());
  for (int index = thread; index < kRows * kVectorsPerRow; index += kThreads) {
    const int row = index / kVectorsPerRow, column = index % kVectorsPerRow * 4;
    if (first_row + row >= rows) break;
    float4 sum{};
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      const float4 part = *reinterpret_cast<const float4*>(partials + (group * kRows + row) * kRowBytes + column * 4);
      sum = float4{sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
    }
    float* const destination = head + (first_row + row) * matrix.row_stride + column;
    if (matrix.vectors) {
      *reinterpret_cast<float4*>(destination) = sum;
    } else {
      destination[0] = sum.x;
      destination[1] = sum.y;
      destination[2] = sum.z;
      destination[3] = sum.w;
    }
  }
}

}  // namespace tbench::kernels
