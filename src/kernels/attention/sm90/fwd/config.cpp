#include "kernels/attention/sm90/fwd/config.hpp"

#include <algorithm>
#include <limits>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/common/plan_16bit.hpp"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr std::size_t kCounterBytes = 256;  // one number, and the alignment of what a caller may put behind it
constexpr std::int64_t kMaxItems = std::numeric_limits<int>::max() / 2;  // the counter runs on past the last item

std::int64_t items(const AttentionShape& shape, int rows) {
  return block_count(shape.seq_q, rows) * shape.heads * shape.batch;
}

/// That a query sees, on average.
std::int64_t keys_of_query(const AttentionShape& shape) { return shape.causal ? shape.seq_kv / 2 : shape.seq_kv; }

/// Of 64 columns: where each team has an item of 64 queries or none. Two of them a multiprocessor take as long as one
/// short or narrow one, or longer, without a mask or up to 256 tokens. Measured up to 2,048 keys, and with one item a
/// team 4 heads of 2,048 tokens without a mask 13.1 us, by narrow tiles 18.4, one head of 16,384 with one 91 and 133.
bool wants_pair_tiles(const AttentionShape& shape, int multiprocessors) {
  const std::int64_t pairs = items(shape, rows(FwdM64N128x2::tile()));
  return pairs <= multiprocessors || (shape.causal && shape.seq_kv > 256 && pairs <= 2 * std::int64_t{multiprocessors});
}

/// Of 64 and 80 columns: more than so many rounds of all multiprocessors.
bool has_many_wide_items(const AttentionShape& shape, int multiprocessors, int rounds) {
  return items(shape, rows(FwdM192N128::tile())) > rounds * std::int64_t{multiprocessors};
}

/// Of 64 columns. Below 4,096 keys with a mask always, without one where items are more than multiprocessors; of 4,096,
/// without a mask, if each team has one item at most: 60 us, by narrow tiles 70. From 4,096 on, by short and wide
/// tiles: with a mask 2 to 5 % less time at 48 to 100 heads of 4,096 tokens, 13 % at 16, 8 % at 8 of 8,192, but as much
/// at 8 and up to 4 % more at 16 of 16,384; without one 7 % less at 16 of 4,096, 8 % at 8 of 8,192, 7 % at 8 and 1 %
/// more at 16 of 16,384.
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

/// Of 80 columns. Measured on an H100, batch 4, 32 heads, causal, narrow and wide tiles, us: 512 tokens 23.1 and 21.7,
/// 1,024 64.7 and 64.2, 2,048, by the counter, 208 and 185, 4,096 674 and 602; 256 tokens, wide ones joined, 9.6 and
/// 13.3.
bool wants_wide_tiles_of_80(const AttentionShape& shape, int multiprocessors) {
  return shape.seq_kv >= 512 && has_many_wide_items(shape, multiprocessors, 2);
}

/// Of 32 columns: where tall items fill the GPU, with a mask, which makes them unequal, one and a half times. Measured
/// on an H100, narrow and tall tiles, by tall items a multiprocessor: 0.48: 15.7 and 24.8 us; 0.97: 58.1 and 48.3, with
/// a mask 32.3 and 47.6; 1.9, with a mask: 23.8 and 18.5. Up to 128 queries a tall item holds no more than a narrow one
/// and takes longer: 128 tokens 3.1 and 4.2.
bool wants_tall_tiles(const AttentionShape& shape, int multiprocessors) {
  if (shape.seq_q <= rows(FwdM128N128::tile())) return false;
  const std::int64_t tall = items(shape, rows(FwdM256N64::tile())), all = multiprocessors;
  return shape.causal ? 2 * tall >= 3 * all : 10 * tall >= 9 * all;
}

/// Measured on an H200: up to 64 tokens, and where Ampere's kernels divide the keys of few tiles among warps or blocks,
/// these are as fast or faster; from 512 tokens of 128 columns and 1,024 of 32 on that takes fewer tiles. Of 64 columns
/// by way of narrow tiles: of their time Ampere's kernels take 0.83 (128 tokens, 96 tiles; H200) and 0.93 (512, 64),
/// pair tiles 0.79 and 0.78 (H100). Of 256 columns, whose keys Ampere's kernels never divide, Hopper's are as fast or
/// faster from 64 tokens on, down to one head (64 tokens, 8 heads, H200: 8.6 us for 8.7 with a mask, 8.6 without). 32
/// columns: H100, batch 8 of one head: 512 tokens 5.6 us by Ampere's kernels, 5.7 by these, 1,024 10.0 and 9.0.
bool beats_ampere_kernels(const AttentionShape& shape, const DeviceLimits& limits) {
  constexpr std::int64_t kShortest = 64;
  const std::int64_t shorter = std::min(shape.seq_q, shape.seq_kv);
  if (shape.head_dim == 256) return shorter >= kShortest;
  if (shorter <= kShortest) return false;
  const std::int64_t tiles = items(shape, kWgmmaM), multiprocessors = limits.multiprocessors;
  if (tiles > multiprocessors) return true;
  if (sm80::forward_split_kv(shape, limits).num_splits > 1) return false;
  constexpr std::int64_t kMaxKeys = 1024;  // of a query, where pair tiles were measured against Ampere's kernels
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
/// Queries of an item.
int item_rows(FwdConfigId tiles) {
  if (tiles == FwdConfigId::kM192) return rows(FwdM192N128::tile());
  if (tiles == FwdConfigId::kM256N64) return rows(FwdM256N64::tile());
  return rows(FwdM128N128::tile());
}

/// Measured on an H200: with a mask, from so many items a multiprocessor on, dealing them out leaves the
/// multiprocessors 5 to 30 % apart. Without one all items are equal. Of 128 columns on an H100: 2.9 items a
/// multiprocessor 30.0 us dealt, 33.9 by the counter; 4.8 53.6 and 50.9; 6.1 66.4 and 64.0. Of 256 columns (80 keys a
/// step): 3.9 of 1,024 tokens 81.9 and 86.7, of 4,096 215.8 and 209.8; 7.8 257.5 and 258.7; 15.5 of 4,096 846 and 857,
/// of 16,384 2,709 and 2,778. Short tiles were measured dealt: up to 3,200 items.
bool wants_counter(const AttentionShape& shape, FwdConfigId tiles, int multiprocessors) {
  if (tiles == FwdConfigId::kM128N64x2 || tiles == FwdConfigId::kM64N128x2) return false;
  const std::int64_t half_rounds = shape.head_dim <= 64 ? 14 : 9;
  return shape.causal && shape.head_dim <= 128 && 2 * items(shape, item_rows(tiles)) > half_rounds * multiprocessors;
}

/// Groups of the same size end sooner by the counter, too; longer sequences, whose groups are of a few heads, were not
/// measured.
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
  constexpr std::int64_t kCachedBytes = std::int64_t{32} << 20;              // of the 50 MiB of an H200's L2 cache
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
