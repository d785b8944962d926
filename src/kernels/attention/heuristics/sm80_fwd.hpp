// Selection of the sm80 forward kernels' config, in every precision.
#pragma once

#include "kernels/attention/heuristics/rule.hpp"
#include "kernels/attention/sm80/fwd/config.hpp"

namespace tbench::kernels::sm80 {

/// Returns the plan of a problem that unsupported_reason() accepts, and its rule. There is always a plan.
[[nodiscard]] Selection<FwdPlan> select_forward(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] FwdPlan plan_forward(const AttentionProblem& problem, const DeviceLimits& limits);

}  // namespace tbench::kernels::sm80
