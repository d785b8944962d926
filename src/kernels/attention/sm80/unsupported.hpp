// Limits of the sm80 kernels: which problems of a supported head_dim they refuse on a device.
#pragma once

#include <optional>
#include <string>

#include "tbench/kernels/attention_problem.hpp"
#include "tbench/kernels/device_limits.hpp"

namespace tbench::kernels::sm80 {

/// Returns why the shared memory of a CTA does not hold the tiles that problems of this head_dim can need, or why the
/// CTAs are more than the kernels count in an int; or nothing. Extents are positive.
[[nodiscard]] std::optional<std::string> unsupported_reason(const AttentionProblem& problem,
                                                            const DeviceLimits& limits);

}  // namespace tbench::kernels::sm80
