#include "kernels/attention/sm90_tf32/bwd/config.hpp"

#include <algorithm>
#include <limits>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

constexpr std::int64_t kElementBytes = 4;

std::int64_t tile_count(const AttentionShape& shape, Stationary kept) {
  return block_count(kept == Stationary::kKv ? shape.seq_kv : shape.seq_q, kKeptRows);
}

std::int64_t items(const AttentionShape& shape, Stationary kept) {
  return tile_count(shape, kept) * shape.batch * shape.heads;
}

/// Whether the sm90 kernels are faster than the sm80 kernels. The sm80 kernels' one launch is faster for few tokens,
/// and their split of the keys for few tiles at head_dim 128. Not in src/kernels/experiments.csv: two heads, 1,024
/// tokens, head_dim 128, causal, on an H200 with a warm L2 cache, 52.6 us (sm80) and 55.7 us; four heads 100 and 58.6
/// us.
bool beats_ampere_kernels(const AttentionShape& shape, int multiprocessors) {
  constexpr std::int64_t kMinTokens = 128, kFewTokens = 256, kFewestDividedKeys = 512, kMostDividedKeys = 2048;
  const std::int64_t tokens = std::min(shape.seq_q, shape.seq_kv);
  const std::int64_t blocks = std::min(items(shape, Stationary::kKv), items(shape, Stationary::kQ));
  if (tokens < kMinTokens) return false;
  if (tokens < kFewTokens) return 5 * blocks >= multiprocessors;
  const bool has_few = 8 * blocks < multiprocessors;
  return shape.head_dim == 64 || !has_few || shape.seq_kv <= kFewestDividedKeys || shape.seq_kv > kMostDividedKeys;
}

}  // namespace

BwdWorkspace backward_workspace(const AttentionShape& shape) {
  const std::int64_t queries = block_count(shape.seq_q, kKeptRows) * kKeptRows;
  const std::int64_t keys = block_count(shape.seq_kv, kKeptRows) * kKeptRows;
  const auto bytes = [&](std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(shape.batch * shape.heads * rows * columns * kElementBytes);
  };
  return {.queries = queries,
          .keys = keys,
          .statistics_bytes = bytes(queries, 1),
          .queries_bytes = bytes(queries, shape.head_dim),
          .keys_bytes = bytes(keys, shape.head_dim)};
}

BwdTileOrder backward_order(const AttentionShape& shape, Stationary kept) {
  constexpr std::int64_t kCachedBytes = std::int64_t{32} << 20;  // part of the 50 MiB of an H200's L2 cache
  // Rows of Q, dO, dO^T and Q^T, or of K, V and K^T.
  const std::int64_t streamed_rows = kept == Stationary::kKv ? 4 * shape.seq_q : 3 * shape.seq_kv;
  const std::int64_t bytes_of_head = streamed_rows * shape.head_dim * kElementBytes;
  const std::int64_t heads = shape.batch * shape.heads, tiles = tile_count(shape, kept);
  const std::int64_t cached = std::clamp<std::int64_t>(kCachedBytes / bytes_of_head, 1, heads);
  return {.tiles = static_cast<int>(tiles),
          .heads = static_cast<int>(block_count(heads, block_count(heads, cached))),
          .items = static_cast<int>(tiles * heads)};
}

/// Ping-pong order in the kernel with stationary keys. At head_dim 128 it is 4 to 11 % faster from 1,024 tokens on with
/// 16 heads, and slower at 512 tokens or with more heads (rows of the kernel in src/kernels/experiments.csv). At
/// head_dim 64 it gains 1 to 2 % with a causal mask and loses 3 % without.
bool uses_pingpong(const AttentionShape& shape) {
  constexpr std::int64_t kMinQueries = 1024;
  return shape.head_dim == 128 && shape.seq_q >= kMinQueries;
}

bool takes_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  const bool has_instance =
      problem.precision == Precision::kTf32 && std::ranges::find(kHeadDims, shape.head_dim) != kHeadDims.end();
  constexpr std::int64_t kMaxWorkTiles = std::numeric_limits<int>::max();
  return is_hopper(limits) && has_instance && beats_ampere_kernels(shape, limits.multiprocessors) &&
         std::max(items(shape, Stationary::kKv), items(shape, Stationary::kQ)) <= kMaxWorkTiles;
}

bool supports_layout(const AttentionProblem& problem, const AttentionBackward& arguments) {
  const AttentionShape& shape = problem.shape;
  const TmaExtents queries{shape.batch, shape.heads, shape.seq_q, shape.head_dim, kElementBytes};
  const TmaExtents keys{shape.batch, shape.heads, shape.seq_kv, shape.head_dim, kElementBytes};
  return tma_supports(arguments.q, queries) && tma_supports(arguments.grad_o, queries) &&
         tma_supports(arguments.dq, queries) && tma_supports(arguments.k, keys) && tma_supports(arguments.v, keys) &&
         tma_supports(arguments.dk, keys) && tma_supports(arguments.dv, keys);
}

std::size_t backward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  return takes_backward(problem, limits) ? backward_workspace(problem.shape).bytes() : 0;
}

Launch backward_launch(const AttentionShape& shape, Stationary kept) {
  return {.grid = {backward_order(shape, kept).items, 1, 1},
          .threads = kBackwardThreads,
          .shared_bytes = static_cast<std::size_t>(stream_shared(shape.head_dim, kept).end +
                                                   kSharedAlignment)};  // the kernel aligns its tiles itself
}

Launch backward_prepare_launch(const AttentionShape& shape) {
  const BwdWorkspace workspace = backward_workspace(shape);
  return {
      .grid = {(workspace.queries + workspace.keys) / backward_prepare_rows(shape.head_dim), shape.heads, shape.batch},
      .threads = kPrepareThreads};
}

}  // namespace tbench::kernels::sm90_tf32
