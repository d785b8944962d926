// Selection of the sm90 TF32 kernels of both passes.
#pragma once

#include "kernels/attention/heuristics/rule.hpp"
#include "kernels/attention/sm90_tf32/bwd/config.hpp"
#include "kernels/attention/sm90_tf32/fwd/config.hpp"

namespace tbench::kernels::sm90_tf32 {

/// Return the plan of the sm90 TF32 kernels for `problem`, and the rule that decided. There is no plan if these kernels
/// cannot compute the problem or the sm80 kernels are faster.
[[nodiscard]] Selection<FwdPlan> select_forward(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] Selection<BwdPlan> select_backward(const AttentionProblem& problem, const DeviceLimits& limits);

}  // namespace tbench::kernels::sm90_tf32
