// Transposition of a matrix with rounding to TF32, into panels in the layout that wgmma reads: [row / 32, head_dim,
// 32], in which the elements of a panel's 32 rows are contiguous, with the 128-byte swizzle.
//
// In every eight rows of a panel the even rows come first: 0 2 4 6 1 3 5 7. Of every eight columns of a product's
// results a thread holds columns 2 l and 2 l + 1 (l = lane % 4), and of a left operand it holds the inner indices l and
// l + 4. With this order of rows, the registers of results can be used directly as the left operand of a product with
// the panels.
#pragma once

#include "kernels/attention/common/smem_tile.cuh"
#include "kernels/attention/sm90/common/ptx.cuh"
#include "kernels/attention/sm90_tf32/common/config.hpp"

namespace tbench::kernels::sm90_tf32 {

/// Returns the address of four contiguous floats of a row of a panel [rows, 32] with the 128-byte swizzle; `vector` is
/// 0 to 7.
__device__ __forceinline__ float4* panel_vector(float* panel, int row, int vector) {
  return reinterpret_cast<float4*>(panel + row * kPanelFloats) + (vector ^ row % 8);
}

__device__ __forceinline__ float4 rounded(float x, float y, float z, float w) {
  const auto round = [](float value) { return __uint_as_float(round_to_tf32(value)); };
  return {round(x), round(y), round(z), round(w)};
}

/// Coordinates of a warp's 16 rows by 32 columns. Eight lanes take a row, so a warp takes four rows at a time.
struct TransposeCoord {
  int first_row, first_column, lane;
};

/// Returns the coordinates of warp number `warp` among the warps that share a matrix.
template <int kHeadDim>
__device__ __forceinline__ TransposeCoord transpose_place(int warp) {
  constexpr int kColumnBlocks = kHeadDim / kPrepareColumns;
  return {.first_row = warp / kColumnBlocks * kPrepareRows,
          .first_column = warp % kColumnBlocks * kPrepareColumns,
          .lane = static_cast<int>(threadIdx.x) % kWarpSize};
}

/// Transposes a warp's part of a head's matrix with `rows` rows; rows past the last are zeros. A lane has four columns
/// of four rows, namely every second of eight rows. It transposes them in registers; a row of the result is stored in
/// pieces of 64 bytes.
template <int kHeadDim>
__device__ __forceinline__ void transpose(const GlobalMatrix<const float>& matrix, const float* head, int rows,
                                          float* panels, TransposeCoord place) {
  const int group = place.lane / 8, column = place.first_column + place.lane % 8 * 4;
  const int row = place.first_row + group / 2 * 8 + group % 2;
  float4 read[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const bool exists = row + 2 * i < rows;
    read[i] = exists ? *reinterpret_cast<const float4*>(head + (row + 2 * i) * matrix.row_stride + column) : float4{};
  }
  float* const panel = panels + static_cast<std::int64_t>(place.first_row / kPanelFloats) * kPanelFloats * kHeadDim;
  const int vector = place.first_row % kPanelFloats / kPrepareRows * 4 + group;
  *panel_vector(panel, column, vector) = rounded(read[0].x, read[1].x, read[2].x, read[3].x);
  *panel_vector(panel, column + 1, vector) = rounded(read[0].y, read[1].y, read[2].y, read[3].y);
  *panel_vector(panel, column + 2, vector) = rounded(read[0].z, read[1].z, read[2].z, read[3].z);
  *panel_vector(panel, column + 3, vector) = rounded(read[0].w, read[1].w, read[2].w, read[3].w);
}

}  // namespace tbench::kernels::sm90_tf32
