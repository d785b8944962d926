// Two warps that share their rows (BwdConfig::sharing_warps). Each warp computes half of the rows' scores and holds
// half of the gradients' columns, so that a fragment read from shared memory serves twice as many products as with 16
// rows per warp. For the gradients each warp also reads the other warp's half of P and dS from shared memory. Both are
// left operands, and the same lane holds the same elements of an operand in both warps.
//
// The CTA's barrier before each step is enough to protect the buffers: P and dS of a step overwrite only data that was
// read before that barrier.
#pragma once

#include "kernels/attention/sm80/bwd/smem_16bit.cuh"

namespace tbench::kernels::sm80 {

__device__ __forceinline__ int partner(int warp) { return warp ^ 1; }

/// Tell the partner that the scores are stored, or wait for the partner's scores. Each warp waits at its own barrier,
/// at which the partner only arrives, so a warp that is ahead can use its own half before it waits.
__device__ __forceinline__ void announce_scores(const WarpCoord& place) {
  named_barrier_arrive<2 * kWarpSize>(1 + partner(place.warp));
}
__device__ __forceinline__ void await_partner(const WarpCoord& place) {
  named_barrier_sync<2 * kWarpSize>(1 + place.warp);
}

/// Calls function(m, n, bytes) for each 16 by 16 block of a warp's scores, with its row block, its first 8-column
/// block, and the offset of the lane's 16 bytes in the warp's P.
template <class Geometry, class Function>
__device__ __forceinline__ void for_each_operand(int lane, Function&& function) {
#pragma unroll
  for (int m = 0; m < Geometry::kRowBlocks; ++m) {
#pragma unroll
    for (int n = 0; n < Geometry::kColBlocks; n += 2) {
      function(m, n, ((m * Geometry::kColBlocks + n) / 2 * kWarpSize + lane) * kVectorBytes);
    }
  }
}

/// Stores a warp's packed P to shared memory, from which the partner's take_probabilities() loads it.
template <class Geometry>
__device__ __forceinline__ void leave_probabilities(
    const std::uint32_t (&p)[Geometry::kRowBlocks][Geometry::kColBlocks][2], const BwdSmem<Geometry>& tiles) {
  char* const own = tiles.probabilities_pointer(tiles.place().warp);
  for_each_operand<Geometry>(tiles.place().lane, [&](int m, int n, int bytes) {
    *reinterpret_cast<uint4*>(own + bytes) = uint4{p[m][n][0], p[m][n][1], p[m][n + 1][0], p[m][n + 1][1]};
  });
}

/// Loads the partner's packed P.
template <class Geometry>
__device__ __forceinline__ void take_probabilities(std::uint32_t (&p)[Geometry::kRowBlocks][Geometry::kColBlocks][2],
                                                   const BwdSmem<Geometry>& tiles) {
  const char* const others = tiles.probabilities_pointer(partner(tiles.place().warp));
  for_each_operand<Geometry>(tiles.place().lane, [&](int m, int n, int bytes) {
    const uint4 operand = *reinterpret_cast<const uint4*>(others + bytes);
    p[m][n][0] = operand.x;
    p[m][n][1] = operand.y;
    p[m][n + 1][0] = operand.z;
    p[m][n + 1][1] = operand.w;
  });
}

/// Loads the partner's packed dS^T, from column `first_col` on, from the buffer to which store_scores() wrote it for
/// dQ.
template <class Geometry>
__device__ __forceinline__ void take_score_gradients(std::uint32_t (&ds)[Geometry::kRowBlocks][Geometry::kColBlocks][2],
                                                     const BwdSmem<Geometry>& tiles, int first_col) {
  constexpr int kScoreRowBytes = Geometry::kScoreRowBytes;
  const WarpCoord& place = tiles.place();
  const std::uint32_t address = tiles.scores() + Geometry::row_block(place.warp) * 16 * kScoreRowBytes + first_col * 2 +
                                row_major_offset(place.lane, kScoreRowBytes);
  for_each_operand<Geometry>(place.lane, [&](int m, int n, int) {
    std::uint32_t a[4];
    ldmatrix_x4(a, address + m * 16 * kScoreRowBytes + n * 16);
    ds[m][n][0] = a[0];
    ds[m][n][1] = a[1];
    ds[m][n + 1][0] = a[2];
    ds[m][n + 1][1] = a[3];
  });
}

}  // namespace tbench::kernels::sm80
