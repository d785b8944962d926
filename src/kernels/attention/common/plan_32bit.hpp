// Selection of tiles and launch configuration for the float32 sm80 kernels (pure host functions). The types are those
// in plan_16bit.hpp.
#pragma once

#include <optional>
#include <string>

#include "kernels/attention/common/plan_16bit.hpp"

namespace tbench::kernels::sm80 {

/// TF32, long sequences: 32 queries per warp. Two stages, and K/V tiles as large as shared memory allows with two CTAs
/// per SM.
struct FwdFp32Long {
  static constexpr FwdConfig tile(int head_dim) {
    return {.rows = 128,
            .cols = head_dim > 96 ? 32 : 64,
            .warps = 4,
            .stages = head_dim > 64 ? 1 : 2,
            .blocks_per_multiprocessor = head_dim > 16 ? 2 : 3};
  }
};

/// Half as many queries per CTA, for problems with too few long tiles to fill the GPU, and for all `k3xTf32` problems.
/// Three products need registers for their own sums and for both parts of operands, so a warp takes 16 queries, and 32
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

/// Several warps for the same queries, each with its share of the keys. For problems with so few short tiles that the
/// chain of a warp's products is all the time. Fewer queries per CTA mean more CTAs, but a key in shared memory serves
/// fewer queries.
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

/// CTAs for K/V tiles with atomic dQ. Up to head_dim 64 each warp takes 32 keys, so that a fragment read from shared
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

/// Half as many rows per CTA, and four warps for the same rows, each with a quarter of the streamed ones. For problems
/// with so few CTAs of BwdFp32Split that each has an SM to itself.
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

/// 64 keys per CTA, and two warps for the same keys, each with half of the queries. For longer sequences with too few
/// CTAs of BwdFp32Atomic for the GPU. Five products instead of the split pass's seven.
struct BwdFp32AtomicWarpSplit {
  /// The warps divide dQ's tile, streamed queries by head_dim, in 4 by 2, or in 2 by 4 at head_dim 128: there a loop
  /// over more than 32 streamed rows would take registers that accumulators need.
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

/// Returns why the shared memory of a CTA does not hold the tiles that problems of this head_dim can need, or why the
/// CTAs are too many; or nothing. Extents are positive.
[[nodiscard]] std::optional<std::string> unsupported_32bit_reason(const AttentionProblem& problem,
                                                                  const DeviceLimits& limits);

/// Whether a problem gets long tiles: TF32 only, if they fit and suit the grid.
[[nodiscard]] bool wants_long_forward_32bit_tile(const AttentionProblem& problem, const DeviceLimits& limits);
/// Queries per CTA with split warps, by the number of short tiles; 0, no split warps, beyond these limits and if such a
/// CTA does not fit. 3xTF32: 32 up to half of the SMs, 64 below all of them, with a causal mask twice as many. TF32,
/// with any mask: 16 up to an eighth of the SMs, 32 up to half, 64 up to all of them. For problems that do not want
/// long tiles.
[[nodiscard]] int split_warps_forward_32bit_rows(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] Launch forward_32bit_launch(const AttentionShape& shape, FwdConfig tile);

/// Selects the backward algorithm. `kAtomic` is two launches here: delta and a cleared dq, then the products. It needs
/// shared memory for dS next to the tiles, and K/V tiles for all SMs, or with split warps and without a mask for half
/// of them.
[[nodiscard]] BwdAlgorithm backward_32bit_method(const AttentionProblem& problem, const DeviceLimits& limits);
/// Whether split warps divide the streamed rows, with the algorithm that backward_32bit_method() gives. They do if they
/// fit and the usual CTAs are fewer than the SMs (split with a causal mask: fewer than twice the SMs; TF32: at most
/// half of the SMs).
[[nodiscard]] bool wants_split_warps_backward_32bit_tile(const AttentionProblem& problem, BwdAlgorithm method,
                                                         const DeviceLimits& limits);
[[nodiscard]] BwdConfig backward_32bit_tile(const AttentionProblem& problem, BwdAlgorithm method, bool splits_warps);
[[nodiscard]] Launch backward_32bit_launch(const AttentionShape& shape, BwdConfig tile, BwdAlgorithm method);

/// Returns the plan of a pass for a problem that unsupported_32bit_reason() accepts. The workspace of a backward pass
/// holds delta alone.
[[nodiscard]] FwdPlan plan_forward_32bit(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] BwdPlan plan_backward_32bit(const AttentionProblem& problem, const DeviceLimits& limits);

}  // namespace tbench::kernels::sm80
