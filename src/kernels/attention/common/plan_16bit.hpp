// Selection of tiles and launch configuration for the 16-bit sm80 kernels (pure host functions). The plan types serve
// every precision.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/attention/common/launch.hpp"
#include "tbench/kernels/attention.hpp"

namespace tbench::kernels::sm80 {

/// A literal type, so that a kernel takes it as a template parameter.
struct FwdConfig {
  int rows{};          // queries per CTA
  int cols{};          // keys per step
  int warps{};         // each takes rows / (warps / groups) queries
  int split_warps{1};  // groups of warps that share the same queries and divide the keys of a step
  int stages{1};       // stages of K and of V: with 2, a step's loads have the whole step before to arrive
  int query_parts{
      1};  // Q tiles in shared memory: with 2, one for the big parts of the elements and one for the small ones
  int blocks_per_multiprocessor{};
  bool split_kv{};  // a CTA sees a part of a row's keys and leaves its sums for the combine kernel
  bool operator==(const FwdConfig&) const = default;
};

struct BwdConfig {
  int kept_rows{};       // stationary rows per CTA
  int streamed_rows{};   // streamed rows per step
  int cols_at_once{};    // streamed rows whose scores a warp holds in registers at once
  int warps{};           // each takes kept_rows / warps * sharing_warps * groups rows
  int sharing_warps{1};  // kAtomic: warps per row group, 1 or 2, which divide columns and then head_dim
  int split_warps{
      1};  // groups of warps that share the same stationary rows, divide the streamed ones, and are summed at the end
  int stages{};        // steps in shared memory or in flight: 1 or 2
  int score_stages{};  // kAtomic: buffers of dS, 1 or 2
  int dq_dim_warps{};  // kAtomic: warps that divide head_dim of the CTA's dQ among them
  int blocks_per_multiprocessor{};
  bool operator==(const BwdConfig&) const = default;
};

/// Long sequences: as many queries per warp as registers allow, so that a fragment of K or V read from shared memory
/// serves two products. (Kernels reach configs through types because nvcc 13.0 cannot name a kernel whose template
/// argument is a struct's value.)
struct FwdM128N64 {
  static constexpr FwdConfig tile(int head_dim) {
    if (head_dim > 128) return {.rows = 128, .cols = 64, .warps = 8, .stages = 1, .blocks_per_multiprocessor = 1};
    return {.rows = 128, .cols = 64, .warps = 4, .stages = head_dim > 64 ? 1 : 2, .blocks_per_multiprocessor = 2};
  }
};

/// Half as many queries per CTA and twice as many CTAs: for problems with too few long tiles to fill the GPU, and for
/// short causal ones, where half of a long tile on the diagonal is masked.
struct FwdM64N64 {
  static constexpr FwdConfig tile(int head_dim) {
    return {.rows = 64,
            .cols = 64,
            .warps = 4,
            .stages = head_dim > 128 ? 1 : 2,
            .blocks_per_multiprocessor = head_dim > 80 ? 2 : 3};
  }
};

/// Groups of warps for the same queries divide the keys of a step. For problems with so few short tiles that each has
/// an SM to itself and the chain of a warp's steps is all the time. Fewer queries per CTA mean more CTAs, but a key in
/// shared memory serves fewer queries. Up to head_dim 128.
template <int kRows>
struct FwdWarpSplit {
  static_assert(kRows == 64 || kRows == 32 || kRows == 16);
  static constexpr FwdConfig tile(int head_dim) {
    const bool least = kRows == 16;
    return {.rows = kRows,
            .cols = least || head_dim > 64 ? 128 : 256,
            .warps = least ? 4 : 8,
            .split_warps = 4,
            .stages = 2,
            .blocks_per_multiprocessor = 1};
  }
};

/// Short tiles, each computed by several CTAs that divide its keys (split-KV). For few Q tiles and many keys. Up to
/// head_dim 128.
struct FwdSplitKv {
  static constexpr FwdConfig tile(int head_dim) {
    FwdConfig tile = FwdM64N64::tile(head_dim);
    tile.split_kv = true;
    return tile;
  }
};

/// Queries per CTA with split warps, by the number of 64-query tiles: 16 up to an eighth of the SMs, 32 up to half of
/// them, 64 up to all of them; 0, no split warps, beyond.
[[nodiscard]] constexpr int rows_of_split_warps_tiles(std::int64_t tiles, int multiprocessors) {
  return tiles > multiprocessors ? 0 : 2 * tiles > multiprocessors ? 64 : 8 * tiles > multiprocessors ? 32 : 16;
}

/// Bytes of one row of a tile in shared memory.
[[nodiscard]] constexpr std::size_t padded_row_bytes_16bit(int head_dim) {
  return static_cast<std::size_t>(head_dim) * 2 + 16;
}

[[nodiscard]] constexpr std::size_t forward_shared_bytes(FwdConfig tile, int head_dim) {
  return static_cast<std::size_t>(tile.rows + 2 * tile.stages * tile.cols) * padded_row_bytes_16bit(head_dim);
}

/// Number of Q tiles in all heads.
[[nodiscard]] std::int64_t forward_tiles(const AttentionShape& shape, FwdConfig tile);

/// Whether long tiles suit a grid better than short ones. Without a mask they do if the short ones cannot all run at
/// once. A causal mask leaves tiles of unequal work, and more of them balance better: long tiles then have to fill the
/// SMs about twice over.
[[nodiscard]] bool long_tiles_pay(const AttentionShape& shape, FwdConfig long_tile, FwdConfig short_tile,
                                  int multiprocessors);

/// Whether `shape` gets long tiles: if they suit it, but not for a causal mask over few keys.
[[nodiscard]] bool wants_long_forward_tile(const AttentionShape& shape, int multiprocessors);
/// Queries per CTA with split warps; 0, no split warps, if the grid is not small, the keys are too few to be divided,
/// or such a CTA does not fit.
[[nodiscard]] int split_warps_forward_rows(const AttentionShape& shape, const DeviceLimits& limits);

/// Division of a problem's keys among CTAs: `num_splits` CTAs per Q tile, the i-th of which takes keys [i * keys, (i +
/// 1) * keys). `keys` is a multiple of a tile's queries, so that a causal mask leaves a CTA keys for all of its queries
/// or for none.
struct SplitKv {
  int num_splits{1};
  int keys{};  // 0: all of them
  bool operator==(const SplitKv&) const = default;
};

/// Returns the division of a problem's keys into so many parts that about all CTAs with work run at once. There is one
/// part, no division, if Q tiles exceed the SMs (half of the SMs without a mask, where all tiles have equal work) or
/// keys are few.
[[nodiscard]] SplitKv forward_split_kv(const AttentionShape& shape, const DeviceLimits& limits);

/// Byte sizes of the float32 parts that the CTAs of a divided problem leave.
struct FwdWorkspace {
  std::size_t o_bytes{};    // [batch, heads, num_splits, seq_q, head_dim], rounded up to 256 bytes
  std::size_t lse_bytes{};  // [batch, heads, num_splits, seq_q]
  [[nodiscard]] std::size_t bytes() const { return o_bytes + lse_bytes; }
};
[[nodiscard]] FwdWorkspace forward_workspace(const AttentionShape& shape, SplitKv split_kv);

/// Launch with Q tiles times heads times sequences times `num_splits` CTAs.
[[nodiscard]] Launch forward_launch(const AttentionShape& shape, FwdConfig tile, int num_splits = 1);

/// Launch of the combine kernel, in which each thread takes `kCombineElements` adjacent elements of a row.
constexpr int kCombineThreads = 128;
constexpr int kCombineElements = 4;
[[nodiscard]] Launch forward_combine_launch(const AttentionShape& shape);

/// CTAs for K/V tiles with atomic dQ. Up to head_dim 80 each warp takes 32 keys, so that a fragment read from shared
/// memory serves two products. Beyond, dK and dV of 32 keys would not fit its registers. Two warps then share 32 keys
/// (16 at head_dim 256), and each holds half of dK and dV.
struct BwdAtomic {
  static constexpr BwdConfig tile(int head_dim) {
    const bool wide = head_dim > 80;
    return {.kept_rows = head_dim > 128 ? 64 : 128,
            .streamed_rows = 64,
            .cols_at_once = head_dim == 80 ? 16 : 32,
            .warps = wide ? 8 : 4,
            .sharing_warps = wide ? 2 : 1,
            .stages = 2,
            // At head_dim 80 two buffers would leave no room for a second CTA per SM.
            .score_stages = head_dim == 80 ? 1 : 2,
            .dq_dim_warps = head_dim > 128                                       ? 8
                            : head_dim == 128                                    ? 4
                            : head_dim == 96 || head_dim == 64 || head_dim == 32 ? 2
                                                                                 : 1,
            .blocks_per_multiprocessor = wide ? 1 : 2};
  }
};

/// All gradients in one launch without atomic additions.
struct BwdSplit {
  static constexpr BwdConfig tile(int head_dim) {
    const bool large = head_dim > 128;
    return {.kept_rows = 64,
            .streamed_rows = large ? 32 : 64,
            .cols_at_once = 32,
            .warps = 4,
            .stages = 2,
            .score_stages = 0,
            .dq_dim_warps = 1,
            .blocks_per_multiprocessor = large           ? 1
                                         : head_dim > 80 ? 2
                                                         : 3};
  }
};

/// Whether kSplit gives dK and dV CTAs of their own. At this head_dim dK and dV of 16 rows do not fit one warp's
/// registers together, and no warps share rows.
[[nodiscard]] constexpr bool splits_keys_from_values(int head_dim) { return head_dim > 128; }

[[nodiscard]] constexpr std::size_t backward_shared_bytes(BwdConfig tile, int head_dim, bool atomic) {
  const std::size_t row = padded_row_bytes_16bit(head_dim);
  const auto extent = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t statistics =
      std::max(2 * extent(tile.stages) * extent(tile.streamed_rows), 2 * extent(tile.kept_rows));
  const std::size_t scores =
      atomic ? extent(tile.score_stages) * extent(tile.kept_rows) * padded_row_bytes_16bit(tile.streamed_rows) : 0;
  const std::size_t shared_probabilities =
      tile.sharing_warps > 1 ? 2 * extent(tile.kept_rows) * extent(tile.streamed_rows) : 0;
  return 2 * extent(tile.kept_rows) * row + 2 * extent(tile.stages) * extent(tile.streamed_rows) * row + scores +
         shared_probabilities + statistics * sizeof(float);
}

enum class BwdAlgorithm {
  kAtomicDq,         // three launches: delta and cleared sums, products, conversion
  kSplit,            // delta, then all products in one launch
  kSplitFusedDelta,  // kSplit without the first launch: every CTA computes the delta it needs
};

/// Selects the backward algorithm. `kAtomic` needs shared memory for dS next to the tiles, and K/V tiles for more than
/// half of the SMs: with fewer, the split kernel's two more products cost less than a GPU left empty.
[[nodiscard]] BwdAlgorithm backward_method(const AttentionProblem& problem, const DeviceLimits& limits);

/// Launch with one CTA per `kept_rows` keys (two if dK and dV have CTAs of their own) and, if split, as many for
/// queries.
[[nodiscard]] Launch backward_launch(const AttentionProblem& problem, BwdConfig tile, BwdAlgorithm method);

/// Whether a split pass starts all heads' heaviest CTAs first: with a causal mask, if some SMs have more than one CTA.
/// Up to head_dim 128.
[[nodiscard]] bool splits_heads_first(const AttentionProblem& problem, int multiprocessors);

/// Byte sizes of the workspace's parts.
struct BwdWorkspace {
  std::size_t delta_bytes{};    // float32 [batch, heads, seq_q], rounded up to 256 bytes in 16 bits
  std::size_t lse_bytes{};      // kAtomic in 16 bits: as much, lse in base 2
  std::size_t dq_sums_bytes{};  // kAtomic in 16 bits: float32, queries of each head rounded up to kBackwardHelperRows
  [[nodiscard]] std::size_t bytes() const { return delta_bytes + lse_bytes + dq_sums_bytes; }
};

/// Names of the configs of a forward pass, the structs above or those in plan_32bit.hpp.
enum class FwdConfigId { kM128N64, kM64N64, kWarpSplitM64, kWarpSplitM32, kWarpSplitM16, kSplitKv };

/// Plan of a forward pass in any precision: made once per launch, and all that the launch needs to know.
struct FwdPlan {
  FwdConfigId tiles{};
  SplitKv split_kv{};
  std::size_t workspace_bytes{};
};
/// Plan of a backward pass.
struct BwdPlan {
  BwdAlgorithm method{};
  bool splits_warps{};  // float32: warps of a CTA divide the streamed rows
  bool heads_first{};   // the heaviest CTAs of all heads start first
  BwdWorkspace workspace{};
};

/// @param problem  bf16 or fp16, accepted by unsupported_16bit_reason()
[[nodiscard]] FwdPlan plan_forward_16bit(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] BwdPlan plan_backward_16bit(const AttentionProblem& problem, const DeviceLimits& limits);

/// Returns why a problem has more CTAs than the kernels count in an int, or nothing if it has not.
[[nodiscard]] std::optional<std::string> block_count_reason(const AttentionShape& shape);

/// Returns why the device cannot run a CTA with so many bytes of shared memory, or nothing if it can.
[[nodiscard]] std::optional<std::string> shared_memory_reason(const AttentionProblem& problem, std::size_t needed,
                                                              const DeviceLimits& limits);

/// Returns why the shared memory of a CTA does not hold the tiles that problems of this head_dim can need, or why the
/// CTAs are too many; or nothing. Extents are positive.
[[nodiscard]] std::optional<std::string> unsupported_16bit_reason(const AttentionProblem& problem,
                                                                  const DeviceLimits& limits);

}  // namespace tbench::kernels::sm80
