#include "kernels/attention/common/plan_16bit.hpp"

#include <fmt/format.h>

#include <limits>

namespace tbench::kernels::sm80 {
namespace {

constexpr int kWarpSize = 32;
constexpr std::size_t kWorkspaceAlignment = 256;

// Maximum of tokens up to which the split kernel computes delta itself and saves a launch. Its seven products instead
// of five cost less than the launches of the atomic kernel.
constexpr std::int64_t kShortSequence = 256;

// Maximum of keys up to which groups of warps divide the keys better than CTAs, whose sums cross memory.
constexpr std::int64_t kFewKeysToSplit = 1024;
constexpr std::int64_t kMinKeysPerSplit = 256;

std::size_t align(std::size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

}  // namespace

std::int64_t forward_tiles(const AttentionShape& shape, FwdConfig tile) {
  return block_count(shape.seq_q, tile.rows) * shape.heads * shape.batch;
}

bool long_tiles_pay(const AttentionShape& shape, FwdConfig long_tile, FwdConfig short_tile, int multiprocessors) {
  if (shape.causal) return forward_tiles(shape, long_tile) >= 2 * std::int64_t{multiprocessors};
  return forward_tiles(shape, short_tile) > std::int64_t{multiprocessors} * short_tile.blocks_per_multiprocessor;
}

bool wants_long_forward_tile(const AttentionShape& shape, int multiprocessors) {
  const int head_dim = static_cast<int>(shape.head_dim);
  const std::int64_t few_keys = head_dim <= 64 ? 1024 : 512;
  if (shape.causal && shape.seq_kv <= few_keys) return false;
  return long_tiles_pay(shape, FwdM128N64::tile(head_dim), FwdM64N64::tile(head_dim), multiprocessors);
}

int split_warps_forward_rows(const AttentionShape& shape, const DeviceLimits& limits) {
  const int head_dim = static_cast<int>(shape.head_dim);
  if (head_dim > 128) return 0;
  const int rows = rows_of_split_warps_tiles(forward_tiles(shape, FwdM64N64::tile(head_dim)), limits.multiprocessors);
  const auto rows_if = [&](FwdConfig tile, std::int64_t few_keys) {
    const bool fits = forward_shared_bytes(tile, head_dim) <= limits.shared_bytes_per_block;
    return fits && shape.seq_kv > few_keys ? tile.rows : 0;
  };
  switch (rows) {
    case 16:
      return rows_if(FwdWarpSplit<16>::tile(head_dim), 64);
    case 32:
      return rows_if(FwdWarpSplit<32>::tile(head_dim), 128);
    case 64:
      return rows_if(FwdWarpSplit<64>::tile(head_dim), 512);
    default:
      return 0;
  }
}

SplitKv forward_split_kv(const AttentionShape& shape, const DeviceLimits& limits) {
  const int head_dim = static_cast<int>(shape.head_dim);
  const FwdConfig tile = FwdSplitKv::tile(head_dim);
  const std::int64_t tiles = forward_tiles(shape, tile);
  const bool few_tiles = tiles * (shape.causal ? 1 : 2) <= limits.multiprocessors;
  if (head_dim > 128 || shape.seq_kv <= kFewKeysToSplit || !few_tiles) return {};
  const std::int64_t at_once = std::int64_t{limits.multiprocessors} * tile.blocks_per_multiprocessor;
  // With a causal mask a tile sees half of the keys on average, and its last part is half full on average.
  const std::int64_t keys = shape.causal ? block_count(tiles * shape.seq_kv / 2, at_once - tiles / 2)
                                         : block_count(shape.seq_kv, at_once / tiles);
  const std::int64_t part = std::max(block_count(keys, tile.rows) * tile.rows, kMinKeysPerSplit);
  return {.num_splits = static_cast<int>(block_count(shape.seq_kv, part)), .keys = static_cast<int>(part)};
}

FwdWorkspace forward_workspace(const AttentionShape& shape, SplitKv split_kv) {
  const auto rows = static_cast<std::size_t>(shape.batch * shape.heads * split_kv.num_splits * shape.seq_q);
  return {.o_bytes = align(rows * static_cast<std::size_t>(shape.head_dim) * sizeof(float)),
          .lse_bytes = rows * sizeof(float)};
}

Launch forward_launch(const AttentionShape& shape, FwdConfig tile, int num_splits) {
  return {.grid = {block_count(shape.seq_q, tile.rows), shape.heads, shape.batch * num_splits},
          .threads = tile.warps * kWarpSize,
          .shared_bytes = forward_shared_bytes(tile, static_cast<int>(shape.head_dim))};
}

Launch forward_combine_launch(const AttentionShape& shape) {
  return {
      .grid = {block_count(shape.seq_q * shape.head_dim / kCombineElements, kCombineThreads), shape.heads, shape.batch},
      .threads = kCombineThreads};
}

BwdAlgorithm backward_method(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  if (std::max(shape.seq_q, shape.seq_kv) <= kShortSequence) return BwdAlgorithm::kSplitFusedDelta;
  const int head_dim = static_cast<int>(shape.head_dim);
  if (problem.deterministic) return BwdAlgorithm::kSplit;
  const BwdConfig tile = BwdAtomic::tile(head_dim);
  const std::int64_t key_blocks = block_count(shape.seq_kv, tile.kept_rows) * shape.heads * shape.batch;
  const bool fits = backward_shared_bytes(tile, head_dim, /*atomic=*/true) <= limits.shared_bytes_per_block;
  return fits && 2 * key_blocks > limits.multiprocessors ? BwdAlgorithm::kAtomicDq : BwdAlgorithm::kSplit;
}

Launch backward_launch(const AttentionProblem& problem, BwdConfig tile, BwdAlgorithm method) {
  const AttentionShape& shape = problem.shape;
  const int head_dim = static_cast<int>(shape.head_dim);
  const bool atomic = method == BwdAlgorithm::kAtomicDq;
  const std::int64_t kv_blocks =
      block_count(shape.seq_kv, tile.kept_rows) * (!atomic && splits_keys_from_values(head_dim) ? 2 : 1);
  const std::int64_t q_blocks = atomic ? 0 : block_count(shape.seq_q, tile.kept_rows);
  return {.grid = {kv_blocks + q_blocks, shape.heads, shape.batch},
          .threads = tile.warps * kWarpSize,
          .shared_bytes = backward_shared_bytes(tile, head_dim, atomic)};
}

bool splits_heads_first(const AttentionProblem& problem, int multiprocessors) {
  const AttentionShape& shape = problem.shape;
  const int head_dim = static_cast<int>(shape.head_dim);
  if (!shape.causal || splits_keys_from_values(head_dim)) return false;
  const Grid grid = backward_launch(problem, BwdSplit::tile(head_dim), BwdAlgorithm::kSplit).grid;
  return grid.x * grid.y * grid.z > multiprocessors;
}

FwdPlan plan_forward_16bit(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  if (const SplitKv split_kv = forward_split_kv(shape, limits); split_kv.num_splits > 1) {
    return {.tiles = FwdConfigId::kSplitKv,
            .split_kv = split_kv,
            .workspace_bytes = forward_workspace(shape, split_kv).bytes()};
  }
  switch (split_warps_forward_rows(shape, limits)) {
    case 16:
      return {.tiles = FwdConfigId::kWarpSplitM16};
    case 32:
      return {.tiles = FwdConfigId::kWarpSplitM32};
    case 64:
      return {.tiles = FwdConfigId::kWarpSplitM64};
    default:
      return {.tiles = wants_long_forward_tile(shape, limits.multiprocessors) ? FwdConfigId::kM128N64
                                                                              : FwdConfigId::kM64N64};
  }
}

BwdPlan plan_backward_16bit(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  BwdPlan plan{.method = backward_method(problem, limits)};
  plan.heads_first = plan.method != BwdAlgorithm::kAtomicDq && splits_heads_first(problem, limits.multiprocessors);
  const auto bytes = [&](std::int64_t floats_per_head) {
    return static_cast<std::size_t>(shape.batch * shape.heads * floats_per_head) * sizeof(float);
  };
  BwdWorkspace& workspace = plan.workspace;
  if (plan.method != BwdAlgorithm::kSplitFusedDelta) workspace.delta_bytes = align(bytes(shape.seq_q));
  if (plan.method == BwdAlgorithm::kAtomicDq) {
    workspace.lse_bytes = workspace.delta_bytes;
    workspace.dq_sums_bytes =
        bytes(block_count(shape.seq_q, kBackwardHelperRows) * kBackwardHelperRows * shape.head_dim);
  }
  return plan;
}

std::optional<std::string> block_count_reason(const AttentionShape& shape) {
  constexpr std::int64_t kMinRows = 64;  // queries per CTA, except for split warps, which serve small grids alone
  const std::int64_t max_blocks =
      (block_count(shape.seq_q, kMinRows) + block_count(shape.seq_kv, kMinRows)) * shape.heads * shape.batch;
  if (max_blocks <= std::numeric_limits<int>::max()) return std::nullopt;
  return fmt::format("batch {}, heads {}, sequences of {} and {} make {} blocks: the kernels count up to {}",
                     shape.batch, shape.heads, shape.seq_q, shape.seq_kv, max_blocks, std::numeric_limits<int>::max());
}

std::optional<std::string> shared_memory_reason(const AttentionProblem& problem, std::size_t needed,
                                                const DeviceLimits& limits) {
  if (needed <= limits.shared_bytes_per_block) return std::nullopt;
  return fmt::format("head_dim {} in {} needs {} bytes of shared memory a block, the GPU has {}",
                     problem.shape.head_dim, to_string(problem.precision), needed, limits.shared_bytes_per_block);
}

std::optional<std::string> unsupported_16bit_reason(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (auto reason = block_count_reason(problem.shape)) return reason;
  const int head_dim = static_cast<int>(problem.shape.head_dim);
  return shared_memory_reason(problem,
                              std::max({forward_shared_bytes(FwdM128N64::tile(head_dim), head_dim),
                                        forward_shared_bytes(FwdM64N64::tile(head_dim), head_dim),
                                        backward_shared_bytes(BwdSplit::tile(head_dim), head_dim,
                                                              /*atomic=*/false)}),
                              limits);
}

}  // namespace tbench::kernels::sm80
