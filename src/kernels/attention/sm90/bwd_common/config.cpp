#include "kernels/attention/sm90/bwd_common/config.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr std::int64_t kStepRows = 128;  // a multiple of the queries per step of every kernel

std::int64_t key_tiles(const AttentionShape& shape) {
  return block_count(shape.seq_kv, backward_keys(static_cast<int>(shape.head_dim)));
}

/// Returns the number of heads whose K/V tiles are work tiles: heads of K and V, or parts of the heads that share one.
std::int64_t head_count(const AttentionShape& shape, int parts) { return shape.batch * shape.key_heads() * parts; }

/// Returns the number of groups of heads. With persistent CTAs a group has about two work tiles per SM, whose Q, dO and
/// dQ sums take 16 MiB (head_dim 64) or 20 MiB of the 50 MiB of an H200's L2 cache. With only one or one and a half
/// work tiles per SM and group, some CTAs would get up to 1.8 times their share. With one tile per CTA it is faster if
/// a group has as many heads as fit into 40 MiB. With grouped-query attention, whose heads are larger, a group has at
/// least about one work tile per SM: with fewer, the heaviest tiles of the last group would start last.
std::int64_t head_groups(const AttentionShape& shape, int parts) {
  constexpr std::int64_t kItems = 250;
  constexpr std::int64_t kGqaGroupItems = 128;
  constexpr std::int64_t kCachedBytes = std::int64_t{40} << 20;
  const std::int64_t heads = head_count(shape, parts);
  if (backward_blocks(shape) == BwdSchedule::kPersistent) {
    return std::clamp<std::int64_t>((key_tiles(shape) * heads + kItems / 2) / kItems, 1, heads);
  }
  // Q, dO and dQ sums
  const std::int64_t bytes_of_head = shape.group() / parts * shape.seq_q * shape.head_dim * (2 + 2 + 4);
  const std::int64_t fewest = shape.group() == 1 ? 1 : block_count(kGqaGroupItems, key_tiles(shape));
  return block_count(heads, std::clamp<std::int64_t>(kCachedBytes / bytes_of_head, std::min(fewest, heads), heads));
}

}  // namespace

BwdWorkspace backward_workspace(const AttentionShape& shape, const BwdPlan& plan) {
  const auto [blocks, sums, shares, parts, is_alone] = plan;
  const std::int64_t rows = block_count(shape.seq_q, kStepRows) * kStepRows;
  const std::int64_t kv_rows = key_tiles(shape) * backward_keys(static_cast<int>(shape.head_dim));
  const std::int64_t kv_sums = parts > 1 ? head_count(shape, parts) * kv_rows * shape.head_dim : 0;
  const auto all_rows = static_cast<std::size_t>(shape.batch * shape.heads * rows);
  const bool has_one_tile = sums == DqAccumulation::kPerHead && shares == 1 && key_tiles(shape) == 1;
  const bool leaves_no_sums = has_one_tile || sums == DqAccumulation::kNone;
  const auto apart = static_cast<std::size_t>(sums == DqAccumulation::kPerKvTile ? key_tiles(shape)
                                              : leaves_no_sums                   ? 0
                                                                                 : shares);
  return {.rows = rows,
          .lse_bytes = all_rows * sizeof(float),
          .delta_bytes = all_rows * sizeof(float),
          .sums_bytes = apart * all_rows * static_cast<std::size_t>(shape.head_dim) * sizeof(float),
          .kv_sums_bytes = static_cast<std::size_t>(kv_sums) * sizeof(float),
          .kv_rows = kv_rows};
}

BwdTileOrder backward_order(const AttentionShape& shape, int parts) {
  const std::int64_t heads = head_count(shape, parts);
  return {.tiles = static_cast<int>(key_tiles(shape)),
          .heads = static_cast<int>(block_count(heads, head_groups(shape, parts))),
          .items = static_cast<int>(key_tiles(shape) * heads)};
}

bool has_few_gqa_steps(const AttentionShape& shape) {
  const std::int64_t steps = block_count(shape.seq_q, backward_tile(static_cast<int>(shape.head_dim)).queries);
  return steps * steps <= kMaxGqaSteps / shape.group();
}

int backward_parts(const AttentionShape& shape, int multiprocessors) {
  // To store and add one part of dK and dV takes as long as the steps of this many queries of one head.
  const double queries_of_adding = shape.causal ? 600 : 300;
  const double tiles = static_cast<double>(key_tiles(shape) * head_count(shape, 1));
  const double queries = static_cast<double>(shape.group() * shape.seq_q);
  const auto duration = [&](std::int64_t parts) {
    const double count = static_cast<double>(parts), rounds = tiles * count / multiprocessors;
    const double busiest = shape.causal ? std::max(rounds, 2.0) : std::ceil(rounds);
    return busiest / count * (parts > 1 ? 1 + count * queries_of_adding / queries : 1);
  };
  std::int64_t best = 1;
  for (std::int64_t parts = 2; parts <= shape.group(); ++parts) {
    if (shape.group() % parts == 0 && duration(parts) < duration(best)) best = parts;
  }
  return static_cast<int>(best);
}

BwdSchedule backward_blocks(const AttentionShape& shape) {
  return shape.head_dim <= 80 ? BwdSchedule::kPersistent : BwdSchedule::kOneTilePerCta;
}

bool backward_supports_layout(const AttentionProblem& problem, const BwdPlan& plan) {
  const AttentionShape& shape = problem.shape;
  const AttentionLayout& layout = problem.layout;
  const TmaExtents queries{shape.batch, shape.heads, shape.seq_q, shape.head_dim};
  const TmaExtents keys{shape.batch, shape.key_heads(), shape.seq_kv, shape.head_dim};
  const bool writes_vectors = plan.sums == DqAccumulation::kPerHead || plan.sums == DqAccumulation::kNone;
  if (writes_vectors && !tma_supports(layout.dq, queries)) return false;
  if (plan.is_alone && !tma_supports(layout.o, queries)) return false;
  return tma_supports(layout.q, queries) && tma_supports(layout.grad_o, queries) && tma_supports(layout.k, keys) &&
         tma_supports(layout.v, keys) && tma_supports(layout.dk, keys) && tma_supports(layout.dv, keys);
}

Launch backward_launch(const AttentionShape& shape, BwdSchedule blocks, const DeviceLimits& limits, int parts) {
  const int items = backward_order(shape, parts).items;
  const int shared_bytes = backward_shared(static_cast<int>(shape.head_dim), blocks).end;
  if (blocks == BwdSchedule::kPersistent) {
    return {.grid = {std::min(items, limits.multiprocessors), 1, 1},
            .threads = kBackwardThreads,
            .shared_bytes = static_cast<std::size_t>(shared_bytes)};
  }
  return {.grid = {items, 1, 1},
          .threads = kBackwardThreads,
          .shared_bytes = static_cast<std::size_t>(shared_bytes + kSharedAlignment)};  // the kernel aligns its tiles
}

Launch backward_prepare_launch(const AttentionShape& shape) {
  return {.grid = {backward_workspace(shape, {}).rows / kBackwardHelperRows, shape.heads, shape.batch},
          .threads = kBackwardHelperThreads};
}

Launch backward_add_parts_launch(const AttentionShape& shape) {
  return {.grid = {2 * block_count(shape.seq_kv, kBackwardHelperRows), shape.key_heads(), shape.batch},
          .threads = kBackwardHelperThreads};
}

Launch backward_convert_launch(const AttentionShape& shape) { return backward_helper_launch(shape, 0); }

}  // namespace tbench::kernels::sm90
