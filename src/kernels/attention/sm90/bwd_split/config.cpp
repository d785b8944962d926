#include "kernels/attention/sm90/bwd_split/config.hpp"

#include <algorithm>

namespace tbench::kernels::sm90 {
namespace {

/// Steps of a head's K/V tiles over the queries, and as many of its Q tiles over the keys.
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
                                                   kSharedAlignment)};  // the kernel aligns its tiles itself
}

/// Selects the split backward pass if each consumer group has few steps, or if long work tiles would leave the other
/// kernels few CTAs. Steps count per consumer group. Without a mask kPerHead is faster from 8 steps on. Fused row
/// statistics are faster up to 192 tokens and, with few steps, up to 256.
///
/// Rows "split backward" of src/kernels/experiments.csv. Not among them, for the other kernels and the split backward
/// pass, on an H200 with a cold L2 cache, in us:
/// - causal, batch 4, 12 heads, 640 tokens, 20 steps: 32.4 and 31.8
/// - causal, batch 4, 16 heads, 768 tokens, 38 steps: 49.0 and 51.1
/// - causal, batch 1, 4 heads, 4,096 tokens, 63 steps: 83.8 and 62.3
/// - no mask, batch 1, one head, 4,096 tokens, 31 steps: 79.8 and 50.8
/// - no mask, batch 1, 4 heads, 4,096 tokens, 124 steps: 87.8 and 113
std::optional<BwdPlan> choose_kinds(const AttentionShape& shape, int multiprocessors) {
  constexpr std::int64_t kMinTokens = 65, kFewSteps = 28, kFewStepsByHeads = 8, kFewStepsAlone = 6;
  constexpr std::int64_t kAlwaysAlone = 192, kMostAlone = 256;
  const std::int64_t least = std::min(shape.seq_q, shape.seq_kv), most = std::max(shape.seq_q, shape.seq_kv);
  // Measured only with seq_q and seq_kv within one tile of each other.
  const bool is_square = block_count(shape.seq_q, kWgmmaM) == block_count(shape.seq_kv, kWgmmaM);
  if (shape.head_dim != kKindsHeadDim || !is_square || least < kMinTokens) return std::nullopt;
  const std::int64_t steps = 2 * steps_of_head(shape) * shape.batch * shape.heads,
                     teams = std::int64_t{kKindsTeams} * multiprocessors;
  const std::int64_t longest = block_count(most, kWgmmaM);  // steps of the longest work tile
  if (steps > kFewSteps * teams && 4 * steps > 5 * longest * teams) return std::nullopt;
  if (!shape.causal && most <= kMostAlone && steps > kFewStepsByHeads * teams) return std::nullopt;
  const bool is_alone = most <= kAlwaysAlone || (most <= kMostAlone && steps <= kFewStepsAlone * teams);
  return BwdPlan{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kNone, .is_alone = is_alone};
}

}  // namespace tbench::kernels::sm90
