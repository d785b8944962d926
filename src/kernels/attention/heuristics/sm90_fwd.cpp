#include "kernels/attention/heuristics/sm90_fwd.hpp"

#include <array>
#include <limits>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/sm80/fwd/config.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr std::int64_t kMaxItems = std::numeric_limits<int>::max() / 2;  // the counter can exceed the last work tile

/// The path that is faster.
enum class Path { kSm80, kSm90 };
using PathRule = Rule<Path>;
using FwdRule = Rule<FwdConfigId>;

std::int64_t tiles_64(const Occupancy& o) { return o.q_tiles(64); }
std::int64_t tiles_128(const Occupancy& o) { return o.q_tiles(128); }
std::int64_t tiles_192(const Occupancy& o) { return o.q_tiles(192); }

bool sm80_splits_keys(const Occupancy& o) { return sm80::forward_split_kv(o.shape(), o.limits).num_splits > 1; }

/// Conditions of FwdM64N128x2 at head_dim 64: at most one work tile of 64 queries per SM, or with a causal mask two.
/// With two work tiles per SM, it is no faster than other configs without a mask or up to 256 tokens. Measured up to
/// 2,048 keys, and with one work tile per SM up to 16,384.
bool has_one_tile_per_group(const Occupancy& o) { return tiles_64(o) <= o.num_sms(); }
bool has_two_tiles_per_sm(const Occupancy& o) {
  return o.causal() && o.seq_kv() > 256 && tiles_64(o) <= 2 * o.num_sms();
}

/// Whether FwdM64N128x2 is selected and a query sees at most 1,024 keys on average, up to which it was compared with
/// sm80.
bool is_measured_pair(const Occupancy& o) {
  const std::int64_t keys = o.causal() ? o.seq_kv() / 2 : o.seq_kv();
  return o.head_dim() == 64 && (has_one_tile_per_group(o) || has_two_tiles_per_sm(o)) && keys <= 1024;
}
bool is_short_pair(const Occupancy& o) { return is_measured_pair(o) && o.seq_kv() < 512; }
bool is_narrow_without_pair(const Occupancy& o) { return o.head_dim() <= 64 && !is_measured_pair(o); }

/// Selects between sm80 and sm90. The sm90 kernel is faster with fewer tiles from 512 tokens on at head_dim 128, and
/// from 1,024 on at head_dim 32. At head_dim 256, for which the sm80 kernels never split the keys, sm90 is as fast or
/// faster from 64 tokens on, down to one head.
constexpr std::array kPath{
    PathRule{"head_dim 256, at least 64 queries and keys",
             [](const Occupancy& o) { return o.head_dim() == 256 && o.min_seq() >= 64; }, Path::kSm90},
    PathRule{"head_dim 256", [](const Occupancy& o) { return o.head_dim() == 256; }, Path::kSm80},
    PathRule{"at most 64 queries or keys", [](const Occupancy& o) { return o.min_seq() <= 64; }, Path::kSm80},
    PathRule{"64-row tiles > SMs", [](const Occupancy& o) { return tiles_64(o) > o.num_sms(); }, Path::kSm90},
    PathRule{"sm80 divides the keys of few tiles among CTAs", &sm80_splits_keys, Path::kSm80},
    PathRule{"FwdM64N128x2, seq_kv < 512, 64-row tiles >= 2/3 of SMs",
             [](const Occupancy& o) { return is_short_pair(o) && 3 * tiles_64(o) >= 2 * o.num_sms(); }, Path::kSm90},
    PathRule{"FwdM64N128x2, seq_kv < 512", &is_short_pair, Path::kSm80},
    PathRule{"head_dim <= 64, seq_kv >= 1,024, 64-row tiles >= 3/4 of SMs",
             [](const Occupancy& o) {
               return is_narrow_without_pair(o) && o.seq_kv() >= 1024 && 4 * tiles_64(o) >= 3 * o.num_sms();
             },
             Path::kSm90},
    PathRule{"head_dim <= 64, not FwdM64N128x2", &is_narrow_without_pair, Path::kSm80},
    PathRule{"seq_kv >= 512, 64-row tiles >= 3/8 of SMs",
             [](const Occupancy& o) { return o.seq_kv() >= 512 && 8 * tiles_64(o) >= 3 * o.num_sms(); }, Path::kSm90},
    PathRule{kOtherwise, &always, Path::kSm80},
};

/// FwdM256N64 pays if its work tiles fill the GPU. With a mask work tiles are unequal and have to fill it one and a
/// half times. Up to 128 queries a work tile of FwdM256N64 holds no more rows than a work tile of FwdM128N128 and takes
/// longer.
constexpr std::array kHeadDim32{
    FwdRule{"causal, seq_q > 128, 256-row tiles >= 3/2 of SMs",
            [](const Occupancy& o) { return o.causal() && o.seq_q() > 128 && 2 * o.q_tiles(256) >= 3 * o.num_sms(); },
            FwdConfigId::kM256N64},
    FwdRule{"no mask, seq_q > 128, 256-row tiles >= 9/10 of SMs",
            [](const Occupancy& o) { return !o.causal() && o.seq_q() > 128 && 10 * o.q_tiles(256) >= 9 * o.num_sms(); },
            FwdConfigId::kM256N64},
    FwdRule{kOtherwise, &always, FwdConfigId::kM128N128},
};

/// With 4,096 keys or more, the number of work tiles decides whether FwdM128N64x2 is faster than FwdM192N128. The
/// rules' limits are the measured crossover points.
constexpr std::array kHeadDim64{
    FwdRule{"64-row tiles <= SMs", &has_one_tile_per_group, FwdConfigId::kM64N128x2},
    FwdRule{"causal, seq_kv > 256, 64-row tiles <= 2 x SMs", &has_two_tiles_per_sm, FwdConfigId::kM64N128x2},
    FwdRule{"causal, seq_kv < 4,096", [](const Occupancy& o) { return o.causal() && o.seq_kv() < 4096; },
            FwdConfigId::kM128N64x2},
    FwdRule{"no mask, seq_kv < 4,096, 128-row tiles > SMs",
            [](const Occupancy& o) { return o.seq_kv() < 4096 && tiles_128(o) > o.num_sms(); },
            FwdConfigId::kM128N64x2},
    FwdRule{"no mask, seq_kv = 4,096, SMs < 128-row tiles <= 2 x SMs",
            [](const Occupancy& o) {
              return !o.causal() && o.seq_kv() == 4096 && tiles_128(o) > o.num_sms() &&
                     tiles_128(o) <= 2 * o.num_sms() && tiles_192(o) <= 2 * o.num_sms();
            },
            FwdConfigId::kM128N64x2},
    FwdRule{"causal, seq_kv = 4,096, 192-row tiles > 2 x SMs",
            [](const Occupancy& o) { return o.causal() && o.seq_kv() == 4096 && tiles_192(o) > 2 * o.num_sms(); },
            FwdConfigId::kM128N64x2},
    FwdRule{"causal, seq_kv <= 8,192, 2 x SMs < 192-row tiles <= 3 x SMs",
            [](const Occupancy& o) {
              return o.causal() && o.seq_kv() <= 8192 && tiles_192(o) > 2 * o.num_sms() &&
                     tiles_192(o) <= 3 * o.num_sms();
            },
            FwdConfigId::kM128N64x2},
    FwdRule{"no mask, 4,096 <= seq_kv <= 16,384, 2 x SMs < 192-row tiles <= 6 x SMs",
            [](const Occupancy& o) {
              return !o.causal() && o.seq_kv() >= 4096 && o.seq_kv() <= 16384 && tiles_192(o) > 2 * o.num_sms() &&
                     tiles_192(o) <= 6 * o.num_sms();
            },
            FwdConfigId::kM128N64x2},
    FwdRule{"192-row tiles > 2 x SMs", [](const Occupancy& o) { return tiles_192(o) > 2 * o.num_sms(); },
            FwdConfigId::kM192N128},
    FwdRule{kOtherwise, &always, FwdConfigId::kM128N128},
};

constexpr std::array kHeadDim80{
    FwdRule{"seq_kv >= 512, 192-row tiles > 2 x SMs",
            [](const Occupancy& o) { return o.seq_kv() >= 512 && tiles_192(o) > 2 * o.num_sms(); },
            FwdConfigId::kM192N64},
    FwdRule{kOtherwise, &always, FwdConfigId::kM128N128},
};

/// Number of queries per SM if every SM computes whole tiles of `rows` queries.
std::int64_t rows_per_sm(const Occupancy& o, std::int64_t rows) {
  return block_count(o.q_tiles(rows), o.num_sms()) * rows;
}

/// FwdM192N64Wide computes a query in 5 to 9 % less time than FwdM128N128, but its larger tiles may leave more SMs idle
/// in the last round. Measured from 361 to 8,192 tokens.
constexpr std::array kHeadDim128{
    FwdRule{"no mask, queries per SM in 192-row tiles <= 1.05 x those in 128-row tiles",
            [](const Occupancy& o) { return !o.causal() && 20 * rows_per_sm(o, 192) <= 21 * rows_per_sm(o, 128); },
            FwdConfigId::kM192N64Wide},
    FwdRule{kOtherwise, &always, FwdConfigId::kM128N128},
};
constexpr std::array kHeadDim256{FwdRule{kOtherwise, &always, FwdConfigId::kM128N64}};

constexpr RuleTable<Path> kPathTable{"sm90_fwd[path]", kPath};
constexpr RuleTable<FwdConfigId> kTable32{"sm90_fwd[head_dim 32]", kHeadDim32};
constexpr RuleTable<FwdConfigId> kTable64{"sm90_fwd[head_dim 64]", kHeadDim64};
constexpr RuleTable<FwdConfigId> kTable80{"sm90_fwd[head_dim 80]", kHeadDim80};
constexpr RuleTable<FwdConfigId> kTable128{"sm90_fwd[head_dim 128]", kHeadDim128};
constexpr RuleTable<FwdConfigId> kTable256{"sm90_fwd[head_dim 256]", kHeadDim256};

const RuleTable<FwdConfigId>& table_of(std::int64_t head_dim) {
  switch (head_dim) {
    case 32:
      return kTable32;
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

/// Whether the dynamic schedule is faster. With a mask and many work tiles per SM, the SMs' times differ by 5 to 30 %
/// under the static schedule. Without a mask all work tiles are equal. At head_dim 128 the static schedule is faster
/// with 2.9 work tiles per SM and the dynamic schedule from 4.8 on; at head_dim 256 they are equally fast. FwdM128N64x2
/// was measured with the static schedule only, up to 3,200 work tiles.
bool schedules_dynamically(const Occupancy& o, FwdConfig config) {
  if (!o.causal() || config.teams > 1 || o.head_dim() > 128) return false;
  const std::int64_t half_rounds = o.head_dim() <= 64 ? 14 : 9;
  return 2 * o.q_tiles(rows(config)) > half_rounds * o.num_sms();
}

}  // namespace

bool alternates(const AttentionShape& shape, bool counted) {
  // Alternating is faster with the dynamic schedule, too. With that schedule, sequences of more than 4,096 keys, whose
  // groups have few heads, were not measured.
  constexpr std::int64_t kMaxKeys = 4096;
  return shape.causal && (!counted || shape.seq_kv <= kMaxKeys);
}

Selection<FwdPlan> select_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  const Occupancy occupancy{problem, limits};
  if (!is_hopper(limits) || !has_instance(problem, kForwardHeadDims) || tiles_128(occupancy) > kMaxItems) return {};
  const auto [path, path_rule] = kPathTable.decide(occupancy);
  if (path == Path::kSm80) return {.plan = {}, .rule = path_rule};
  const auto [tiles, rule] = table_of(problem.shape.head_dim).decide(occupancy);
  const bool counted = schedules_dynamically(occupancy, forward_tile(tiles));
  return {
      .plan =
          FwdPlan{
              .tiles = tiles, .counted = counted, .in_turns = alternates(problem.shape, counted), .overlaps = !counted},
      .rule = rule};
}

}  // namespace tbench::kernels::sm90
