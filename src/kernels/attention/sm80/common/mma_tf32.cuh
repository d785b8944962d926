// Products of float32 matrices on the tensor cores, mma.m16n8k8 with TF32 operands. `k3xTf32` says how a product is
// made: one product of rounded operands (an error of 2^-11 of each), or three (3xTF32). For the latter each operand is
// the sum of two TF32 numbers, big + small, good to 2^-23, and the products of all parts but small * small, which lies
// below float32's rounding, are added.
//
// The tensor cores' additions truncate: in an accumulator that many products go into, errors have one sign and grow
// with their number. Sums of three products therefore start from zero, are of 32 terms at most, and are added to the
// longer sum by an ordinary addition, which rounds to nearest. Products with small parts are 2^-11 of the others: what
// the tensor cores lose of their sum is nothing, however long it is. TF32's rounding of operands is far above all that.
//
// Inf and NaN: a score, and an element of dQ, is what a float32 product gives; the small parts, NaN for an operand that
// is Inf or rounds to it, are left out where the big ones' sum is not finite. Sums over keys or queries that are
// rounded as they grow (add_exact_products) keep both in one accumulator and give NaN where float32 gives Inf: never a
// finite number. Two accumulators there are one instruction more for each matrix product.
//
// A wide reading of the instruction's inner extent saves all shuffles: any permutation of it serves, as long as both
// operands follow the same. Where scores become a left operand, the inner places l and l + 4 of a lane (l = lane % 4)
// stand for the scores' columns 2 l and 2 l + 1, which are what the lane holds of the product that made them; the right
// operand is then read from rows 2 l and 2 l + 1.
#pragma once

#include <cmath>

#include "kernels/attention/common/smem_tile.cuh"
#include "kernels/attention/sm80/common/tile_scheduler.cuh"

namespace tbench::kernels::sm80 {

/// Four words of an operand: all of a left one (16 by 8), or those of two neighbouring right ones (8 by 8 each).
template <bool k3xTf32>
struct Tf32Operand;
template <>
struct Tf32Operand<false> {
  std::uint32_t big[4];
};
template <>
struct Tf32Operand<true> {
  std::uint32_t big[4];
  std::uint32_t small[4];  // not rounded: of its 12 bits that may be set the tensor cores ignore one at most
};

template <bool k3xTf32>
__device__ __forceinline__ Tf32Operand<k3xTf32> to_operand(float x0, float x1, float x2, float x3) {
  const float x[4]{x0, x1, x2, x3};
  Tf32Operand<k3xTf32> operand;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    operand.big[i] = round_to_tf32(x[i]);
    if constexpr (k3xTf32) operand.small[i] = __float_as_uint(x[i] - __uint_as_float(operand.big[i]));
  }
  return operand;
}

/// The same for words from a tile in shared memory, TF32 numbers already if `kRounded`.
template <bool k3xTf32, bool kRounded>
__device__ __forceinline__ Tf32Operand<k3xTf32> to_operand_from_tile(float x0, float x1, float x2, float x3) {
  static_assert(!(k3xTf32 && kRounded), "rounding loses the small parts");
  if constexpr (kRounded) {
    return {{__float_as_uint(x0), __float_as_uint(x1), __float_as_uint(x2), __float_as_uint(x3)}};
  } else {
    return to_operand<k3xTf32>(x0, x1, x2, x3);
  }
}

/// Whether a block rounds to TF32, in shared memory, the tiles that it streams. With groups few warps read the same
/// rows: each rounds what it reads.
template <bool k3xTf32, int kSplitWarps>
constexpr bool kRoundsStreamedTiles = !k3xTf32 && kSplitWarps == 1;

/// Rounds what this thread copied of a tile. Once an element, where each fragment's reading would do it once for each
/// warp and each product that reads it; but then nothing else goes on, and where warps divide a tile's rows among them
/// rounding on reading takes less time.
template <int kRows, int kHeadDim, int kThreads>
__device__ __forceinline__ void round_own_elements(char* tile, bool vectors) {
  change_own_elements<float, kRows, kHeadDim, kThreads>(tile, tile, vectors,
                                                        [](float x) { return __uint_as_float(round_to_tf32(x)); });
}

/// The two parts of the operands of three products, of what this thread copied of a tile: big ones in its place, small
/// ones in another tile's. For operands that are read again and again; twice the memory for all would be too much.
template <int kRows, int kHeadDim, int kThreads>
__device__ __forceinline__ void split_own_elements(char* tile, char* small, bool vectors) {
  change_own_elements<float, kRows, kHeadDim, kThreads>(tile, small, vectors,
                                                        [](float x) { return x - __uint_as_float(round_to_tf32(x)); });
  round_own_elements<kRows, kHeadDim, kThreads>(tile, vectors);
}

/// Four 8x4 matrices of float32; lane i gives the address of row i % 8 of matrix i / 8.
template <bool k3xTf32, bool kRounded>
__device__ __forceinline__ Tf32Operand<k3xTf32> load_operand(std::uint32_t address) {
  std::uint32_t r[4];
  ldmatrix_x4(r, address);
  return to_operand_from_tile<k3xTf32, kRounded>(__uint_as_float(r[0]), __uint_as_float(r[1]), __uint_as_float(r[2]),
                                                 __uint_as_float(r[3]));
}

/// The same of two tiles that split_own_elements() has made, `small_parts` bytes apart.
__device__ __forceinline__ Tf32Operand<true> load_split_operand(std::uint32_t address, int small_parts) {
  Tf32Operand<true> operand;
  ldmatrix_x4(operand.big, address);
  ldmatrix_x4(operand.small, address + small_parts);
  return operand;
}

/// c[m][first + i] += left[m].*kPart right, for every m and the two right operands i. Neighbouring instructions write
/// different sums.
template <auto kPart, class Operand, int kRowBlocks, int kColBlocks>
__device__ __forceinline__ void multiply_pair(float (&c)[kRowBlocks][kColBlocks][4], int first,
                                              const Operand (&left)[kRowBlocks], const std::uint32_t (&right)[4]) {
#pragma unroll
  for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
    for (int i = 0; i < 2; ++i) mma_m16n8k8(c[m][first + i], left[m].*kPart, right[2 * i], right[2 * i + 1]);
  }
}

/// c += other, whose first column block is c's `first`.
template <int kRowBlocks, int kColBlocks, int kOtherColBlocks>
__device__ __forceinline__ void add(float (&c)[kRowBlocks][kColBlocks][4], int first,
                                    const float (&other)[kRowBlocks][kOtherColBlocks][4]) {
#pragma unroll
  for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
    for (int n = 0; n < kOtherColBlocks; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) c[m][first + n][i] += other[m][n][i];
    }
  }
}

/// c += small, the products with small parts, where c, the products of the big ones, is finite. Where it is not, small
/// is NaN as a rule, of any sign at least, and c is the result already: the small part of an infinite operand is Inf -
/// Inf.
template <int kRowBlocks, int kColBlocks>
__device__ __forceinline__ void add_to_finite(float (&c)[kRowBlocks][kColBlocks][4],
                                              const float (&small)[kRowBlocks][kColBlocks][4]) {
#pragma unroll
  for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
    for (int n = 0; n < kColBlocks; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (fabsf(c[m][n][i]) < INFINITY) c[m][n][i] += small[m][n][i];
      }
    }
  }
}

/// c[m][first] and c[m][first + 1] += the sum of a[i][m] b[i] over a few i, which is made in the tensor cores, the
/// products with small parts before the others, and rounded to nearest as it is added.
template <int kSteps, int kRowBlocks, int kColBlocks>
__device__ __forceinline__ void add_exact_products(float (&c)[kRowBlocks][kColBlocks][4], int first,
                                                   const Tf32Operand<true> (&a)[kSteps][kRowBlocks],
                                                   const Tf32Operand<true> (&b)[kSteps]) {
  static_assert(kSteps <= 4, "longer sums would show that the tensor cores truncate");
  float sums[kRowBlocks][2][4] = {};
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    multiply_pair<&Tf32Operand<true>::small>(sums, 0, a[i], b[i].big);
    multiply_pair<&Tf32Operand<true>::big>(sums, 0, a[i], b[i].small);
  }
#pragma unroll
  for (int i = 0; i < kSteps; ++i) multiply_pair<&Tf32Operand<true>::big>(sums, 0, a[i], b[i].big);
  add(c, first, sums);
  // These sums are independent of each other: without this, loads for many of them move ahead and take registers.
  __syncwarp();
}

/// c += the sum over `kInner` steps of 8 of the inner extent of left(m, step) right(n, step): functions that give the
/// operands of row block m, and of column blocks n and n + 1.
template <bool k3xTf32, int kInner, int kRowBlocks, int kColBlocks, class Left, class Right>
__device__ __forceinline__ void multiply_steps(float (&c)[kRowBlocks][kColBlocks][4], const Left& left,
                                               const Right& right) {
  if constexpr (k3xTf32) {
    constexpr int kSteps = kInner % 4 == 0 ? 4 : 2;  // of 8 terms: 32 at most
    float small[kRowBlocks][kColBlocks][4] = {};
#pragma unroll 2
    for (int first = 0; first < kInner; first += kSteps) {
      float big[kRowBlocks][kColBlocks][4] = {};
#pragma unroll
      for (int i = 0; i < kSteps; ++i) {
        Tf32Operand<true> a[kRowBlocks];
#pragma unroll
        for (int m = 0; m < kRowBlocks; ++m) a[m] = left(m, first + i);
#pragma unroll
        for (int n = 0; n < kColBlocks; n += 2) {
          const Tf32Operand<true> b = right(n, first + i);
          multiply_pair<&Tf32Operand<true>::small>(small, n, a, b.big);
          multiply_pair<&Tf32Operand<true>::big>(big, n, a, b.big);
          multiply_pair<&Tf32Operand<true>::big>(small, n, a, b.small);
        }
      }
      add(c, 0, big);
    }
    add_to_finite(c, small);
  } else {
    // Not further: loads moved to the front of a longer body take registers that the accumulators need.
#pragma unroll 4
    for (int step = 0; step < kInner; ++step) {
      Tf32Operand<false> a[kRowBlocks];
#pragma unroll
      for (int m = 0; m < kRowBlocks; ++m) a[m] = left(m, step);
#pragma unroll
      for (int n = 0; n < kColBlocks; n += 2) {
        multiply_pair<&Tf32Operand<false>::big>(c, n, a, right(n, step).big);
      }
    }
  }
}

/// A lane's byte offset in a tile with rows of `bytes`, for load_operand() of a left operand stored [row, inner].
__device__ __forceinline__ std::uint32_t left_offset(int lane, int bytes) {
  return static_cast<std::uint32_t>(lane % 16 * bytes + lane / 16 * kVectorBytes);
}
/// The same for two right operands, columns 0 to 7 and 8 to 15, stored [column, inner].
__device__ __forceinline__ std::uint32_t right_offset(int lane, int bytes) {
  return static_cast<std::uint32_t>((lane % 8 + lane / 16 * 8) * bytes + lane / 8 % 2 * kVectorBytes);
}

/// scores += left right^T, both stored [row, head_dim] in shared memory. `left` and `right` are addresses with
/// left_offset() and right_offset() in them. Where right's elements are TF32 numbers is `kRounded`; left's always are
/// unless `k3xTf32`. The bytes from left's big parts to its small ones are `kSmallParts`, or zero if it is not split.
template <bool k3xTf32, bool kRounded, int kHeadDim, int kSmallParts = 0, int kRowBlocks, int kColBlocks>
__device__ __forceinline__ void multiply_rows(float (&scores)[kRowBlocks][kColBlocks][4], std::uint32_t left,
                                              std::uint32_t right) {
  constexpr int kRowBytes = row_bytes<float>(kHeadDim);
  multiply_steps<k3xTf32, kHeadDim / 8>(
      scores,
      [&](int m, int inner) {
        const std::uint32_t address = left + m * 16 * kRowBytes + inner * 32;
        if constexpr (kSmallParts > 0) {
          return load_split_operand(address, kSmallParts);
        } else {
          return load_operand<k3xTf32, !k3xTf32>(address);
        }
      },
      [&](int n, int inner) { return load_operand<k3xTf32, kRounded>(right + n * 8 * kRowBytes + inner * 32); });
}

/// Two right operands of a product whose inner extent are the rows of a tile: columns 0 to 7 and 8 to 15 at `rows`,
/// which points to the lane's column in row 2 (lane % 4). Single words: pairs of columns would halve the loads, but
/// leave registers in an order that costs more moves than that.
template <bool k3xTf32, bool kRounded, int kHeadDim>
__device__ __forceinline__ Tf32Operand<k3xTf32> load_rows(const char* rows) {
  const float* const even = reinterpret_cast<const float*>(rows);
  const float* const odd = reinterpret_cast<const float*>(rows + row_bytes<float>(kHeadDim));
  return to_operand_from_tile<k3xTf32, kRounded>(even[0], odd[0], even[8], odd[8]);
}
/// A lane's byte offset for load_rows().
__device__ __forceinline__ int rows_offset(int lane, int bytes) { return lane % 4 * 2 * bytes + lane / 4 * 4; }

/// sums += scores rows, with `rows` stored [scores' column, head_dim]; a pointer with rows_offset() in it. `kRounded`:
/// the rows' elements are TF32 numbers.
template <bool k3xTf32, bool kRounded, int kHeadDim, int kRowBlocks, int kColBlocks>
__device__ __forceinline__ void accumulate_rows(float (&sums)[kRowBlocks][kHeadDim / 8][4],
                                                const float (&scores)[kRowBlocks][kColBlocks][4], const char* rows) {
  constexpr int kRowBytes = row_bytes<float>(kHeadDim);
  const auto left = [&](Tf32Operand<k3xTf32>(&a)[kRowBlocks], int n) {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
      const float(&s)[4] = scores[m][n];
      a[m] = to_operand<k3xTf32>(s[0], s[2], s[1], s[3]);
    }
  };
  if constexpr (k3xTf32) {
    Tf32Operand<true> a[kColBlocks][kRowBlocks];
#pragma unroll
    for (int n = 0; n < kColBlocks; ++n) left(a[n], n);
#pragma unroll
    for (int d = 0; d < kHeadDim / 8; d += 2) {
      Tf32Operand<true> b[kColBlocks];
#pragma unroll
      for (int n = 0; n < kColBlocks; ++n) b[n] = load_rows<true, false, kHeadDim>(rows + n * 8 * kRowBytes + d * 32);
      add_exact_products(sums, d, a, b);
    }
  } else {
#pragma unroll
    for (int n = 0; n < kColBlocks; ++n) {
      Tf32Operand<false> a[kRowBlocks];
      left(a, n);
#pragma unroll
      for (int d = 0; d < kHeadDim / 8; d += 2) {
        const Tf32Operand<false> b = load_rows<false, kRounded, kHeadDim>(rows + n * 8 * kRowBytes + d * 32);
        multiply_pair<&Tf32Operand<false>::big>(sums, d, a, b.big);
      }
    }
  }
}

/// Writes the rows of one warp's blocks that lie below `rows`, times factor(m, half).
template <int kHeadDim, int kRowBlocks, class Factor>
__device__ __forceinline__ void store_rows(const float (&sums)[kRowBlocks][kHeadDim / 8][4],
                                           const GlobalMatrix<float>& matrix, TileScheduler place, int first_row,
                                           int rows, int lane, Factor&& factor) {
  float* const head = matrix.head(place.batch(), place.head()) + lane % 4 * 2;
#pragma unroll
  for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + m * 16 + half * 8 + lane / 4;
      if (row >= rows) continue;
      float* const line = head + row * matrix.row_stride;
      const float scale = factor(m, half);
#pragma unroll
      for (int d = 0; d < kHeadDim / 8; ++d) {
        const float2 pair{sums[m][d][2 * half] * scale, sums[m][d][2 * half + 1] * scale};
        if (matrix.vectors) {
          *reinterpret_cast<float2*>(line + d * 8) = pair;
        } else {
          line[d * 8] = pair.x;
          line[d * 8 + 1] = pair.y;
        }
      }
    }
  }
}

}  // namespace tbench::kernels::sm80
