// Products of a warp's fragments with tiles in shared memory, in bf16 and fp16, for the forward and backward kernels. A
// warp's rows are divided into blocks of 16, columns into blocks of 8; accumulators are float32.
#pragma once

#include "kernels/attention/common/smem_tile.cuh"

namespace tbench::kernels::sm80 {

/// Returns a lane's offset in a tile with rows of `bytes` bytes, for a left operand, or for a right operand that is
/// stored as [inner, outer] and loaded transposed.
__device__ __forceinline__ std::uint32_t row_major_offset(int lane, int bytes) {
  return lane % 16 * bytes + lane / 16 * 16;
}

/// Returns a lane's offset for a right operand stored as [outer, inner].
__device__ __forceinline__ std::uint32_t column_major_offset(int lane, int bytes) {
  return (lane % 8 + lane / 16 * 8) * bytes + lane / 8 % 2 * 16;
}

/// Computes sums += left right^T over head_dim. Both operands are tiles of padded rows, [rows, head_dim] and [cols,
/// head_dim]; `left` starts at the warp's rows.
template <class Element, int kHeadDim, int kRowBlocks, int kColBlocks>
__device__ __forceinline__ void multiply_by_transposed(float (&sums)[kRowBlocks][kColBlocks][4], int lane,
                                                       std::uint32_t left, std::uint32_t right) {
  constexpr int kRowBytes = row_bytes<Element>(kHeadDim);
  const std::uint32_t a_address = left + row_major_offset(lane, kRowBytes);
  const std::uint32_t b_address = right + column_major_offset(lane, kRowBytes);
#pragma unroll
  for (int inner = 0; inner < kHeadDim / 16; ++inner) {
    std::uint32_t a[kRowBlocks][4];
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) ldmatrix_x4(a[m], a_address + m * 16 * kRowBytes + inner * 32);
#pragma unroll
    for (int n = 0; n < kColBlocks; n += 2) {
      std::uint32_t b[4];
      ldmatrix_x4(b, b_address + n * 8 * kRowBytes + inner * 32);
#pragma unroll
      for (int m = 0; m < kRowBlocks; ++m) {
        mma_m16n8k16<Element>(sums[m][n], a[m], b[0], b[1]);
        mma_m16n8k16<Element>(sums[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

/// Converts scores to the next product's left operand: packs pairs of adjacent columns.
template <class Element, int kRowBlocks, int kColBlocks>
__device__ __forceinline__ void pack_scores(const float (&s)[kRowBlocks][kColBlocks][4],
                                            std::uint32_t (&packed)[kRowBlocks][kColBlocks][2]) {
#pragma unroll
  for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
    for (int n = 0; n < kColBlocks; ++n) {
      packed[m][n][0] = pack<Element>(s[m][n][0], s[m][n][1]);
      packed[m][n][1] = pack<Element>(s[m][n][2], s[m][n][3]);
    }
  }
}

/// Computes sums += left right over kColBlocks * 8 rows and kDimBlocks * 8 columns of `right`, a tile [cols, head_dim]
/// of padded rows. `left` holds scores in the layout of their accumulators, packed in pairs.
template <class Element, int kHeadDim, int kRowBlocks, int kDimBlocks, int kColBlocks>
__device__ __forceinline__ void multiply_by(float (&sums)[kRowBlocks][kDimBlocks][4], int lane,
                                            const std::uint32_t (&left)[kRowBlocks][kColBlocks][2],
                                            std::uint32_t right) {
  constexpr int kRowBytes = row_bytes<Element>(kHeadDim);
  const std::uint32_t b_address = right + row_major_offset(lane, kRowBytes);
#pragma unroll
  for (int n = 0; n < kColBlocks; n += 2) {
#pragma unroll
    for (int d = 0; d < kDimBlocks; d += 2) {
      std::uint32_t b[4];
      ldmatrix_x4_trans(b, b_address + n * 8 * kRowBytes + d * 16);
#pragma unroll
      for (int m = 0; m < kRowBlocks; ++m) {
        const std::uint32_t a[4]{left[m][n][0], left[m][n][1], left[m][n + 1][0], left[m][n + 1][1]};
        mma_m16n8k16<Element>(sums[m][d], a, b[0], b[1]);
        mma_m16n8k16<Element>(sums[m][d + 1], a, b[2], b[3]);
      }
    }
  }
}

}  // namespace tbench::kernels::sm80
