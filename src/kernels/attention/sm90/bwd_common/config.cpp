#include "kernels/attention/sm90/bwd_common/config.hpp"

#include <algorithm>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/sm90/bwd_persistent/per_head_config.hpp"
#include "kernels/attention/sm90/bwd_split/config.hpp"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr std::int64_t kStepRows = 128;  // a multiple of every step's queries

std::int64_t key_tiles(const AttentionShape& shape) {
  return block_count(shape.seq_kv, backward_keys(static_cast<int>(shape.head_dim)));
}

/// Number of work tiles: one per K/V tile and head.
std::int64_t item_count(const AttentionShape& shape) { return key_tiles(shape) * shape.batch * shape.heads; }

/// Whether the sm90 kernels are faster than the sm80 kernels where kPerHead does not apply. Up to 255 tokens the sm80
/// kernels' single launch is faster, then the sm90 kernels if they have many CTAs, and from 1,024 tokens on (512 at
/// head_dim 128) always. At head_dim 256 they are from 64 tokens on; fewer were not measured.
bool beats_ampere_kernels(const AttentionShape& shape, int multiprocessors) {
  const std::int64_t tokens = std::min(shape.seq_q, shape.seq_kv), blocks = item_count(shape);
  if (shape.head_dim == 256) return tokens >= 64;
  if (tokens >= (shape.head_dim == 64 ? 1024 : 512)) return true;
  if (tokens >= 512) return 8 * blocks >= 3 * std::int64_t{multiprocessors};
  return tokens >= 256 && 3 * blocks >= 2 * std::int64_t{multiprocessors};
}

/// Whether kPerKvTile is faster than kAtomic. It is for up to two K/V tiles per head; with more it loses (51.7 us with
/// kAtomic, 60.8 with kPerKvTile on an H100 at head_dim 64, batch 4, 20 heads, 512 tokens, no mask). At head_dim 128 it
/// also loses where work tiles are fewer than SMs.
bool sums_apart_are_faster(const AttentionShape& shape, int multiprocessors) {
  constexpr std::int64_t kFewTiles = 2;
  if (shape.head_dim > 128 || key_tiles(shape) > kFewTiles) return false;
  return shape.head_dim < 128 || item_count(shape) > multiprocessors;
}

/// Number of groups of heads. Persistent CTAs get about two work tiles per SM and group, whose Q, dO and dQ sums are 16
/// MiB (head_dim 64) or 20 MiB of the 50 MiB of an H200's L2 cache. With one work tile per SM, or one and a half, some
/// CTAs would get up to 1.8 times their share. With one tile per CTA a group has as many heads as 40 MiB hold, which is
/// faster there.
std::int64_t head_groups(const AttentionShape& shape) {
  constexpr std::int64_t kItems = 250;
  constexpr std::int64_t kCachedBytes = std::int64_t{40} << 20;
  const std::int64_t heads = shape.batch * shape.heads;
  if (backward_blocks(shape) == BwdSchedule::kPersistent) {
    return std::clamp<std::int64_t>((item_count(shape) + kItems / 2) / kItems, 1, heads);
  }
  const std::int64_t bytes_of_head = shape.seq_q * shape.head_dim * (2 + 2 + 4);  // Q, dO and dQ sums
  return block_count(heads, std::clamp<std::int64_t>(kCachedBytes / bytes_of_head, 1, heads));
}

}  // namespace

BwdWorkspace backward_workspace(const AttentionShape& shape, DqAccumulation sums, int shares) {
  const std::int64_t rows = block_count(shape.seq_q, kStepRows) * kStepRows;
  const auto all_rows = static_cast<std::size_t>(shape.batch * shape.heads * rows);
  const bool has_one_tile = sums == DqAccumulation::kPerHead && shares == 1 && key_tiles(shape) == 1;
  const bool leaves_no_sums = has_one_tile || sums == DqAccumulation::kNone;
  const auto apart = static_cast<std::size_t>(sums == DqAccumulation::kPerKvTile ? key_tiles(shape)
                                              : leaves_no_sums                   ? 0
                                                                                 : shares);
  return {.rows = rows,
          .lse_bytes = all_rows * sizeof(float),
          .delta_bytes = all_rows * sizeof(float),
          .sums_bytes = apart * all_rows * static_cast<std::size_t>(shape.head_dim) * sizeof(float)};
}

BwdTileOrder backward_order(const AttentionShape& shape) {
  const std::int64_t heads = shape.batch * shape.heads;
  return {.tiles = static_cast<int>(key_tiles(shape)),
          .heads = static_cast<int>(block_count(heads, head_groups(shape))),
          .items = static_cast<int>(item_count(shape))};
}

BwdSchedule backward_blocks(const AttentionShape& shape) {
  // Persistent CTAs are faster up to head_dim 80. In us for one tile per CTA and for persistent CTAs, causal, batch 4:
  // - head_dim 128, 25 heads, H100: 93.6 and 105.4 at 512 tokens, 224.9 and 237.7 at 1,024
  // - head_dim 80, 32 heads, H200: 72.6 and 67.1 at 512 tokens, 187.9 and 175.7 at 1,024
  return shape.head_dim <= 80 ? BwdSchedule::kPersistent : BwdSchedule::kOneTilePerCta;
}

std::optional<BwdPlan> choose_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  if (!is_hopper(limits) || !has_instance(problem, kBackwardHeadDims)) return std::nullopt;
  const auto shares = head_shares(problem, limits.multiprocessors);
  const auto kinds = choose_kinds(shape, limits.multiprocessors);
  if (kinds && !(shares == 1 && beats_kinds(shape))) return kinds;
  if (shares) return BwdPlan{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kPerHead, .shares = *shares};
  if (!beats_ampere_kernels(shape, limits.multiprocessors)) return std::nullopt;
  if (problem.deterministic && (shape.head_dim > 128 || key_tiles(shape) > kMaxSumsApart)) return std::nullopt;
  if (problem.deterministic || sums_apart_are_faster(shape, limits.multiprocessors)) {
    return BwdPlan{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kPerKvTile};
  }
  return BwdPlan{.blocks = backward_blocks(shape), .sums = DqAccumulation::kAtomic};
}

bool supports_layout(const AttentionProblem& problem, const AttentionBackward& arguments, const BwdPlan& choice) {
  const AttentionShape& shape = problem.shape;
  const TmaExtents queries{shape.batch, shape.heads, shape.seq_q, shape.head_dim};
  const TmaExtents keys{shape.batch, shape.heads, shape.seq_kv, shape.head_dim};
  const bool writes_vectors = choice.sums == DqAccumulation::kPerHead || choice.sums == DqAccumulation::kNone;
  if (writes_vectors && !tma_supports(arguments.dq, queries)) return false;
  if (choice.is_alone && !tma_supports(arguments.o, queries)) return false;
  return tma_supports(arguments.q, queries) && tma_supports(arguments.grad_o, queries) &&
         tma_supports(arguments.k, keys) && tma_supports(arguments.v, keys) && tma_supports(arguments.dk, keys) &&
         tma_supports(arguments.dv, keys);
}

std::size_t backward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  const auto choice = choose_backward(problem, limits);
  return choice ? backward_workspace(problem.shape, choice->sums, choice->shares).bytes() : 0;
}

Launch backward_launch(const AttentionShape& shape, BwdSchedule blocks, const DeviceLimits& limits) {
  const int items = backward_order(shape).items;
  const int shared_bytes = backward_shared(static_cast<int>(shape.head_dim), blocks).end;
  if (blocks == BwdSchedule::kPersistent) {
    return {.grid = {std::min(items, limits.multiprocessors), 1, 1},
            .threads = kBackwardThreads,
            .shared_bytes = static_cast<std::size_t>(shared_bytes)};
  }
  return {
      .grid = {items, 1, 1},
      .threads = kBackwardThreads,
      .shared_bytes = static_cast<std::size_t>(shared_bytes + kSharedAlignment)};  // the kernel aligns its tiles itself
}

Launch backward_prepare_launch(const AttentionShape& shape) {
  return {
      .grid = {backward_workspace(shape, DqAccumulation::kAtomic).rows / kBackwardHelperRows, shape.heads, shape.batch},
      .threads = kBackwardHelperThreads};
}

Launch backward_convert_launch(const AttentionShape& shape) { return backward_helper_launch(shape, 0); }

}  // namespace tbench::kernels::sm90
