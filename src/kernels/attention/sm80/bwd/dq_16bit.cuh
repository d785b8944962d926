// The contribution of a K/V tile to dQ in bf16 and fp16: warps exchange dS through shared memory, and dS K is added
// atomically to float32 sums in the layout of the accumulators.
#pragma once

#include "kernels/attention/sm80/bwd/smem_16bit.cuh"

namespace tbench::kernels::sm80 {

/// Stores a warp's packed dS^T to shared memory as [stationary row, streamed row], from column `first_col` on.
template <class Geometry>
__device__ __forceinline__ void store_scores(const std::uint32_t (&ds)[Geometry::kRowBlocks][Geometry::kColBlocks][2],
                                             const BwdSmem<Geometry>& tiles, int first_col) {
  const WarpCoord& place = tiles.place();
  char* const base = tiles.scores_pointer();
#pragma unroll
  for (int m = 0; m < Geometry::kRowBlocks; ++m) {
#pragma unroll
    for (int n = 0; n < Geometry::kColBlocks; ++n) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = (Geometry::row_block(place.warp) + m) * 16 + half * 8 + place.lane / 4;
        const int col = first_col + n * 8 + place.lane % 4 * 2;
        *reinterpret_cast<std::uint32_t*>(base + row * Geometry::kScoreRowBytes + col * 2) = ds[m][n][half];
      }
    }
  }
}

/// Adds dS K of a step to the sums. dS is the one that store_scores() stored last. The warps divide queries and
/// head_dim among them. A thread's four elements of an accumulator are contiguous in the sums, so that a warp adds 512
/// contiguous bytes.
template <class Geometry>
__device__ __forceinline__ void add_query_gradient(const BwdSmem<Geometry>& tiles, int step) {
  using Element = typename Geometry::Element;
  constexpr BwdConfig kTile = Geometry::kTile;
  constexpr int kRowBytes = Geometry::kRowBytes, kScoreRowBytes = Geometry::kScoreRowBytes;
  constexpr int kDimWarps = kTile.dq_dim_warps, kRowWarps = kTile.warps / kDimWarps;
  constexpr int kRows = kTile.streamed_rows / kRowWarps / 16, kDims = Geometry::kDimBlocks / kDimWarps;
  static_assert(kRows >= 1 && kDims % 2 == 0, "the warps divide dQ's tile in blocks of 16 by 16");
  if (injected(InjectedFault::kDqSkipTile) && tiles.place().first_row == 0) return;
  const auto& p = tiles.parameters();
  const WarpCoord& place = tiles.place();
  const int row_block = place.warp / kDimWarps * kRows, dim_block = place.warp % kDimWarps * kDims;
  // dS^T is stored as [key, query]. Loaded transposed, it is the left operand, 16 queries by 16 keys.
  const std::uint32_t a_address = tiles.scores() + column_major_offset(place.lane, kScoreRowBytes) + row_block * 32;
  const std::uint32_t b_address = tiles.kept(0) + row_major_offset(place.lane, kRowBytes) + dim_block * 16;
  float dq[kRows][kDims][4] = {};
#pragma unroll
  for (int key = 0; key < kTile.kept_rows; key += 16) {
    std::uint32_t a[kRows][4];
#pragma unroll
    for (int m = 0; m < kRows; ++m) ldmatrix_x4_trans(a[m], a_address + key * kScoreRowBytes + m * 32);
#pragma unroll
    for (int d = 0; d < kDims; d += 2) {
      std::uint32_t b[4];
      ldmatrix_x4_trans(b, b_address + key * kRowBytes + d * 16);
#pragma unroll
      for (int m = 0; m < kRows; ++m) {
        mma_m16n8k16<Element>(dq[m][d], a[m], b[0], b[1]);
        mma_m16n8k16<Element>(dq[m][d + 1], a[m], b[2], b[3]);
      }
    }
  }
  const std::int64_t head = static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y;
  const std::int64_t block = head * p.query_blocks + step * (kTile.streamed_rows / 16) + row_block;
  float* const sums = p.dq_sums + ((block * Geometry::kDimBlocks + dim_block) * kWarpSize + place.lane) * 4;
#pragma unroll
  for (int m = 0; m < kRows; ++m) {
#pragma unroll
    for (int d = 0; d < kDims; ++d) atomic_add_v4(sums + (m * Geometry::kDimBlocks + d) * kWarpSize * 4, dq[m][d]);
  }
}

}  // namespace tbench::kernels::sm80
