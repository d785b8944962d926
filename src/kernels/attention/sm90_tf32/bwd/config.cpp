#include "kernels/attention/sm90_tf32/bwd/config.hpp"

#include <algorithm>

#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

constexpr std::int64_t kElementBytes = 4;

std::int64_t tile_count(const AttentionShape& shape, Stationary kept) {
  return block_count(kept == Stationary::kKv ? shape.seq_kv : shape.seq_q, kKeptRows);
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
  constexpr std::int64_t kCachedBytes = std::int64_t{32} << 20;  // of the 50 MiB of an H200's L2 cache
  // Number of rows of Q, dO, dO^T and Q^T together, or of K, V and K^T.
  const std::int64_t streamed_rows = kept == Stationary::kKv ? 4 * shape.seq_q : 3 * shape.seq_kv;
  const std::int64_t bytes_of_head = streamed_rows * shape.head_dim * kElementBytes;
  const std::int64_t heads = shape.batch * shape.heads, tiles = tile_count(shape, kept);
  const std::int64_t cached = std::clamp<std::int64_t>(kCachedBytes / bytes_of_head, 1, heads);
  return {.tiles = static_cast<int>(tiles),
          .heads = static_cast<int>(block_count(heads, block_count(heads, cached))),
          .items = static_cast<int>(tiles * heads)};
}

bool backward_supports_layout(const AttentionProblem& problem) {
  const AttentionShape& shape = problem.shape;
  const AttentionLayout& layout = problem.layout;
  const TmaExtents queries{shape.batch, shape.heads, shape.seq_q, shape.head_dim, kElementBytes};
  const TmaExtents keys{shape.batch, shape.heads, shape.seq_kv, shape.head_dim, kElementBytes};
  return tma_supports(layout.q, queries) && tma_supports(layout.grad_o, queries) && tma_supports(layout.dq, queries) &&
         tma_supports(layout.k, keys) && tma_supports(layout.v, keys) && tma_supports(layout.dk, keys) &&
         tma_supports(layout.dv, keys);
}

Launch backward_launch(const AttentionShape& shape, Stationary kept) {
  return {.grid = {backward_order(shape, kept).items, 1, 1},
          .threads = kBackwardThreads,
          .shared_bytes = static_cast<std::size_t>(stream_shared(shape.head_dim, kept).end +
                                                   kSharedAlignment)};  // the kernel aligns its tiles
}

Launch backward_prepare_launch(const AttentionShape& shape) {
  const BwdWorkspace workspace = backward_workspace(shape);
  return {
      .grid = {(workspace.queries + workspace.keys) / backward_prepare_rows(shape.head_dim), shape.heads, shape.batch},
      .threads = kPrepareThreads};
}

}  // namespace tbench::kernels::sm90_tf32
