#include "kernels/attention/sm90/bwd_split/config.hpp"

#include <algorithm>

namespace tbench::kernels::sm90 {
namespace {

/// Of a head's tiles of keys over the queries, and of as many its tiles of queries over the keys.
std::int64_t steps_of_head(const AttentionShape& shape) {
  const std::int64_t key_tiles = block_count(shape.seq_kv, kWgmmaM), queries = block_count(shape.seq_q, kWgmmaM);
  return shape.causal ? key_tiles * (key_tiles + 1) / 2 : key_tiles * queries;
}

}  // namespace

SplitOrder kinds_order(const AttentionShape& shape) {
  const std::int64_t key_tiles = block_count(shape.seq_kv, kWgmmaM);
  const std::int64_t query_tiles = block_count(shape.seq_q, kWgmmaM);
  const std::int64_t heads = shape.batch * shape.heads;
  return {.key_tiles = static_cast<int>(key_tiles),
          .query_tiles = static_cast<int>(query_tiles),
          .items = static_cast<int>((key_tiles + query_tiles) * heads),
          .all_heads = make_fast_divmod(static_cast<int>(heads)),
          .heads = make_fast_divmod(static_cast<int>(shape.heads))};
}

Launch kinds_launch(const AttentionShape& shape, SplitConfig tile, const DeviceLimits& limits) {
  return {.grid = {std::min(kinds_order(shape).items, limits.multiprocessors), 1, 1},
          .threads = kKindsThreads,
          .shared_bytes = static_cast<std::size_t>(kKindsTeams * team_bytes(tile) +
                                                   kSharedAlignment)};  // it aligns its tiles itself
}

/// H200, L2 cold, bf16, us: what was taken before / these, with a kernel before / alone. Steps are of a team.
/// 28 steps: batch 4, causal, 25 heads, 512 tokens (27) 43.5 / 42.4 / 47.6, 12 heads, 640 (20) 32.4 / 31.8, 16 heads,
/// 768 (38) 49.0 / 51.1, no mask, batch 1, 16 heads, 1,024 (31) 33.6 / 35.7. Long ones, whose items others leave to few
/// blocks: one head, 4,096 (31) 79.8 / 50.8, four, causal (63) 83.8 / 62.3, no mask (124) 87.8 / 113; batch 8, one
/// head, 2,048, causal (32) 50.0 / 37.9, no mask (62) 50.5 / 59.5. By heads is faster without a mask: batch 4, 25
/// heads, 256 (12) 24.4 / 25.2. Alone: 25 heads, 192 tokens 16.6 / 16.3, 256 (8) 20.4 / 21.6, 16 heads (5) 15.9 / 15.9,
/// batch 1, 16 heads 11.8 / 10.7.
std::optional<BwdPlan> choose_kinds(const AttentionShape& shape, int multiprocessors) {
  constexpr std::int64_t kMinTokens = 65, kFewSteps = 28, kFewStepsByHeads = 8, kFewStepsAlone = 6;
  constexpr std::int64_t kAlwaysAlone = 192, kMostAlone = 256;
  const std::int64_t least = std::min(shape.seq_q, shape.seq_kv), most = std::max(shape.seq_q, shape.seq_kv);
  // As many queries as keys, give or take a tile, as was measured.
  const bool is_square = block_count(shape.seq_q, kWgmmaM) == block_count(shape.seq_kv, kWgmmaM);
  if (shape.head_dim != kKindsHeadDim || !is_square || least < kMinTokens) return std::nullopt;
  const std::int64_t steps = 2 * steps_of_head(shape) * shape.batch * shape.heads,
                     teams = std::int64_t{kKindsTeams} * multiprocessors;
  const std::int64_t longest = block_count(most, kWgmmaM);  // of an item
  if (steps > kFewSteps * teams && 4 * steps > 5 * longest * teams) return std::nullopt;
  if (!shape.causal && most <= kMostAlone && steps > kFewStepsByHeads * teams) return std::nullopt;
  const bool is_alone = most <= kAlwaysAlone || (most <= kMostAlone && steps <= kFewStepsAlone * teams);
  return BwdPlan{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kNone, .is_alone = is_alone};
}

}  // namespace tbench::kernels::sm90
