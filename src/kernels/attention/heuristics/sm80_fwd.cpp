#include "kernels/attention/heuristics/sm80_fwd.hpp"

#include <array>

namespace tbench::kernels::sm80 {
namespace {

using FwdRule = Rule<FwdConfigId>;

bool fits(const Occupancy& o, FwdConfigId tiles) { return o.fits(forward_tile_bytes(o.problem, tiles)); }

std::int64_t short_tiles(const Occupancy& o) { return o.q_tiles(64); }
std::int64_t long_tiles(const Occupancy& o) { return o.q_tiles(128); }

// If there are so few tiles that each has an SM to itself, groups of warps divide a tile's keys. A CTA has 16 queries
// for up to an eighth as many 64-row tiles as SMs, 32 queries for up to half as many, and 64 for up to as many.
bool up_to_an_eighth(const Occupancy& o) { return 8 * short_tiles(o) <= o.num_sms(); }
bool up_to_half(const Occupancy& o) { return !up_to_an_eighth(o) && 2 * short_tiles(o) <= o.num_sms(); }
bool up_to_all(const Occupancy& o) { return 2 * short_tiles(o) > o.num_sms() && short_tiles(o) <= o.num_sms(); }

/// With a causal mask tiles have unequal work, and many tiles balance it better. Long tiles therefore pay only if they
/// fill the SMs about twice.
bool long_tiles_fill_twice(const Occupancy& o) { return o.causal() && long_tiles(o) >= 2 * o.num_sms(); }

/// Without a mask long tiles pay as soon as short tiles cannot all run at once.
bool short_tiles_wait(const Occupancy& o) {
  const int at_once = forward_tile(o.problem, FwdConfigId::kM64N64).blocks_per_multiprocessor;
  return !o.causal() && short_tiles(o) > o.num_sms() * at_once;
}

constexpr std::array k16Bit{
    FwdRule{"head_dim <= 128, seq_kv > 1,024, 64-row tiles <= SMs (no mask: half of them)",
            [](const Occupancy& o) { return forward_split_kv(o.shape(), o.limits).num_splits > 1; },
            FwdConfigId::kSplitKv},
    FwdRule{"head_dim <= 128, 64-row tiles <= SMs / 8, seq_kv > 64, fits",
            [](const Occupancy& o) {
              return o.head_dim() <= 128 && up_to_an_eighth(o) && o.seq_kv() > 64 &&
                     fits(o, FwdConfigId::kWarpSplitM16);
            },
            FwdConfigId::kWarpSplitM16},
    FwdRule{"head_dim <= 128, SMs / 8 < 64-row tiles <= SMs / 2, seq_kv > 128, fits",
            [](const Occupancy& o) {
              return o.head_dim() <= 128 && up_to_half(o) && o.seq_kv() > 128 && fits(o, FwdConfigId::kWarpSplitM32);
            },
            FwdConfigId::kWarpSplitM32},
    FwdRule{"head_dim <= 128, SMs / 2 < 64-row tiles <= SMs, seq_kv > 512, fits",
            [](const Occupancy& o) {
              return o.head_dim() <= 128 && up_to_all(o) && o.seq_kv() > 512 && fits(o, FwdConfigId::kWarpSplitM64);
            },
            FwdConfigId::kWarpSplitM64},
    FwdRule{"causal, seq_kv <= 1,024 (head_dim > 64: 512)",
            [](const Occupancy& o) { return o.causal() && o.seq_kv() <= (o.head_dim() <= 64 ? 1024 : 512); },
            FwdConfigId::kM64N64},
    FwdRule{"causal, 128-row tiles >= 2 x SMs", &long_tiles_fill_twice, FwdConfigId::kM128N64},
    FwdRule{"no mask, 64-row tiles > what runs at once", &short_tiles_wait, FwdConfigId::kM128N64},
    FwdRule{kOtherwise, &always, FwdConfigId::kM64N64},
};

constexpr std::array kTf32{
    FwdRule{"causal, 128-row tiles >= 2 x SMs, fits",
            [](const Occupancy& o) { return long_tiles_fill_twice(o) && fits(o, FwdConfigId::kM128N64); },
            FwdConfigId::kM128N64},
    FwdRule{"no mask, 64-row tiles > what runs at once, fits",
            [](const Occupancy& o) { return short_tiles_wait(o) && fits(o, FwdConfigId::kM128N64); },
            FwdConfigId::kM128N64},
    FwdRule{"64-row tiles <= SMs / 8, fits",
            [](const Occupancy& o) { return up_to_an_eighth(o) && fits(o, FwdConfigId::kWarpSplitM16); },
            FwdConfigId::kWarpSplitM16},
    FwdRule{"SMs / 8 < 64-row tiles <= SMs / 2, fits",
            [](const Occupancy& o) { return up_to_half(o) && fits(o, FwdConfigId::kWarpSplitM32); },
            FwdConfigId::kWarpSplitM32},
    FwdRule{"SMs / 2 < 64-row tiles <= SMs, fits",
            [](const Occupancy& o) { return up_to_all(o) && fits(o, FwdConfigId::kWarpSplitM64); },
            FwdConfigId::kWarpSplitM64},
    FwdRule{kOtherwise, &always, FwdConfigId::kM64N64},
};

/// A float32 product takes three TF32 products, so chains of dependent products are three times as long and split warps
/// pay in larger grids. With a causal mask the heaviest of the concurrent CTAs determines the time, so twice as many
/// tiles still count as few.
constexpr std::array kFp32{
    FwdRule{"causal, 64-row tiles <= SMs, fits",
            [](const Occupancy& o) {
              return o.causal() && short_tiles(o) <= o.num_sms() && fits(o, FwdConfigId::kWarpSplitM32);
            },
            FwdConfigId::kWarpSplitM32},
    FwdRule{"no mask, 64-row tiles <= SMs / 2, fits",
            [](const Occupancy& o) {
              return !o.causal() && 2 * short_tiles(o) <= o.num_sms() && fits(o, FwdConfigId::kWarpSplitM32);
            },
            FwdConfigId::kWarpSplitM32},
    FwdRule{"causal, SMs < 64-row tiles < 2 x SMs, fits",
            [](const Occupancy& o) {
              return o.causal() && short_tiles(o) > o.num_sms() && short_tiles(o) < 2 * o.num_sms() &&
                     fits(o, FwdConfigId::kWarpSplitM64);
            },
            FwdConfigId::kWarpSplitM64},
    FwdRule{"no mask, SMs / 2 < 64-row tiles < SMs, fits",
            [](const Occupancy& o) {
              return !o.causal() && 2 * short_tiles(o) > o.num_sms() && short_tiles(o) < o.num_sms() &&
                     fits(o, FwdConfigId::kWarpSplitM64);
            },
            FwdConfigId::kWarpSplitM64},
    FwdRule{kOtherwise, &always, FwdConfigId::kM64N64},
};

constexpr RuleTable<FwdConfigId> kTable16Bit{"sm80_fwd[16 bits]", k16Bit};
constexpr RuleTable<FwdConfigId> kTableTf32{"sm80_fwd[tf32]", kTf32};
constexpr RuleTable<FwdConfigId> kTableFp32{"sm80_fwd[fp32]", kFp32};

const RuleTable<FwdConfigId>& table_of(Precision precision) {
  if (is_16bit(precision)) return kTable16Bit;
  return precision == Precision::kFp32 ? kTableFp32 : kTableTf32;
}

}  // namespace

Selection<FwdPlan> select_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  const auto [tiles, rule] = table_of(problem.precision).decide({problem, limits});
  FwdPlan plan{.tiles = tiles};
  if (tiles == FwdConfigId::kSplitKv) {
    plan.split_kv = forward_split_kv(problem.shape, limits);
    plan.workspace_bytes = forward_workspace(problem.shape, plan.split_kv).bytes();
  }
  return {.plan = plan, .rule = rule};
}

FwdPlan plan_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return *select_forward(problem, limits).plan;
}

}  // namespace tbench::kernels::sm80
