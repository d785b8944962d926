// Stores rows of accumulators from registers to global memory, without shared memory and without waiting for other
// warps.
#pragma once

#include "kernels/attention/common/ptx.cuh"

namespace tbench::kernels::sm90 {

/// Transposes the 4 x 4 words of a quad: word j of lane i becomes word i of lane j. `place` is the lane's index in its
/// quad.
__device__ __forceinline__ void transpose_quad(std::uint32_t (&r)[4], int place) {
#pragma unroll
  for (int bit = 1; bit < 4; bit *= 2) {
    const bool upper = place & bit;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j & bit) continue;
      const std::uint32_t other = __shfl_xor_sync(kFullWarp, upper ? r[j] : r[j | bit], bit);
      r[j] = upper ? other : r[j];
      r[j | bit] = upper ? r[j | bit] : other;
    }
  }
}

/// Stores a row of accumulators times `factor`. A quad holds two rows; `half` selects the first (0) or the second (1).
/// All lanes of a warp call it. A quad stores 32 columns at a time, as four blocks of eight: each thread holds two
/// columns of every block and stores one block. If the row does not exist (`exists`), nothing is stored.
/// @param row  destination, 16-byte aligned
template <class Element, int kCount>
__device__ __forceinline__ void store_row(Element* row, const float (&results)[kCount], int half, float factor,
                                          int place, bool exists) {
  constexpr int kBlocks = kCount / 4, kTogether = 4;
  const auto pair = [&](int block) {
    return pack<Element>(results[4 * block + 2 * half] * factor, results[4 * block + 2 * half + 1] * factor);
  };
#pragma unroll
  for (int block = 0; block + kTogether <= kBlocks; block += kTogether) {
    std::uint32_t r[kTogether]{pair(block), pair(block + 1), pair(block + 2), pair(block + 3)};
    transpose_quad(r, place);
    uint4* const destination = reinterpret_cast<uint4*>(row + (block + place) * 8);
    if (exists) *destination = {r[0], r[1], r[2], r[3]};
  }
#pragma unroll
  for (int block = kBlocks / kTogether * kTogether; block < kBlocks; ++block) {
    if (exists) *reinterpret_cast<std::uint32_t*>(row + block * 8 + place * 2) = pair(block);
  }
}

}  // namespace tbench::kernels::sm90
