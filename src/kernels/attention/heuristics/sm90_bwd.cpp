#include "kernels/attention/heuristics/sm90_bwd.hpp"

#include <array>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/sm90/bwd_split/config.hpp"

namespace tbench::kernels::sm90 {
namespace {

/// The plan; absent if the sm80 kernels are faster.
using Config = std::optional<BwdPlan>;
using BwdRule = Rule<Config>;

constexpr Config kSm80{};
constexpr Config kSplitFusedStats{
    BwdPlan{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kNone, .is_alone = true}};
constexpr Config kSplit{BwdPlan{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kNone}};
constexpr Config kPerHead{BwdPlan{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kPerHead}};
constexpr Config kPerHead2{
    BwdPlan{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kPerHead, .shares = kMaxHeadShares}};
constexpr Config kPerKvTile{BwdPlan{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kPerKvTile}};
constexpr Config kAtomicPersistent{BwdPlan{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kAtomic}};
constexpr Config kAtomicTile{BwdPlan{.blocks = BwdSchedule::kOneTilePerCta, .sums = DqAccumulation::kAtomic}};

bool is_deterministic(const Occupancy& o) { return o.problem.deterministic; }

/// Number of K/V tiles per head and, below, in all heads.
std::int64_t tiles_of_head(const Occupancy& o) {
  return block_count(o.seq_kv(), backward_keys(static_cast<int>(o.head_dim())));
}
std::int64_t kv_tiles(const Occupancy& o) { return tiles_of_head(o) * o.heads(); }

bool has_many_tiles_of_head(const Occupancy& o) { return is_deterministic(o) && tiles_of_head(o) > kMaxSumsApart; }
/// kPerKvTile is faster than kAtomic for up to two K/V tiles per head, and slower with more tiles.
bool has_few_tiles_of_head(const Occupancy& o) { return tiles_of_head(o) <= 2; }

// Up to 255 tokens the sm80 kernels' single launch is faster. From 256 tokens on the sm90 kernels are faster if they
// have many CTAs, and from 1,024 tokens on (512 at head_dim 80 and 128) always.
bool is_short(const Occupancy& o) { return o.min_seq() < 256; }
bool is_256_with_few_tiles(const Occupancy& o) { return o.min_seq() < 512 && 3 * kv_tiles(o) < 2 * o.num_sms(); }
bool is_512_with_few_tiles(const Occupancy& o) {
  return o.min_seq() >= 512 && o.min_seq() < 1024 && 8 * kv_tiles(o) < 3 * o.num_sms();
}

/// A number of heads as a fraction of the SMs.
struct Part {
  int numerator, denominator;
};
constexpr Part kThird{1, 3}, kThreeFifths{3, 5}, kTwoThirds{2, 3}, kThreeQuarters{3, 4};
bool heads_are_at_least(const Occupancy& o, Part part) {
  return part.denominator * o.heads() >= part.numerator * o.num_sms();
}

std::int64_t persistent_tiles(std::int64_t seq) { return block_count(seq, kBackwardKeys); }

/// Whether the kernels with one or two CTAs per head may be selected. Up to 64 rows the sm80 kernels are faster.
/// Measured only with seq_q and seq_kv within one tile of each other, and with at most one head per CTA.
bool takes_whole_heads(const Occupancy& o) {
  return persistent_tiles(o.seq_q()) == persistent_tiles(o.seq_kv()) && o.min_seq() >= 65 &&
         o.max_seq() <= kMaxHeadRows;
}

/// Returns the least numbers of heads for which one CTA per head is faster. Element i is for heads with i + 1 K/V
/// tiles.
std::span<const Part> min_whole_heads(std::int64_t head_dim, bool causal) {
  static constexpr std::array kOf64{kThird,         kThreeFifths,   kThreeQuarters,
                                    kThreeQuarters, kThreeQuarters, kThreeQuarters};
  static constexpr std::array kOf64Full{kThird, kThreeFifths, kThreeQuarters, kThreeQuarters};
  static constexpr std::array kOf80{kThird, kThird, kThreeFifths, kTwoThirds, kTwoThirds, kThreeQuarters};
  static constexpr std::array kOf80Full{kThird, kThreeFifths, kTwoThirds, kThreeQuarters};
  if (head_dim == 64) return causal ? std::span<const Part>{kOf64} : kOf64Full;
  return causal ? std::span<const Part>{kOf80} : kOf80Full;
}

bool has_many_deterministic_tiles(const Occupancy& o) {
  return is_deterministic(o) && o.causal() && persistent_tiles(o.seq_kv()) > kMaxSumsApart;
}

/// Number of steps that a head's K/V tiles take over the queries. Its Q tiles take the same number of steps over the
/// keys.
std::int64_t steps_of_head(const Occupancy& o) {
  const std::int64_t key_tiles = block_count(o.seq_kv(), kWgmmaM), queries = block_count(o.seq_q(), kWgmmaM);
  return o.causal() ? key_tiles * (key_tiles + 1) / 2 : key_tiles * queries;
}
/// Number of steps of the split backward pass in all heads and, below, number of its consumer groups.
std::int64_t split_steps(const Occupancy& o) { return 2 * steps_of_head(o) * o.heads(); }
std::int64_t split_groups(const Occupancy& o) { return kKindsTeams * o.num_sms(); }

}  // namespace

bool whole_heads_pay(const Occupancy& o) {
  if (!takes_whole_heads(o) || o.heads() > o.num_sms()) return false;
  if (has_many_deterministic_tiles(o)) return heads_are_at_least(o, kThreeFifths);
  const std::span<const Part> fewest = min_whole_heads(o.head_dim(), o.causal());
  const auto tiles = static_cast<std::size_t>(persistent_tiles(o.seq_kv()));
  return tiles <= fewest.size() && heads_are_at_least(o, fewest[tiles - 1]);
}

// Without two CTAs per head, only the sm80 kernels could compute these problems deterministically.
bool shared_heads_pay(const Occupancy& o) {
  return takes_whole_heads(o) && has_many_deterministic_tiles(o) && kMaxHeadShares * o.heads() <= o.num_sms() &&
         heads_are_at_least(o, kThird);
}

// Split pays if each consumer group has few steps, or if the other kernels' long work tiles would be too few to fill
// the GPU. Without a mask, up to 256 tokens, kPerHead is faster with more than 8 steps per group. Measured only with
// seq_q and seq_kv within one tile of each other.
bool split_pays(const Occupancy& o) {
  const std::int64_t steps = split_steps(o), groups = split_groups(o);
  const std::int64_t longest = block_count(o.max_seq(), kWgmmaM);  // steps of the longest work tile
  if (block_count(o.seq_q(), kWgmmaM) != block_count(o.seq_kv(), kWgmmaM) || o.min_seq() < 65) return false;
  if (steps > 28 * groups && 4 * steps > 5 * longest * groups) return false;
  return o.causal() || o.max_seq() > 256 || steps <= 8 * groups;
}

bool whole_heads_beat_split(const Occupancy& o) {
  const std::int64_t in_last_tile = (o.seq_kv() - 1) % kBackwardKeys + 1;
  return whole_heads_pay(o) && o.causal() && o.seq_kv() > kBackwardKeys && 2 * in_last_tile > kBackwardKeys;
}

namespace {

bool split_is_fastest(const Occupancy& o) { return split_pays(o) && !whole_heads_beat_split(o); }

/// Fused row statistics are faster up to 192 tokens and, with few steps per consumer group, up to 256.
bool fused_stats_pay(const Occupancy& o) {
  return o.max_seq() <= 192 || (o.max_seq() <= 256 && split_steps(o) <= 6 * split_groups(o));
}

constexpr std::array kHeadDim64{
    BwdRule{"split pays, at most 192 tokens (few steps: 256)",
            [](const Occupancy& o) { return split_is_fastest(o) && fused_stats_pay(o); }, kSplitFusedStats},
    BwdRule{"split pays: few steps per consumer group, or long work tiles", &split_is_fastest, kSplit},
    BwdRule{"65 to 1,024 tokens, enough heads for one CTA each", &whole_heads_pay, kPerHead},
    BwdRule{"deterministic, causal, > 4 K/V tiles per head, SMs / 3 <= heads <= SMs / 2", &shared_heads_pay, kPerHead2},
    BwdRule{"fewer than 256 queries or keys", &is_short, kSm80},
    BwdRule{"fewer than 512 queries or keys, K/V tiles < 2/3 of SMs", &is_256_with_few_tiles, kSm80},
    BwdRule{"512 to 1,023 tokens, K/V tiles < 3/8 of SMs", &is_512_with_few_tiles, kSm80},
    BwdRule{"deterministic, > 4 K/V tiles per head", &has_many_tiles_of_head, kSm80},
    BwdRule{"deterministic", &is_deterministic, kPerKvTile},
    BwdRule{"at most 2 K/V tiles per head", &has_few_tiles_of_head, kPerKvTile},
    BwdRule{kOtherwise, &always, kAtomicPersistent},
};

constexpr std::array kHeadDim80{
    BwdRule{"65 to 1,024 tokens, enough heads for one CTA each", &whole_heads_pay, kPerHead},
    BwdRule{"fewer than 256 queries or keys", &is_short, kSm80},
    BwdRule{"fewer than 512 queries or keys, K/V tiles < 2/3 of SMs", &is_256_with_few_tiles, kSm80},
    BwdRule{"deterministic, > 4 K/V tiles per head", &has_many_tiles_of_head, kSm80},
    BwdRule{"deterministic", &is_deterministic, kPerKvTile},
    BwdRule{"at most 2 K/V tiles per head", &has_few_tiles_of_head, kPerKvTile},
    BwdRule{kOtherwise, &always, kAtomicPersistent},
};

constexpr std::array kHeadDim128{
    BwdRule{"fewer than 256 queries or keys", &is_short, kSm80},
    BwdRule{"fewer than 512 queries or keys, K/V tiles < 2/3 of SMs", &is_256_with_few_tiles, kSm80},
    BwdRule{"deterministic, > 4 K/V tiles per head", &has_many_tiles_of_head, kSm80},
    BwdRule{"deterministic", &is_deterministic, kPerKvTile},
    BwdRule{"at most 2 K/V tiles per head, K/V tiles > SMs",
            [](const Occupancy& o) { return has_few_tiles_of_head(o) && kv_tiles(o) > o.num_sms(); }, kPerKvTile},
    BwdRule{kOtherwise, &always, kAtomicTile},
};

/// The sm90 kernel was not measured with fewer than 64 tokens.
constexpr std::array kHeadDim256{
    BwdRule{"fewer than 64 queries or keys", [](const Occupancy& o) { return o.min_seq() < 64; }, kSm80},
    BwdRule{"deterministic", &is_deterministic, kSm80},
    BwdRule{kOtherwise, &always, kAtomicTile},
};

/// Grouped-query attention, whose kernels have K/V tiles as work tiles (kAtomic, kPerKvTile).
constexpr std::array kGqa{
    BwdRule{"head_dim 256", [](const Occupancy& o) { return o.head_dim() == 256; }, kSm80},
    BwdRule{"fewer than 65 queries or keys", [](const Occupancy& o) { return o.min_seq() < 65; }, kSm80},
    BwdRule{"steps per head, squared, x group > 2^32", [](const Occupancy& o) { return !has_few_gqa_steps(o.shape()); },
            kSm80},
    BwdRule{"deterministic, > 4 K/V tiles per head", &has_many_tiles_of_head, kSm80},
    BwdRule{"deterministic", &is_deterministic, kPerKvTile},
    BwdRule{"head_dim 128", [](const Occupancy& o) { return o.head_dim() == 128; }, kAtomicTile},
    BwdRule{kOtherwise, &always, kAtomicPersistent},
};

constexpr RuleTable<Config> kTableGqa{"sm90_bwd[grouped-query]", kGqa};
constexpr RuleTable<Config> kTable64{"sm90_bwd[head_dim 64]", kHeadDim64};
constexpr RuleTable<Config> kTable80{"sm90_bwd[head_dim 80]", kHeadDim80};
constexpr RuleTable<Config> kTable128{"sm90_bwd[head_dim 128]", kHeadDim128};
constexpr RuleTable<Config> kTable256{"sm90_bwd[head_dim 256]", kHeadDim256};

const RuleTable<Config>& table_of(const AttentionShape& shape) {
  if (shape.group() != 1) return kTableGqa;
  switch (shape.head_dim) {
    case 64:
      return kTable64;
    case 80:
      return kTable80;
    case 128:
      return kTable128;
    default:
      return kTable256;
  }
}

}  // namespace

Selection<BwdPlan> select_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (!is_hopper(limits) || !has_instance(problem, kBackwardHeadDims)) return {};
  auto [plan, rule] = table_of(problem.shape).decide({problem, limits});
  if (plan && problem.shape.group() != 1) plan->parts = backward_parts(problem.shape, limits.multiprocessors);
  return {.plan = plan, .rule = rule};
}

}  // namespace tbench::kernels::sm90
