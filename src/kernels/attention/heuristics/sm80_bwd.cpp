#include "kernels/attention/heuristics/sm80_bwd.hpp"

#include <array>

namespace tbench::kernels::sm80 {
namespace {

/// An algorithm, and whether the warps of a CTA divide the streamed rows among them.
struct Algorithm {
  BwdAlgorithm method{};
  bool splits_warps{};
};
using BwdRule = Rule<Algorithm>;

constexpr Algorithm kFusedDelta{BwdAlgorithm::kSplitFusedDelta}, kSplit{BwdAlgorithm::kSplit},
    kAtomicDq{BwdAlgorithm::kAtomicDq};
constexpr Algorithm kFusedDeltaWarpSplit{BwdAlgorithm::kSplitFusedDelta, true}, kWarpSplit{BwdAlgorithm::kSplit, true},
    kAtomicDqWarpSplit{BwdAlgorithm::kAtomicDq, true};

/// Whether dS fits into shared memory next to the tiles, and there are more than half as many K/V tiles as SMs. With
/// fewer tiles, the two additional products of the split kernel cost less than SMs left idle.
bool atomic_dq_pays(const Occupancy& o) {
  const int head_dim = static_cast<int>(o.head_dim());
  const BwdConfig tile = BwdAtomic::tile(head_dim);
  return o.fits(backward_shared_bytes(tile, head_dim, /*atomic=*/true)) && 2 * o.kv_tiles(tile.kept_rows) > o.num_sms();
}

constexpr std::array k16Bit{
    // Seven products instead of five cost less than the additional launches of the atomic algorithm.
    BwdRule{"at most 256 queries and keys", [](const Occupancy& o) { return o.max_seq() <= 256; }, kFusedDelta},
    BwdRule{"deterministic", [](const Occupancy& o) { return o.problem.deterministic; }, kSplit},
    BwdRule{"K/V tiles > SMs / 2, fits", &atomic_dq_pays, kAtomicDq},
    BwdRule{kOtherwise, &always, kSplit},
};

BwdConfig tile_of(const Occupancy& o, Algorithm algorithm) {
  return backward_32bit_tile(o.problem, algorithm.method, algorithm.splits_warps);
}

bool fits_32bit(const Occupancy& o, Algorithm algorithm) {
  return o.fits(backward_32bit_shared_bytes(tile_of(o, algorithm), static_cast<int>(o.head_dim()),
                                            algorithm.method == BwdAlgorithm::kAtomicDq));
}

std::int64_t blocks_32bit(const Occupancy& o, Algorithm algorithm) {
  const Grid grid = backward_32bit_launch(o.shape(), tile_of(o, algorithm), algorithm.method).grid;
  return grid.x * grid.y * grid.z;
}

/// Whether CTAs with split warps fit into shared memory and are faster because the usual CTAs are too few to fill the
/// GPU. With a causal mask the heaviest of the concurrent CTAs determines the time, so twice as many CTAs still count
/// as few. TF32 needs a third as many products in sequence, and split warps pay only up to half a GPU, with or without
/// a mask.
bool split_warps_pay(const Occupancy& o, Algorithm usual) {
  const std::int64_t blocks = blocks_32bit(o, usual);
  const bool is_small =
      o.problem.precision == Precision::kFp32 ? blocks < o.num_sms() * (o.causal() ? 2 : 1) : 2 * blocks <= o.num_sms();
  return is_small && fits_32bit(o, {usual.method, /*splits_warps=*/true});
}

bool is_short_32bit(const Occupancy& o) { return o.max_seq() <= 512; }

constexpr std::array k32Bit{
    BwdRule{"at most 512 queries and keys, CTAs < SMs (causal 2 x, TF32 half), fits",
            [](const Occupancy& o) { return is_short_32bit(o) && split_warps_pay(o, kFusedDelta); },
            kFusedDeltaWarpSplit},
    BwdRule{"at most 512 queries and keys", &is_short_32bit, kFusedDelta},
    BwdRule{"not deterministic, K/V tiles >= SMs, fits",
            [](const Occupancy& o) {
              return !o.problem.deterministic && blocks_32bit(o, kAtomicDq) >= o.num_sms() && fits_32bit(o, kAtomicDq);
            },
            kAtomicDq},
    // There is at most about one CTA with split warps per SM, too few to balance the unequal work under a causal mask.
    BwdRule{"not deterministic, no mask, head_dim % 32 = 0, 64-row K/V tiles >= SMs / 2, fits",
            [](const Occupancy& o) {
              return !o.problem.deterministic && !o.causal() &&
                     BwdFp32AtomicWarpSplit::serves(static_cast<int>(o.head_dim())) &&
                     blocks_32bit(o, kAtomicDqWarpSplit) >= (o.num_sms() + 1) / 2 && fits_32bit(o, kAtomicDqWarpSplit);
            },
            kAtomicDqWarpSplit},
    BwdRule{"CTAs < SMs (causal 2 x, TF32 half), fits", [](const Occupancy& o) { return split_warps_pay(o, kSplit); },
            kWarpSplit},
    BwdRule{kOtherwise, &always, kSplit},
};

constexpr RuleTable<Algorithm> kTable16Bit{"sm80_bwd[16 bits]", k16Bit};
constexpr RuleTable<Algorithm> kTable32Bit{"sm80_bwd[32 bits]", k32Bit};

bool starts_heaviest_first(const AttentionProblem& problem, BwdAlgorithm method, const DeviceLimits& limits) {
  if (!is_16bit(problem.precision)) return problem.shape.causal && method != BwdAlgorithm::kSplitFusedDelta;
  return method != BwdAlgorithm::kAtomicDq && splits_heads_first(problem, limits.multiprocessors);
}

}  // namespace

Selection<BwdPlan> select_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  const auto [algorithm, rule] = (is_16bit(problem.precision) ? kTable16Bit : kTable32Bit).decide({problem, limits});
  return {.plan = BwdPlan{.method = algorithm.method,
                          .splits_warps = algorithm.splits_warps,
                          .heads_first = starts_heaviest_first(problem, algorithm.method, limits),
                          .workspace = backward_workspace(problem, algorithm.method)},
          .rule = rule};
}

BwdPlan plan_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return *select_backward(problem, limits).plan;
}

}  // namespace tbench::kernels::sm80
