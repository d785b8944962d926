// Which tiles the float32 kernels use for a problem, and the launch that follows: pure host functions. The types are
// those of the 16-bit plan.
#pragma once

#include <optional>
#include <string>

#include "kernels/attention/common/plan_16bit.hpp"

namespace tbench::kernels::sm80 {

/// TF32, long sequences: 32 queries a warp. Two buffers and the tile of keys are as large as shared memory allows with
/// two blocks a multiprocessor.
struct FwdFp32Long {
  static constexpr FwdConfig tile(int head_dim) {
    return {.rows = 128,
            .cols = head_dim > 96 ? 32 : 64,
            .warps = 4,
            .stages = head_dim > 64 ? 1 : 2,
            .blocks_per_multiprocessor = head_dim > 16 ? 2 : 3};
  }
};

/// Problems with too few long tiles to fill the GPU, half the queries a block; and all that are `k3xTf32`: three
/// products need registers for their own sums and for both parts of operands, so that a warp takes 16 queries, and 32
/// keys at once.
template <bool k3xTf32>
struct FwdFp32Short {
  static constexpr FwdConfig tile(int head_dim) {
    if (k3xTf32) {
      return {.rows = 64,
              .cols = 32,
              .warps = 4,
              .stages = head_dim == 80 || head_dim == 96 ? 2 : 1,
              .query_parts = 2,
              .blocks_per_multiprocessor = head_dim <= 64 ? 3 : 2};
    }
    return {.rows = 64,
            .cols = head_dim > 80 ? 32 : 64,
            .warps = 4,
            .stages = 2,
            .blocks_per_multiprocessor = head_dim > 32 ? 2 : 3};
  }
};

/// Problems with so few short tiles that the chain of products that a warp makes one after the other is all the time:
/// several warps for the same queries, each with its share of the keys. The fewer queries a block has, the more blocks
/// there are, and the fewer queries a key in shared memory serves.
template <bool k3xTf32, int kRows>
struct FwdFp32WarpSplit {
  static_assert(kRows == 64 || kRows == 32 || (kRows == 16 && !k3xTf32));
  static constexpr FwdConfig tile(int head_dim) {
    if (k3xTf32) {
      return {.rows = kRows,
              .cols = 64,
              .warps = 8,
              .split_warps = 128 / kRows,
              .stages = kRows == 32 && head_dim > 80 ? 1 : 2,
              .query_parts = 2,
              .blocks_per_multiprocessor = 64 / kRows};
    }
    const bool least = kRows == 16;
    return {.rows = kRows,
            .cols = least ? 64 : 128,
            .warps = least ? 4 : 8,
            .split_warps = 4,
            .stages = least || (kRows == 64 && head_dim <= 64) ? 2 : 1,
            .blocks_per_multiprocessor = 1};
  }
};

/// Bytes of one row of a tile in shared memory.
[[nodiscard]] constexpr std::size_t padded_row_bytes_32bit(int head_dim) {
  return static_cast<std::size_t>(head_dim) * 4 + 16;
}

[[nodiscard]] constexpr std::size_t forward_32bit_shared_bytes(FwdConfig tile, int head_dim) {
  return static_cast<std::size_t>(tile.query_parts * tile.rows + 2 * tile.stages * tile.cols) *
         padded_row_bytes_32bit(head_dim);
}

/// Keys and values with dQ by atomic additions. Up to 64 a warp takes 32 keys, so that a fragment read from shared
/// memory serves two products; beyond, dK and dV of 32 keys would not fit its registers.
template <bool k3xTf32>
struct BwdFp32Atomic {
  static constexpr BwdConfig tile(int head_dim) {
    const bool widest = head_dim == 128;
    return {.kept_rows = head_dim == 80 || head_dim == 96 ? 64 : 128,
            .streamed_rows = head_dim == 80 || head_dim <= 32 ? 64 : 32,
            .cols_at_once = k3xTf32 && head_dim <= 64 ? 16 : 32,
            .warps = widest ? 8 : 4,
            .stages = head_dim <= 32 || head_dim == 96 ? 2 : 1,
            .score_stages = 1,
            .dq_dim_warps = widest                             ? 4
                            : head_dim == 16 || head_dim == 80 ? 1
                                                               : 2,
            .blocks_per_multiprocessor = widest ? 1 : 2};
  }
};

/// All gradients in one launch without atomic additions.
template <bool k3xTf32>
struct BwdFp32Split {
  static constexpr BwdConfig tile(int head_dim) {
    return {.kept_rows = 64,
            .streamed_rows = head_dim > 32 ? 32 : 64,
            .cols_at_once = k3xTf32 ? 16 : 32,
            .warps = 4,
            .stages = head_dim > 96 ? 1 : 2,
            .score_stages = 0,
            .dq_dim_warps = 1,
            .blocks_per_multiprocessor = k3xTf32 || head_dim > 64 ? 2 : 3};
  }
};

/// Problems with so few blocks of BwdFp32Split that each has a multiprocessor to itself: half the rows a block, and
/// four warps for the same rows, each with a quarter of the streamed ones.
struct BwdFp32WarpSplit {
  static constexpr BwdConfig tile(int /*head_dim*/) {
    return {.kept_rows = 32,
            .streamed_rows = 64,
            .cols_at_once = 16,
            .warps = 8,
            .split_warps = 4,
            .stages = 2,
            .score_stages = 0,
            .dq_dim_warps = 1,
            .blocks_per_multiprocessor = 1};
  }
};

/// Longer sequences, but too few blocks of BwdFp32Atomic for the GPU: 64 keys a block, and two warps for the same
/// keys, each with half of the queries. Five products instead of the seven of a split pass.
struct BwdFp32AtomicWarpSplit {
  /// The warps divide dQ's tile, streamed queries by head_dim, in 4 by 2, or 2 by 4 at 128: a loop over more than 32
  /// streamed rows would take registers there that accumulators need.
  static constexpr bool serves(int head_dim) { return head_dim % 32 == 0; }
  static constexpr BwdConfig tile(int head_dim) {
    return {.kept_rows = 64,
            .streamed_rows = head_dim > 96 ? 32 : 64,
            .cols_at_once = 16,
            .warps = 8,
            .split_warps = 2,
            .stages = 2,
            .score_stages = 1,
            .dq_dim_warps = head_dim > 96 ? 4 : 2,
            .blocks_per_multiprocessor = head_dim > 32 ? 1 : 2};
  }
};

[[nodiscard]] constexpr std::size_t backward_32bit_shared_bytes(BwdConfig tile, int head_dim, bool atomic) {
  const auto extent = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t statistics =
      std::max(2 * extent(tile.stages) * extent(tile.streamed_rows), 2 * extent(tile.kept_rows));
  const std::size_t rows = 2 * extent(tile.kept_rows) + 2 * extent(tile.stages) * extent(tile.streamed_rows);
  const std::size_t scores = atomic ? extent(tile.streamed_rows) * padded_row_bytes_32bit(tile.kept_rows) : 0;
  return rows * padded_row_bytes_32bit(head_dim) + scores + statistics * sizeof(float);
}

/// Why a block's shared memory does not hold the tiles that every problem of this head_dim can need, or a grid not the
/// blocks; or nothing. Extents are positive.
[[nodiscard]] std::optional<std::string> unsupported_32bit_reason(const AttentionProblem& problem,
                                                                  const DeviceLimits& limits);

/// Whether a problem is cut into long tiles: TF32 alone, where they fit and pay.
[[nodiscard]] bool wants_long_forward_32bit_tile(const AttentionProblem& problem, const DeviceLimits& limits);
/// The queries of a block whose warps divide the keys in groups, by the number of short tiles: 32 up to half of the
/// multiprocessors, 64 below all of them, with a causal mask each up to twice as many (TF32, whatever the mask: 16 up
/// to an eighth, 32 up to half, 64 up to all of them); 0 beyond, and where such a block does not fit: no groups. For
/// problems that do not want long tiles.
[[nodiscard]] int split_warps_forward_32bit_rows(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] Launch forward_32bit_launch(const AttentionShape& shape, FwdConfig tile);

/// Which way the backward pass goes. `kAtomic` is here two launches: delta and a cleared dq, then the products. It
/// needs blocks of keys enough to fill the multiprocessors, or with groups and without a mask half of them, and shared
/// memory for dS besides the tiles.
[[nodiscard]] BwdAlgorithm backward_32bit_method(const AttentionProblem& problem, const DeviceLimits& limits);
/// Whether groups of warps divide what is streamed, with the method that backward_32bit_method() gives: if the usual
/// blocks are fewer than the multiprocessors (split: with a causal mask than twice those; TF32: half of them at most),
/// and if it fits.
[[nodiscard]] bool wants_split_warps_backward_32bit_tile(const AttentionProblem& problem, BwdAlgorithm method,
                                                         const DeviceLimits& limits);
[[nodiscard]] BwdConfig backward_32bit_tile(const AttentionProblem& problem, BwdAlgorithm method, bool splits_warps);
[[nodiscard]] Launch backward_32bit_launch(const AttentionShape& shape, BwdConfig tile, BwdAlgorithm method);

/// The choice for a pass of a problem that unsupported_32bit_reason() has nothing against. Backward's workspace holds
/// delta alone.
[[nodiscard]] FwdPlan plan_forward_32bit(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] BwdPlan plan_backward_32bit(const AttentionProblem& problem, const DeviceLimits& limits);

}  // namespace tbench::kernels::sm80
