#include "kernels/attention/heuristics/sm90_tf32.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/heuristics/sm90_fwd.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

/// The path that is faster.
enum class Path { kSm80, kSm90 };
using PathRule = Rule<Path>;

/// If tiles are few, the sm80 kernels divide a tile's keys among warps, which is faster for short sequences.
constexpr std::array kForwardPath{
    PathRule{"fewer than 128 queries or keys", [](const Occupancy& o) { return o.min_seq() < 128; }, Path::kSm80},
    PathRule{"seq_kv >= 1,024", [](const Occupancy& o) { return o.seq_kv() >= 1024; }, Path::kSm90},
    PathRule{"head_dim 64, 64-row tiles >= 2/5 of SMs",
             [](const Occupancy& o) { return o.head_dim() == 64 && 5 * o.q_tiles(64) >= 2 * o.num_sms(); },
             Path::kSm90},
    PathRule{"head_dim 128, 64-row tiles >= 1/5 of SMs",
             [](const Occupancy& o) { return o.head_dim() == 128 && 5 * o.q_tiles(64) >= o.num_sms(); }, Path::kSm90},
    PathRule{kOtherwise, &always, Path::kSm80},
};

/// The number of K/V tiles or of Q tiles, whichever is smaller.
std::int64_t min_tiles(const Occupancy& o) { return std::min(o.kv_tiles(kKeptRows), o.q_tiles(kKeptRows)); }

/// The sm80 kernels are faster for few tokens, because they need only one launch, and for few tiles at head_dim 128,
/// because they divide the keys among warps.
constexpr std::array kBackwardPath{
    PathRule{"fewer than 128 queries or keys", [](const Occupancy& o) { return o.min_seq() < 128; }, Path::kSm80},
    PathRule{"fewer than 256 queries or keys, 128-row tiles >= SMs / 5",
             [](const Occupancy& o) { return o.min_seq() < 256 && 5 * min_tiles(o) >= o.num_sms(); }, Path::kSm90},
    PathRule{"fewer than 256 queries or keys", [](const Occupancy& o) { return o.min_seq() < 256; }, Path::kSm80},
    PathRule{"head_dim 64", [](const Occupancy& o) { return o.head_dim() == 64; }, Path::kSm90},
    PathRule{"128-row tiles >= SMs / 8", [](const Occupancy& o) { return 8 * min_tiles(o) >= o.num_sms(); },
             Path::kSm90},
    PathRule{"seq_kv <= 512 or seq_kv > 2,048",
             [](const Occupancy& o) { return o.seq_kv() <= 512 || o.seq_kv() > 2048; }, Path::kSm90},
    PathRule{kOtherwise, &always, Path::kSm80},
};

constexpr RuleTable<Path> kForwardTable{"sm90_tf32[forward path]", kForwardPath};
constexpr RuleTable<Path> kBackwardTable{"sm90_tf32[backward path]", kBackwardPath};

bool has_instance(const AttentionProblem& problem) {
  return problem.precision == Precision::kTf32 && problem.shape.group() == 1 &&
         std::ranges::find(kHeadDims, problem.shape.head_dim) != kHeadDims.end();
}

/// Whether the kernel with stationary keys issues in ping-pong order. At head_dim 128 this order is 4 to 11 % faster
/// from 1,024 tokens on with 16 heads, and slower at 512 tokens or with more heads (H200, this kernel's rows in
/// src/kernels/experiments.csv). At head_dim 64 it gains 1 to 2 % with a causal mask and loses 3 % without.
bool pingpong_pays(const AttentionShape& shape) { return shape.head_dim == 128 && shape.seq_q >= 1024; }

}  // namespace

Selection<FwdPlan> select_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  constexpr std::int64_t kMaxItems = std::numeric_limits<int>::max() / 2;  // the counter can exceed the last work tile
  const Occupancy occupancy{problem, limits};
  if (!is_hopper(limits) || !has_instance(problem)) return {};
  const std::int64_t items = occupancy.q_tiles(rows(forward_tile(problem.shape.head_dim)));
  if (items > kMaxItems) return {};
  const auto [path, rule] = kForwardTable.decide(occupancy);
  if (path == Path::kSm80) return {.plan = {}, .rule = rule};
  // The dynamic schedule costs nothing here, because the preprocess kernel clears the counter. On an H100, 12 heads of
  // batch 4 and 1,024 tokens at head_dim 128 take 7 % longer with the static schedule. Without a mask work tiles are
  // equal. With the dynamic schedule, alternating groups are 5 % faster at 1,024 tokens and make no clear difference
  // from 8,192 tokens on.
  const bool counted = problem.shape.causal && items > limits.multiprocessors;
  return {.plan = FwdPlan{.counted = counted, .in_turns = sm90::alternates(problem.shape, counted)}, .rule = rule};
}

Selection<BwdPlan> select_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  constexpr std::int64_t kMaxWorkTiles = std::numeric_limits<int>::max();
  const Occupancy occupancy{problem, limits};
  if (!is_hopper(limits) || !has_instance(problem)) return {};
  if (std::max(occupancy.kv_tiles(kKeptRows), occupancy.q_tiles(kKeptRows)) > kMaxWorkTiles) return {};
  const auto [path, rule] = kBackwardTable.decide(occupancy);
  if (path == Path::kSm80) return {.plan = {}, .rule = rule};
  return {.plan = BwdPlan{.pingpong = pingpong_pays(problem.shape)}, .rule = rule};
}

}  // namespace tbench::kernels::sm90_tf32
