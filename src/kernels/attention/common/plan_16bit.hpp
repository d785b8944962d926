// Which tiles the 16-bit kernels use for a problem, and the launch that follows: pure host functions. The types of
// plans are those of every precision.
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
  int rows{};          // queries of a block
  int cols{};          // keys and values of a step
  int warps{};         // each takes rows / (warps / groups) queries
  int split_warps{1};  // of warps that share the same queries and divide the keys of a step
  int stages{1};       // buffers of K and of V: with 2 a step's copies have the whole step before to arrive
  int query_parts{1};  // tiles of queries in shared memory: with 2 the big parts of its elements, and the small ones
  int blocks_per_multiprocessor{};
  bool split_kv{};  // a block sees a part of a row's keys and leaves its sums to be combined
  bool operator==(const FwdConfig&) const = default;
};

struct BwdConfig {
  int kept_rows{};       // of the pair of matrices that a block keeps
  int streamed_rows{};   // of the other pair, a step
  int cols_at_once{};    // streamed rows of which a warp holds scores in registers
  int warps{};           // each takes kept_rows / warps * sharing_warps * groups rows
  int sharing_warps{1};  // kAtomic: warps of the same rows, 1 or 2, which divide columns and then head_dim
  int split_warps{1};    // of warps that share the same kept rows, divide the streamed ones, and are summed at the end
  int stages{};          // steps in shared memory or on their way: 1 or 2
  int score_stages{};    // kAtomic: buffers of dS, 1 or 2
  int dq_dim_warps{};    // kAtomic: warps that divide head_dim of dQ's share among them
  int blocks_per_multiprocessor{};
  bool operator==(const BwdConfig&) const = default;
};

/// Long sequences: as many queries a warp as registers allow, so that a fragment of K or V read from shared memory
/// serves two products. (Tiles are reached through types: nvcc 13.0 cannot name a kernel whose template argument is a
/// struct's value.)
struct FwdM128N64 {
  static constexpr FwdConfig tile(int head_dim) {
    if (head_dim > 128) return {.rows = 128, .cols = 64, .warps = 8, .stages = 1, .blocks_per_multiprocessor = 1};
    return {.rows = 128, .cols = 64, .warps = 4, .stages = head_dim > 64 ? 1 : 2, .blocks_per_multiprocessor = 2};
  }
};

/// Problems with too few long tiles to fill the GPU, and short causal ones, where half of a long tile on the diagonal
/// is masked: half the queries a block, twice the blocks.
struct FwdM64N64 {
  static constexpr FwdConfig tile(int head_dim) {
    return {.rows = 64,
            .cols = 64,
            .warps = 4,
            .stages = head_dim > 128 ? 1 : 2,
            .blocks_per_multiprocessor = head_dim > 80 ? 2 : 3};
  }
};

/// Problems with so few short tiles that each has a multiprocessor to itself, and the chain of steps that a warp makes
/// one after the other is all the time: groups of warps for the same queries divide the keys of a step. The fewer
/// queries a block has, the more blocks there are, and the fewer queries a key in shared memory serves. Up to 128.
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

/// Few tiles of queries and many keys: short tiles, each computed by several blocks that divide its keys (split-KV). Up
/// to 128.
struct FwdSplitKv {
  static constexpr FwdConfig tile(int head_dim) {
    FwdConfig tile = FwdM64N64::tile(head_dim);
    tile.split_kv = true;
    return tile;
  }
};

/// The queries of a block with groups, by the number of blocks of 64 queries: 16 up to an eighth of the
/// multiprocessors, 32 up to half, 64 up to all of them; 0 beyond: no groups.
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

/// Tiles of all heads.
[[nodiscard]] std::int64_t forward_tiles(const AttentionShape& shape, FwdConfig tile);

/// Whether long tiles serve a grid better than short ones: without a mask if not all short ones can run at once. A
/// causal mask leaves tiles of unequal work, of which more are wanted: only if long ones fill the multiprocessors about
/// twice over.
[[nodiscard]] bool long_tiles_pay(const AttentionShape& shape, FwdConfig long_tile, FwdConfig short_tile,
                                  int multiprocessors);

/// Whether `shape` is cut into long tiles: where they pay, but not for a causal mask over few keys.
[[nodiscard]] bool wants_long_forward_tile(const AttentionShape& shape, int multiprocessors);
/// The queries of a block whose warps divide the keys in groups; 0, no groups, where the grid is not small, the keys
/// are too few to be divided, or such a block does not fit.
[[nodiscard]] int split_warps_forward_rows(const AttentionShape& shape, const DeviceLimits& limits);

/// The keys of a problem, divided among blocks: `num_splits` blocks for each tile of queries, the i-th of which takes
/// keys [i * keys, (i + 1) * keys). `keys` is a multiple of a tile's queries, so that with a causal mask a block sees
/// keys of all its queries or of none.
struct SplitKv {
  int num_splits{1};
  int keys{};  // 0: all of them
  bool operator==(const SplitKv&) const = default;
};

/// The division of a problem's keys: so many parts that about all blocks with work run at once. One part, no division,
/// where the tiles of queries are more than multiprocessors (half of them without a mask, where all have the same work)
/// or the keys few.
[[nodiscard]] SplitKv forward_split_kv(const AttentionShape& shape, const DeviceLimits& limits);

/// What the blocks of a divided problem leave, in float32: bytes.
struct FwdWorkspace {
  std::size_t o_bytes{};    // [batch, heads, num_splits, seq_q, head_dim], rounded up to 256 bytes
  std::size_t lse_bytes{};  // [batch, heads, num_splits, seq_q]
  [[nodiscard]] std::size_t bytes() const { return o_bytes + lse_bytes; }
};
[[nodiscard]] FwdWorkspace forward_workspace(const AttentionShape& shape, SplitKv split_kv);

/// Tiles of queries by heads by sequences, times `num_splits`.
[[nodiscard]] Launch forward_launch(const AttentionShape& shape, FwdConfig tile, int num_splits = 1);

/// Of the kernel that combines the parts: each thread takes `kCombineElements` neighbours of a row.
constexpr int kCombineThreads = 128;
constexpr int kCombineElements = 4;
[[nodiscard]] Launch forward_combine_launch(const AttentionShape& shape);

/// Keys and values with dQ by atomic additions. Up to 80 a warp takes 32 keys, so that a fragment read from shared
/// memory serves two products; beyond, dK and dV of 32 keys would not fit its registers: two warps share 32 keys, of
/// 256 elements 16, and each holds half of their dK and dV.
struct BwdAtomic {
  static constexpr BwdConfig tile(int head_dim) {
    const bool wide = head_dim > 80;
    return {.kept_rows = head_dim > 128 ? 64 : 128,
            .streamed_rows = 64,
            .cols_at_once = head_dim == 80 ? 16 : 32,
            .warps = wide ? 8 : 4,
            .sharing_warps = wide ? 2 : 1,
            .stages = 2,
            // Two do not leave room for a second block with 80.
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

/// kSplit, where no warps share rows: dK and dV of 16 rows of this head_dim do not fit one warp's registers together,
/// and each has blocks of its own.
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
  kSplitFusedDelta,  // the latter without the former: every block computes the delta it needs
};

/// Which way the backward pass goes. `kAtomic` needs shared memory for dS besides the tiles, and blocks of keys for
/// more than half of the multiprocessors: on fewer the split kernel's two more products cost less than a GPU left
/// empty.
[[nodiscard]] BwdAlgorithm backward_method(const AttentionProblem& problem, const DeviceLimits& limits);

/// Blocks of `kept_rows` keys (twice if keys and values have their own) and, if split, of as many queries.
[[nodiscard]] Launch backward_launch(const AttentionProblem& problem, BwdConfig tile, BwdAlgorithm method);

/// Whether a split pass starts all heads' heaviest blocks first: with a causal mask, where some multiprocessors have
/// more than one. Up to 128.
[[nodiscard]] bool splits_heads_first(const AttentionProblem& problem, int multiprocessors);

/// What lies where in the workspace; bytes.
struct BwdWorkspace {
  std::size_t delta_bytes{};    // float32 [batch, heads, seq_q], rounded up to 256 bytes in 16 bits
  std::size_t lse_bytes{};      // kAtomic in 16 bits: as much, lse in base 2
  std::size_t dq_sums_bytes{};  // kAtomic in 16 bits: float32, queries of each head rounded up to kBackwardHelperRows
  [[nodiscard]] std::size_t bytes() const { return delta_bytes + lse_bytes + dq_sums_bytes; }
};

/// The tiles of a forward pass: which of the structs above, or of plan_32bit.hpp's.
enum class FwdConfigId { kM128N64, kM64N64, kWarpSplitM64, kWarpSplitM32, kWarpSplitM16, kSplitKv };

/// What is chosen for a forward pass, in every precision: made once a launch, and all that the launch needs to know.
struct FwdPlan {
  FwdConfigId tiles{};
  SplitKv split_kv{};
  std::size_t workspace_bytes{};
};
/// The same for a backward pass.
struct BwdPlan {
  BwdAlgorithm method{};
  bool splits_warps{};  // float32: warps of a block divide what it streams
  bool heads_first{};   // all heads' heaviest blocks start first
  BwdWorkspace workspace{};
};

/// @param problem  of bf16 or fp16, one that unsupported_16bit_reason() has nothing against
[[nodiscard]] FwdPlan plan_forward_16bit(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] BwdPlan plan_backward_16bit(const AttentionProblem& problem, const DeviceLimits& limits);

/// Why a problem has more blocks than the kernels count in an int; or nothing.
[[nodiscard]] std::optional<std::string> block_count_reason(const AttentionShape& shape);

/// Why a block of a problem that needs so many bytes of shared memory does not run; or nothing.
[[nodiscard]] std::optional<std::string> shared_memory_reason(const AttentionProblem& problem, std::size_t needed,
                                                              const DeviceLimits& limits);

/// Why a block's shared memory does not hold the tiles that every problem of this head_dim can need, or the blocks are
/// too many; or nothing. Extents are positive.
[[nodiscard]] std::optional<std::string> unsupported_16bit_reason(const AttentionProblem& problem,
                                                                  const DeviceLimits& limits);

}  // namespace tbench::kernels::sm80
