// Selection of the sm90 backward kernels, by head_dim.
#pragma once

#include "kernels/attention/heuristics/rule.hpp"
#include "kernels/attention/sm90/bwd_common/config.hpp"

namespace tbench::kernels::sm90 {

/// Returns the plan of the sm90 kernels for `problem`, and the rule that decided. There is no plan if these kernels
/// cannot compute the problem or the sm80 kernels are faster.
[[nodiscard]] Selection<BwdPlan> select_backward(const AttentionProblem& problem, const DeviceLimits& limits);

// Conditions of the rules: the first two for head_dim 64 and 80, the others for head_dim 64 only. They are declared
// here for the tests, because the rules of head_dim 64 try the split backward pass first and so may not reach them.

/// Whether one CTA per head (whole_heads_pay()) or two CTAs per head (shared_heads_pay()) are faster than every kernel
/// other than the split kernel.
[[nodiscard]] bool whole_heads_pay(const Occupancy& occupancy);
[[nodiscard]] bool shared_heads_pay(const Occupancy& occupancy);
/// Whether one CTA per head is also faster than the split backward pass. This is so with a causal mask if the last step
/// of 128 queries is more than half full, because the split backward pass takes steps of 64.
[[nodiscard]] bool whole_heads_beat_split(const Occupancy& occupancy);
/// Whether the split backward pass is faster than every kernel other than the kernel with one CTA per head.
[[nodiscard]] bool split_pays(const Occupancy& occupancy);

}  // namespace tbench::kernels::sm90
