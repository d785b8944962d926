#include "kernels/attention/sm90/fwd/config.hpp"

#include <algorithm>
#include <limits>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/common/plan_16bit.hpp"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr std::size_t kCounterBytes =
    256;  // one 32-bit number, padded to the alignment of whatever the caller puts behind it
constexpr std::int64_t kMaxItems = std::numeric_limits<int>::max() / 2;  // the counter runs on past the last work tile

std::int64_t items(const AttentionShape& shape, int rows) {
  return block_count(shape.seq_q, rows) * shape.heads * shape.batch;
}

/// Average number of keys that a query sees.
std::int64_t keys_of_query(const AttentionShape& shape) { return shape.causal ? shape.seq_kv / 2 : shape.seq_kv; }

/// head_dim 64: whether each consumer group has at most one work tile of 64 queries. With two per SM, FwdM64N128x2 is
/// no faster than FwdM128N64x2 or FwdM128N128 without a mask or up to 256 tokens. Measured up to 2,048 keys, and with
/// one work tile per group up to 16,384.
bool wants_pair_tiles(const AttentionShape& shape, int multiprocessors) {
  const std::int64_t pairs = items(shape, rows(FwdM64N128x2::tile()));
  return pairs <= multiprocessors || (shape.causal && shape.seq_kv > 256 && pairs <= 2 * std::int64_t{multiprocessors});
}

/// head_dim 64 and 80: whether the work tiles of FwdM192* are more than `rounds` per SM.
bool has_many_wide_items(const AttentionShape& shape, int multiprocessors, int rounds) {
  return items(shape, rows(FwdM192N128::tile())) > rounds * std::int64_t{multiprocessors};
}

/// head_dim 64: whether FwdM128N64x2 is faster than FwdM192N128 and FwdM128N128. Below 4,096 keys it is with a mask,
/// and without one if work tiles exceed SMs. At 4,096 keys without a mask it is if each consumer group has at most one
/// work tile. From 4,096 keys on it ties with FwdM192N128 or loses where a head is long and work tiles are many; the
/// limits below are where that begins.
bool wants_short_tiles(const AttentionShape& shape, int multiprocessors) {
  constexpr std::int64_t kManyKeys = 4096;
  const std::int64_t shorts = items(shape, rows(FwdM128N64x2::tile()));
  if (shape.seq_kv < kManyKeys) return shape.causal || shorts > multiprocessors;
  if (!has_many_wide_items(shape, multiprocessors, 2)) {
    return !shape.causal && shape.seq_kv == kManyKeys && shorts > multiprocessors &&
           shorts <= 2 * std::int64_t{multiprocessors};
  }
  if (shape.causal) {
    return shape.seq_kv == kManyKeys ||
           (shape.seq_kv <= 2 * kManyKeys && !has_many_wide_items(shape, multiprocessors, 3));
  }
  return shape.seq_kv <= 4 * kManyKeys && !has_many_wide_items(shape, multiprocessors, 6);
}

/// head_dim 80: whether FwdM192N64 is faster than FwdM128N128. It loses at 256 tokens and wins from 512 on where its
/// work tiles take more than two rounds.
bool wants_wide_tiles_of_80(const AttentionShape& shape, int multiprocessors) {
  return shape.seq_kv >= 512 && has_many_wide_items(shape, multiprocessors, 2);
}

/// head_dim 32: whether FwdM256N64 fills the GPU. With a mask its work tiles are unequal and have to fill it one and a
/// half times. Up to 128 queries its work tile holds no more than one of FwdM128N128 and takes longer.
bool wants_tall_tiles(const AttentionShape& shape, int multiprocessors) {
  if (shape.seq_q <= rows(FwdM128N128::tile())) return false;
  const std::int64_t tall = items(shape, rows(FwdM256N64::tile())), all = multiprocessors;
  return shape.causal ? 2 * tall >= 3 * all : 10 * tall >= 9 * all;
}

/// Whether the sm90 kernel is faster than the sm80 kernels. Up to 64 tokens, and where the sm80 kernels split the keys
/// of few tiles among warps or CTAs, these are as fast or faster. From 512 tokens on at head_dim 128, and 1,024 at
/// head_dim 32, fewer tiles are enough for sm90. At head_dim 64 the sm80 kernels take 0.83 of FwdM128N128's time (128
/// tokens, 96 tiles) and 0.93 (512 tokens, 64 tiles) on an H200, FwdM64N128x2 0.79 and 0.78 on an H100. At head_dim
/// 256, whose keys the sm80 kernels never split, sm90 is as fast or faster from 64 tokens on, down to one head.
bool beats_ampere_kernels(const AttentionShape& shape, const DeviceLimits& limits) {
  constexpr std::int64_t kShortest = 64;
  const std::int64_t shorter = std::min(shape.seq_q, shape.seq_kv);
  if (shape.head_dim == 256) return shorter >= kShortest;
  if (shorter <= kShortest) return false;
  const std::int64_t tiles = items(shape, kWgmmaM), multiprocessors = limits.multiprocessors;
  if (tiles > multiprocessors) return true;
  if (sm80::forward_split_kv(shape, limits).num_splits > 1) return false;
  constexpr std::int64_t kMaxKeys =
      1024;  // keys per query up to which FwdM64N128x2 was measured against the sm80 kernels
  const bool pairs =
      shape.head_dim == 64 && wants_pair_tiles(shape, limits.multiprocessors) && keys_of_query(shape) <= kMaxKeys;
  if (pairs && shape.seq_kv < 512) return 3 * tiles >= 2 * multiprocessors;
  return shape.head_dim <= 64 && !pairs ? shape.seq_kv >= 1024 && 4 * tiles >= 3 * multiprocessors
                                        : shape.seq_kv >= 512 && 8 * tiles >= 3 * multiprocessors;
}

FwdConfigId choose_tiles(const AttentionShape& shape, int multiprocessors) {
  if (shape.head_dim == 32 && wants_tall_tiles(shape, multiprocessors)) return FwdConfigId::kM256N64;
  if (shape.head_dim == 80 && wants_wide_tiles_of_80(shape, multiprocessors)) return FwdConfigId::kM192;
  if (shape.head_dim == 64) {
    if (wants_pair_tiles(shape, multiprocessors)) return FwdConfigId::kM64N128x2;
    if (wants_short_tiles(shape, multiprocessors)) return FwdConfigId::kM128N64x2;
    if (has_many_wide_items(shape, multiprocessors, 2)) return FwdConfigId::kM192;
  }
  return FwdConfigId::kM128N128;
}

static_assert(rows(FwdM192N64::tile()) == rows(FwdM192N128::tile()));
/// Queries per work tile.
int item_rows(FwdConfigId tiles) {
  if (tiles == FwdConfigId::kM192) return rows(FwdM192N128::tile());
  if (tiles == FwdConfigId::kM256N64) return rows(FwdM256N64::tile());
  return rows(FwdM128N128::tile());
}

/// Whether the dynamic schedule is faster. With a mask and many work tiles per SM, the static schedule leaves the SMs 5
/// to 30 % apart. Without a mask all work tiles are equal. At head_dim 128 the static schedule wins with 2.9 work tiles
/// per SM and the dynamic one from 4.8 on; at head_dim 256 they tie. FwdM128N64x2 was measured with the static schedule
/// only, up to 3,200 work tiles.
bool wants_counter(const AttentionShape& shape, FwdConfigId tiles, int multiprocessors) {
  if (tiles == FwdConfigId::kM128N64x2 || tiles == FwdConfigId::kM64N128x2) return false;
  const std::int64_t half_rounds = shape.head_dim <= 64 ? 14 : 9;
  return shape.causal && shape.head_dim <= 128 && 2 * items(shape, item_rows(tiles)) > half_rounds * multiprocessors;
}

/// Whether groups of heads alternate in their direction. That is faster with the dynamic schedule, too; sequences of
/// more than 4,096 keys, whose groups have few heads, were not measured with it.
bool goes_in_turns(const AttentionShape& shape, bool counted) {
  constexpr std::int64_t kMaxKeys = 4096;
  return shape.causal && (!counted || shape.seq_kv <= kMaxKeys);
}

}  // namespace

bool has_instance(const AttentionProblem& problem, std::span<const std::int64_t> head_dims) {
  const bool element = problem.precision == Precision::kBf16 || problem.precision == Precision::kFp16;
  return element && std::ranges::find(head_dims, problem.shape.head_dim) != head_dims.end();
}

TileOrder forward_order(const AttentionShape& shape, int rows, bool in_turns) {
  constexpr std::int64_t kCachedBytes = std::int64_t{32} << 20;              // part of the 50 MiB of an H200's L2 cache
  const std::int64_t bytes_of_head = 2 * shape.seq_kv * shape.head_dim * 2;  // K and V
  const std::int64_t heads = shape.batch * shape.heads;
  const std::int64_t cached = std::clamp<std::int64_t>(kCachedBytes / bytes_of_head, 1, heads);
  const std::int64_t groups = block_count(heads, cached);
  const std::int64_t heads_of_group = in_turns ? block_count(heads, groups) : cached;
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

std::optional<FwdPlan> choose_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  if (!is_hopper(limits) || !has_instance(problem, kForwardHeadDims) || !beats_ampere_kernels(shape, limits)) {
    return std::nullopt;
  }
  if (items(shape, rows(FwdM128N128::tile())) > kMaxItems) return std::nullopt;
  const FwdConfigId tiles = choose_tiles(shape, limits.multiprocessors);
  const bool counted = wants_counter(shape, tiles, limits.multiprocessors);
  return FwdPlan{.tiles = tiles, .counted = counted, .in_turns = goes_in_turns(shape, counted), .overlaps = !counted};
}

bool supports_layout(const AttentionProblem& problem, const AttentionForward& arguments) {
  const AttentionShape& shape = problem.shape;
  const TmaExtents queries{shape.batch, shape.heads, shape.seq_q, shape.head_dim};
  const TmaExtents keys{shape.batch, shape.heads, shape.seq_kv, shape.head_dim};
  return tma_supports(arguments.q, queries) && tma_supports(arguments.o, queries) && tma_supports(arguments.k, keys) &&
         tma_supports(arguments.v, keys);
}

std::size_t forward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  const auto choice = choose_forward(problem, limits);
  return choice && choice->counted ? kCounterBytes : 0;
}

Launch forward_launch(const AttentionShape& shape, FwdConfig tile, const DeviceLimits& limits) {
  return {.grid = {std::min<std::int64_t>(items(shape, rows(tile)), limits.multiprocessors), 1, 1},
          .threads = threads(tile),
          .shared_bytes = static_cast<std::size_t>(tile.teams * team_bytes(tile, static_cast<int>(shape.head_dim)) +
                                                   kSharedAlignment)};
}

}  // namespace tbench::kernels::sm90
