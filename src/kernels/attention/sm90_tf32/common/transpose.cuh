// Transposition of a matrix with rounding to TF32, into panels as wgmma reads them: [row / 32, head_dim, 32], the 32
// rows of a panel next to each other, with the 128-byte swizzle.
//
// Each eight rows of a panel have the even ones first: 0 2 4 6 1 3 5 7. A thread holds the columns 2 l and 2 l + 1 of
// each eight of a product's results (l = lane % 4), and the inner places l and l + 4 of a left operand. In this order
// results are an operand of the panels' product as they stand.
#pragma once

#include "kernels/attention/common/smem_tile.cuh"
#include "kernels/attention/sm90/common/ptx.cuh"
#include "kernels/attention/sm90_tf32/common/config.hpp"

namespace tbench::kernels::sm90_tf32 {

/// Four contiguous floats of a row of a panel [rows, 32] with the 128-byte swizzle; `vector` is one of eight.
__device__ __forceinline__ float4* panel_vector(float* panel, int row, int vector) {
  return reinterpret_cast<float4*>(panel + row * kPanelFloats) + (vector ^ row % 8);
}

__device__ __forceinline__ float4 rounded(float x, float y, float z, float w) {
  const auto round = [](float value) { return __uint_as_float(round_to_tf32(value)); };
  return {round(x), round(y), round(z), round(w)};
}

/// Coordinates of a warp's 16 rows by 32 columns: eight lanes per row, four rows at a time.
struct TransposeCoord {
  int first_row, first_column, lane;
};

/// Returns the coordinates of the calling warp, the `warp`-th of those that share a matrix.
template <int kHeadDim>
__device__ __forceinline__ TransposeCoord transpose_place(int warp) {
  constexpr int kColumnBlocks = kHeadDim / kPrepareColumns;
  return {.first_row = warp / kColumnBlocks * kPrepareRows,
          .first_column = warp % kColumnBlocks * kPrepareColumns,
          .lane = static_cast<int>(threadIdx.x) % kWarpSize};
}

/// Transposes a warp's part of a head's matrix with `rows` rows; zeros beyond the last one. A lane has four columns of
/// four rows, every second of eight. They are transposed in registers; a row of the result is stored in pieces of 64
/// bytes.
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
