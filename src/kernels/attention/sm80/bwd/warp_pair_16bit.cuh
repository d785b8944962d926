// Two warps that share their rows (BwdConfig::sharing_warps). Each computes half of their scores and holds half of
// their gradients' columns, so that a fragment read from shared memory serves twice the products that one warp's 16
// rows would give it. For the gradients each warp also reads the other's half of P and dS from shared memory. Both are
// left operands, of which a lane holds the same elements in either warp.
//
// The CTA's barrier before each step is the only guard of the buffers: P and dS of a step overwrite only data that was
// read before it.
#pragma once

#include "kernels/attention/sm80/bwd/smem_16bit.cuh"

namespace tbench::kernels::sm80 {

__device__ __forceinline__ int partner(int warp) { return warp ^ 1; }

/// Each warp waits at a barrier of its own, at which the other only arrives. The first warp to come is thus not held up
/// before it has used its own half.
__device__ __forceinline__ void announce_scores(const WarpCoord& place) {
  named_barrier_arrive<2 * kWarpSize>(1 + partner(place.warp));
}
__device__ __forceinline__ void await_partner(const WarpCoord& place) {
  named_barrier_sync<2 * kWarpSize>(1 + place.warp);
}

/// Calls function(m, n, bytes) for each 16 by 16 of a warp's scores: row block, first 8-column block, and offset of the
/// lane's 16 bytes in the warp's P.
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

/// Stores a warp's packed P where take_probabilities() finds it.
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

/// Loads the partner's packed dS^T, columns from `first_col` on, from where store_scores() has put it for dQ.
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
