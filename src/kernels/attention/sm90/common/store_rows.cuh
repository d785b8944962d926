// Rows of accumulators to global memory from registers: it waits for nobody, and no shared memory has to wait for it.
#pragma once

#include "kernels/attention/common/ptx.cuh"

namespace tbench::kernels::sm90 {

/// The j-th of a quad's lane i becomes the i-th of lane j; `place`: the lane's in its quad.
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

/// A row times `factor`, the quad's first of two if `half` is 0; whole warps call. A quad has 32 columns at a time in
/// four blocks of eight, a thread two columns of each; it stores one block. Nothing is stored where no row `exists`.
/// @param row  at a multiple of 16 bytes
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
