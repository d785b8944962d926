// The contribution of a K/V tile to dQ in float32: warps exchange dS through shared memory, and dS K is added
// atomically to dq.
#pragma once

#include "kernels/attention/sm80/bwd/smem_fp32.cuh"

namespace tbench::kernels::sm80 {

/// Stores dS to shared memory as [streamed row, stationary row]. Every eight stationary rows are stored in the order 0
/// 2 4 6 1 3 5 7. In the left operand, the inner indices l and l + 4 then stand for rows 2 l and 2 l + 1, as in the
/// right operand that load_rows() reads from K.
template <bool k3xTf32, class Geometry>
__device__ __forceinline__ void store_scores(const typename Geometry::Scores& ds,
                                             const BwdFp32Smem<k3xTf32, Geometry>& tiles, int first_col) {
  constexpr int kScoreRowBytes = Geometry::kScoreRowBytes;
  const WarpCoord& place = tiles.place();
  const int group = place.lane / 4;
  char* const base = tiles.shared() + Geometry::kScores + (first_col + place.lane % 4 * 2) * kScoreRowBytes +
                     (tiles.warp_row() + group / 2 + group % 2 * 4) * 4;
#pragma unroll
  for (int m = 0; m < Geometry::kRowBlocks; ++m) {
#pragma unroll
    for (int n = 0; n < Geometry::kColBlocks; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float*>(base + (n * 8 + i % 2) * kScoreRowBytes + (m * 16 + i / 2 * 8) * 4) =
            k3xTf32 ? ds[m][n][i] : __uint_as_float(round_to_tf32(ds[m][n][i]));
      }
    }
  }
}

/// Adds four adjacent elements of a row, times the scale, to dq.
template <class Tiles>
__device__ __forceinline__ void add_quad(const Tiles& tiles, float* destination, const float (&even)[4],
                                         const float (&odd)[4], int half) {
  const float quad[4]{even[2 * half] * tiles.parameters().scale, odd[2 * half] * tiles.parameters().scale,
                      even[2 * half + 1] * tiles.parameters().scale, odd[2 * half + 1] * tiles.parameters().scale};
  if (tiles.parameters().dq.vectors) return atomic_add_v4(destination, quad);
#pragma unroll
  for (int i = 0; i < 4; ++i) atomicAdd(destination + i, quad[i]);
}

/// Adds scale * dS K of this tile to dq. The warps divide queries and head_dim among them. The two column blocks of a
/// 16 by 16 product are the even and the odd columns, so that a lane holds four adjacent elements of a row.
template <bool k3xTf32, class Geometry>
__device__ __forceinline__ void add_query_gradient(const BwdFp32Smem<k3xTf32, Geometry>& tiles, int step) {
  constexpr BwdConfig kTile = Geometry::kTile;
  constexpr int kHeadDim = Geometry::kHeadDim, kRowBytes = Geometry::kRowBytes,
                kScoreRowBytes = Geometry::kScoreRowBytes;
  constexpr int kDimWarps = kTile.dq_dim_warps, kRowWarps = kTile.warps / kDimWarps;
  constexpr int kRows = kTile.streamed_rows / kRowWarps / 16, kDims = kHeadDim / 16 / kDimWarps;
  static_assert(kRows * kRowWarps * 16 == kTile.streamed_rows && kDims * kDimWarps * 16 == kHeadDim,
                "the warps divide dQ's tile in blocks of 16 by 16");
  if (injected(InjectedFault::kDqSkipTile) && tiles.place().first_row == 0) return;
  const WarpCoord& place = tiles.place();
  const int row = place.warp / kDimWarps * kRows * 16, dim = place.warp % kDimWarps * kDims * 16;
  const std::uint32_t a_address = shared_address(tiles.shared()) + Geometry::kScores + row * kScoreRowBytes +
                                  left_offset(place.lane, kScoreRowBytes);
  const char* const keys = tiles.shared() + place.lane % 4 * 2 * kRowBytes + (dim + place.lane / 4 * 2) * 4;
  float dq[kRows][2 * kDims][4] = {};
  multiply_steps<k3xTf32, kTile.kept_rows / 8>(
      dq,
      [&](int m, int inner) {
        return load_operand<k3xTf32, !k3xTf32>(a_address + m * 16 * kScoreRowBytes + inner * 32);
      },
      [&](int n, int inner) {
        const char* const pairs = keys + inner * 8 * kRowBytes + n * 32;
        const float2 even = *reinterpret_cast<const float2*>(pairs);
        const float2 odd = *reinterpret_cast<const float2*>(pairs + kRowBytes);
        return to_operand_from_tile<k3xTf32, !k3xTf32>(even.x, odd.x, even.y, odd.y);
      });
  float* const head =
      tiles.parameters().dq.head(tiles.block().batch(), tiles.block().head()) + dim + place.lane % 4 * 4;
#pragma unroll
  for (int m = 0; m < kRows; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = step * kTile.streamed_rows + row + m * 16 + half * 8 + place.lane / 4;
      if (query >= tiles.parameters().seq_q) continue;
      float* const line = head + query * tiles.parameters().dq.row_stride;
#pragma unroll
      for (int d = 0; d < kDims; ++d) add_quad(tiles, line + d * 16, dq[m][2 * d], dq[m][2 * d + 1], half);
    }
  }
}

}  // namespace tbench::kernels::sm80
