#include "kernels/attention/sm90/fwd/config.hpp"

#include <algorithm>

#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr std::size_t kCounterBytes = 256;  // one 32-bit number, padded to the alignment of the workspace

std::int64_t items(const AttentionShape& shape, int rows) {
  return block_count(shape.seq_q, rows) * shape.heads * shape.batch;
}

}  // namespace

bool has_instance(const AttentionProblem& problem, std::span<const std::int64_t> head_dims) {
  const bool element = problem.precision == Precision::kBf16 || problem.precision == Precision::kFp16;
  return element && std::ranges::find(head_dims, problem.shape.head_dim) != head_dims.end();
}

TileOrder forward_order(const AttentionShape& shape, int rows, bool in_turns) {
  constexpr std::int64_t kCachedBytes = std::int64_t{32} << 20;              // of the 50 MiB of an H200's L2 cache
  const std::int64_t bytes_of_head = 2 * shape.seq_kv * shape.head_dim * 2;  // K and V
  const std::int64_t heads = shape.batch * shape.heads, kv_heads = shape.batch * shape.key_heads();
  const std::int64_t cached = std::clamp<std::int64_t>(kCachedBytes / bytes_of_head, 1, kv_heads);
  const std::int64_t groups = block_count(kv_heads, cached);
  const std::int64_t heads_of_group = (in_turns ? block_count(kv_heads, groups) : cached) * shape.group();
  return {.tiles = static_cast<int>(block_count(shape.seq_q, rows)),
          .heads = static_cast<int>(heads_of_group),
          .items = static_cast<int>(items(shape, rows)),
          .last_group = static_cast<int>(block_count(heads, heads_of_group) - 1),
          .in_turns = in_turns};
}

TileDivmods forward_divisors(const TileOrder& order, const AttentionShape& shape) {
  const auto heads = static_cast<int>(shape.batch * shape.heads);
  return {.group_items = make_fast_divmod(order.tiles * order.heads),
          .group_heads = make_fast_divmod(order.heads),
          .last_group_heads = make_fast_divmod(heads - order.last_group * order.heads),
          .batch_heads = make_fast_divmod(static_cast<int>(shape.heads))};
}

bool forward_supports_layout(const AttentionProblem& problem) {
  const AttentionShape& shape = problem.shape;
  const AttentionLayout& layout = problem.layout;
  const TmaExtents queries{shape.batch, shape.heads, shape.seq_q, shape.head_dim};
  const TmaExtents keys{shape.batch, shape.key_heads(), shape.seq_kv, shape.head_dim};
  return tma_supports(layout.q, queries) && tma_supports(layout.o, queries) && tma_supports(layout.k, keys) &&
         tma_supports(layout.v, keys);
}

std::size_t forward_workspace_bytes(const FwdPlan& plan) { return plan.counted ? kCounterBytes : 0; }

FwdConfig forward_tile(FwdConfigId tiles) {
  switch (tiles) {
    case FwdConfigId::kM128N128:
      break;
    case FwdConfigId::kM192N128:
      return FwdM192N128::tile();
    case FwdConfigId::kM192N64:
      return FwdM192N64::tile();
    case FwdConfigId::kM192N64Wide:
      return FwdM192N64Wide::tile();
    case FwdConfigId::kM256N64:
      return FwdM256N64::tile();
    case FwdConfigId::kM128N64:
      return FwdM128N64::tile();
    case FwdConfigId::kM128N64x2:
      return FwdM128N64x2::tile();
    case FwdConfigId::kM64N128x2:
      return FwdM64N128x2::tile();
  }
  return FwdM128N128::tile();
}

Launch forward_launch(const AttentionShape& shape, FwdConfig tile, const DeviceLimits& limits) {
  return {.grid = {std::min<std::int64_t>(items(shape, rows(tile)), limits.multiprocessors), 1, 1},
          .threads = threads(tile),
          .shared_bytes = static_cast<std::size_t>(tile.teams * team_bytes(tile, static_cast<int>(shape.head_dim)) +
                                                   kSharedAlignment)};
}

}  // namespace tbench::kernels::sm90
