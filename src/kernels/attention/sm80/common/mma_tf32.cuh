// Products of float32 matrices on the tensor cores, mma.m16n8k8 with TF32 operands. `k3xTf32` selects between one
// product of rounded operands (each with a relative error of 2^-11) and three products (3xTF32). In 3xTF32 each operand
// is the sum of two TF32 numbers, big + small, accurate to 2^-23. The products of all parts are added except small *
// small, which is below float32's rounding error.
//
// The tensor cores' additions truncate: if an accumulator receives many products, the errors have one sign and grow
// with their number. 3xTF32 therefore sums at most 32 terms in an accumulator that starts from zero, and adds this sum
// to the longer sum by an ordinary addition, which rounds to nearest. Products with small parts are 2^-11 of the
// products of big parts, so the truncation of their sum does not matter, however long it is. With TF32 the rounding of
// operands is a far larger error than all of these.
//
// Inf and NaN: scores and elements of dQ are the same as in a float32 product. The small part is NaN for an operand
// that is Inf or rounds to Inf. Products with small parts are therefore left out if the sum of the big parts' products
// is not finite. Sums over keys or queries (add_exact_products) keep both kinds of products in one accumulator. Where
// float32 yields Inf, they yield NaN, but never a finite number. Two accumulators would cost one more instruction per
// matrix product there.
//
// A permutation of the instruction's inner index makes shuffles unnecessary. Every permutation is correct if both
// operands use it. If scores become a left operand, the inner indices l and l + 4 of a lane (l = lane % 4) stand for
// the scores' columns 2 l and 2 l + 1. The lane already holds these columns as results of the product that computed the
// scores. The right operand is then read from rows 2 l and 2 l + 1.
#pragma once

#include <cmath>

#include "kernels/attention/common/smem_tile.cuh"
#include "kernels/attention/sm80/common/tile_scheduler.cuh"

namespace tbench::kernels::sm80 {

/// A lane's four words of a left operand (16 by 8), or of two adjacent right operands (8 by 8 each).
template <bool k3xTf32>
struct Tf32Operand;
template <>
struct Tf32Operand<false> {
  std::uint32_t big[4];
};
template <>
struct Tf32Operand<true> {
  std::uint32_t big[4];
  std::uint32_t small[4];  // not rounded to TF32: of the 12 bits that may be set, the tensor cores ignore at most one
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

/// Makes an operand from words of a tile in shared memory. If `kRounded`, the words are TF32 numbers already.
template <bool k3xTf32, bool kRounded>
__device__ __forceinline__ Tf32Operand<k3xTf32> to_operand_from_tile(float x0, float x1, float x2, float x3) {
  static_assert(!(k3xTf32 && kRounded), "rounding loses the small parts");
  if constexpr (kRounded) {
    return {{__float_as_uint(x0), __float_as_uint(x1), __float_as_uint(x2), __float_as_uint(x3)}};
  } else {
    return to_operand<k3xTf32>(x0, x1, x2, x3);
  }
}

/// Whether a CTA rounds streamed tiles to TF32 in shared memory. With split warps, few warps read the same rows, and
/// each warp rounds the fragments that it reads.
template <bool k3xTf32, int kSplitWarps>
constexpr bool kRoundsStreamedTiles = !k3xTf32 && kSplitWarps == 1;

/// Rounds the elements of a tile that this thread copied. Each element is rounded only once, instead of once per warp
/// and product that reads it. But no other work overlaps this rounding, so if warps divide a tile's rows among them, it
/// is faster to round fragments as they are read.
template <int kRows, int kHeadDim, int kThreads>
__device__ __forceinline__ void round_own_elements(char* tile, bool vectors) {
  change_own_elements<float, kRows, kHeadDim, kThreads>(tile, tile, vectors,
                                                        [](float x) { return __uint_as_float(round_to_tf32(x)); });
}

/// Splits the elements of a tile that this thread copied into the two parts that 3xTF32 multiplies: big parts in place,
/// small parts in another tile. For operands that are read many times. Storing all operands split would take twice the
/// memory, which does not fit.
template <int kRows, int kHeadDim, int kThreads>
__device__ __forceinline__ void split_own_elements(char* tile, char* small, bool vectors) {
  change_own_elements<float, kRows, kHeadDim, kThreads>(tile, small, vectors,
                                                        [](float x) { return x - __uint_as_float(round_to_tf32(x)); });
  round_own_elements<kRows, kHeadDim, kThreads>(tile, vectors);
}

/// Loads four 8x4 matrices of float32. Lane i passes the address of row i % 8 of matrix i / 8.
template <bool k3xTf32, bool kRounded>
__device__ __forceinline__ Tf32Operand<k3xTf32> load_operand(std::uint32_t address) {
  std::uint32_t r[4];
  ldmatrix_x4(r, address);
  return to_operand_from_tile<k3xTf32, kRounded>(__uint_as_float(r[0]), __uint_as_float(r[1]), __uint_as_float(r[2]),
                                                 __uint_as_float(r[3]));
}

/// Loads an operand from the two tiles that split_own_elements() wrote, `small_parts` bytes apart.
__device__ __forceinline__ Tf32Operand<true> load_split_operand(std::uint32_t address, int small_parts) {
  Tf32Operand<true> operand;
  ldmatrix_x4(operand.big, address);
  ldmatrix_x4(operand.small, address + small_parts);
  return operand;
}

/// Computes c[m][first + i] += left[m].*kPart right for every m and the two right operands i. Adjacent instructions
/// write different sums.
template <auto kPart, class Operand, int kRowBlocks, int kColBlocks>
__device__ __forceinline__ void multiply_pair(float (&c)[kRowBlocks][kColBlocks][4], int first,
                                              const Operand (&left)[kRowBlocks], const std::uint32_t (&right)[4]) {
#pragma unroll
  for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
    for (int i = 0; i < 2; ++i) mma_m16n8k8(c[m][first + i], left[m].*kPart, right[2 * i], right[2 * i + 1]);
  }
}

/// Computes c += other. The first column block of `other` is added to column block `first` of c.
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

/// Adds the products with small parts, `small`, to finite elements of c, the sums of products of big parts. A
/// non-finite element of c is already the result, and `small` is then usually NaN or has a meaningless sign, because
/// the small part of an infinite operand is Inf - Inf.
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

/// Adds the sum of a[i][m] b[i] over at most four i to c[m][first] and c[m][first + 1]. The tensor cores compute the
/// sum, beginning with the products with small parts; its addition to c rounds to nearest.
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
  // The sums of successive calls are independent. Without this barrier, the compiler moves loads for many of them
  // ahead, which takes registers.
  __syncwarp();
}

/// Computes c += the sum of left(m, step) right(n, step) over `kInner` steps of 8 inner elements each. The functions
/// return the operands of row block m and of column blocks n and n + 1.
template <bool k3xTf32, int kInner, int kRowBlocks, int kColBlocks, class Left, class Right>
__device__ __forceinline__ void multiply_steps(float (&c)[kRowBlocks][kColBlocks][4], const Left& left,
                                               const Right& right) {
  if constexpr (k3xTf32) {
    constexpr int kSteps = kInner % 4 == 0 ? 4 : 2;  // steps of 8 terms: at most 32 terms
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
    // The loop is not unrolled further: in a longer body, loads move to the front and take registers that the
    // accumulators need.
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

/// Returns a lane's byte offset in a tile with rows of `bytes` bytes, for load_operand() of a left operand stored as
/// [row, inner].
__device__ __forceinline__ std::uint32_t left_offset(int lane, int bytes) {
  return static_cast<std::uint32_t>(lane % 16 * bytes + lane / 16 * kVectorBytes);
}
/// Returns a lane's byte offset for two right operands, columns 0 to 7 and 8 to 15, stored as [column, inner].
__device__ __forceinline__ std::uint32_t right_offset(int lane, int bytes) {
  return static_cast<std::uint32_t>((lane % 8 + lane / 16 * 8) * bytes + lane / 8 % 2 * kVectorBytes);
}

/// Computes scores += left right^T. Both operands are stored as [row, head_dim] in shared memory; the addresses `left`
/// and `right` include left_offset() and right_offset(). If `kRounded`, the elements of `right` are TF32 numbers; the
/// elements of `left` are TF32 numbers unless `k3xTf32`. `kSmallParts` is the distance in bytes from the big parts of
/// `left` to its small parts, or 0 if `left` is not split.
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

/// Loads two right operands of a product whose inner extent is the rows of a tile: columns 0 to 7 and 8 to 15 at
/// `rows`, which points to the lane's column in row 2 (lane % 4). Loads are single words: loads of column pairs would
/// be half as many, but would leave registers in an order that costs more moves than they save.
template <bool k3xTf32, bool kRounded, int kHeadDim>
__device__ __forceinline__ Tf32Operand<k3xTf32> load_rows(const char* rows) {
  const float* const even = reinterpret_cast<const float*>(rows);
  const float* const odd = reinterpret_cast<const float*>(rows + row_bytes<float>(kHeadDim));
  return to_operand_from_tile<k3xTf32, kRounded>(even[0], odd[0], even[8], odd[8]);
}
/// Returns a lane's byte offset for load_rows().
__device__ __forceinline__ int rows_offset(int lane, int bytes) { return lane % 4 * 2 * bytes + lane / 4 * 4; }

/// Computes sums += scores rows. `rows` is stored as [column of scores, head_dim]; the pointer includes rows_offset().
/// If `kRounded`, the elements of `rows` are TF32 numbers.
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

/// Stores the rows of one warp's blocks times factor(m, half), except for rows from `rows` on.
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
