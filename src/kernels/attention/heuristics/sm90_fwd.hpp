// Selection of the sm90 forward kernel, its config and its schedule.
#pragma once

#include "kernels/attention/heuristics/rule.hpp"
#include "kernels/attention/sm90/fwd/config.hpp"

namespace tbench::kernels::sm90 {

/// Returns the plan of the sm90 kernel for `problem`, and the rule that decided. There is no plan if this kernel cannot
/// compute the problem or the sm80 kernels are faster.
[[nodiscard]] Selection<FwdPlan> select_forward(const AttentionProblem& problem, const DeviceLimits& limits);

/// Whether successive groups of heads take their tiles in alternating direction (TileOrder). The TF32 kernel uses the
/// same rule.
[[nodiscard]] bool alternates(const AttentionShape& shape, bool counted);

}  // namespace tbench::kernels::sm90
