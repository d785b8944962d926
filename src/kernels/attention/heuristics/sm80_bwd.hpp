// Selection of the sm80 backward kernels' algorithm, in every precision.
#pragma once

#include "kernels/attention/heuristics/rule.hpp"
#include "kernels/attention/sm80/bwd/config.hpp"

namespace tbench::kernels::sm80 {

/// Returns the plan of a problem that unsupported_reason() accepts, and its rule. There is always a plan.
[[nodiscard]] Selection<BwdPlan> select_backward(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] BwdPlan plan_backward(const AttentionProblem& problem, const DeviceLimits& limits);

}  // namespace tbench::kernels::sm80
