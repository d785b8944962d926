#include "kernels/attention/sm80/fwd/config.hpp"

#include <algorithm>

namespace tbench::kernels::sm80 {
namespace {

constexpr int kWarpSize = 32;
constexpr std::size_t kWorkspaceAlignment = 256;

// Maximum number of keys for which it is faster to divide the keys among groups of warps than among CTAs, whose sums
// pass through global memory.
constexpr std::int64_t kFewKeysToSplit = 1024;
constexpr std::int64_t kMinKeysPerSplit = 256;

std::size_t align(std::size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

}  // namespace

SplitKv forward_split_kv(const AttentionShape& shape, const DeviceLimits& limits) {
  const int head_dim = static_cast<int>(shape.head_dim);
  const FwdConfig tile = FwdSplitKv::tile(head_dim);
  const std::int64_t tiles = block_count(shape.seq_q, tile.rows) * shape.heads * shape.batch;
  const bool few_tiles = tiles * (shape.causal ? 1 : 2) <= limits.multiprocessors;
  if (head_dim > 128 || shape.seq_kv <= kFewKeysToSplit || !few_tiles) return {};
  const std::int64_t at_once = std::int64_t{limits.multiprocessors} * tile.blocks_per_multiprocessor;
  // With a causal mask a tile sees on average half of the keys, and its last part is half full.
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

Launch forward_32bit_launch(const AttentionShape& shape, FwdConfig tile) {
  return {.grid = {block_count(shape.seq_q, tile.rows), shape.heads, shape.batch},
          .threads = tile.warps * kWarpSize,
          .shared_bytes = forward_32bit_shared_bytes(tile, static_cast<int>(shape.head_dim))};
}

FwdConfig forward_tile(const AttentionProblem& problem, FwdConfigId tiles) {
  const int head_dim = static_cast<int>(problem.shape.head_dim);
  const bool is_16bit_stored = is_16bit(problem.precision), is_exact = problem.precision == Precision::kFp32;
  switch (tiles) {
    case FwdConfigId::kM128N64:
      return is_16bit_stored ? FwdM128N64::tile(head_dim) : FwdFp32Long::tile(head_dim);
    case FwdConfigId::kM64N64:
      break;
    case FwdConfigId::kWarpSplitM64:
      if (is_16bit_stored) return FwdWarpSplit<64>::tile(head_dim);
      return is_exact ? FwdFp32WarpSplit<true, 64>::tile(head_dim) : FwdFp32WarpSplit<false, 64>::tile(head_dim);
    case FwdConfigId::kWarpSplitM32:
      if (is_16bit_stored) return FwdWarpSplit<32>::tile(head_dim);
      return is_exact ? FwdFp32WarpSplit<true, 32>::tile(head_dim) : FwdFp32WarpSplit<false, 32>::tile(head_dim);
    case FwdConfigId::kWarpSplitM16:
      return is_16bit_stored ? FwdWarpSplit<16>::tile(head_dim) : FwdFp32WarpSplit<false, 16>::tile(head_dim);
    case FwdConfigId::kSplitKv:
      return FwdSplitKv::tile(head_dim);
  }
  if (is_16bit_stored) return FwdM64N64::tile(head_dim);
  return is_exact ? FwdFp32Short<true>::tile(head_dim) : FwdFp32Short<false>::tile(head_dim);
}

std::size_t forward_tile_bytes(const AttentionProblem& problem, FwdConfigId tiles) {
  const int head_dim = static_cast<int>(problem.shape.head_dim);
  const FwdConfig tile = forward_tile(problem, tiles);
  return is_16bit(problem.precision) ? forward_shared_bytes(tile, head_dim)
                                     : forward_32bit_shared_bytes(tile, head_dim);
}

}  // namespace tbench::kernels::sm80
