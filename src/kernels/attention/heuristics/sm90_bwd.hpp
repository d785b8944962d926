// Selection of the sm90 backward kernels, by head_dim.
#pragma once

#include "kernels/attention/heuristics/rule.hpp"
#include "kernels/attention/sm90/bwd_common/config.hpp"

namespace tbench::kernels::sm90 {

/// Returns the plan of the sm90 kernels for `problem`, or nothing if they cannot compute the problem or the sm80
/// kernels are faster, and the rule that decided.
[[nodiscard]] Selection<BwdPlan> select_backward(const AttentionProblem& problem, const DeviceLimits& limits);

// Conditions of the rules, at head_dim 64 and 80 (the first two) or 64. The rules of head_dim 64 try the split backward
// pass first, which hides them.

/// Whether one CTA per head, or two, is faster than any kernel but the split one.
[[nodiscard]] bool whole_heads_pay(const Occupancy& occupancy);
[[nodiscard]] bool shared_heads_pay(const Occupancy& occupancy);
/// Whether one CTA per head is faster than the split backward pass, too. It is with a mask, and where the last step of
/// 128 queries is more than half full; the split backward pass walks in steps of 64.
[[nodiscard]] bool whole_heads_beat_split(const Occupancy& occupancy);
/// Whether the split backward pass is faster than any kernel but one CTA per head.
[[nodiscard]] bool split_pays(const Occupancy& occupancy);

}  // namespace tbench::kernels::sm90
