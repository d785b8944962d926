// Limits of the sm80 kernels: the problems of a supported head_dim that they refuse on a device.
#pragma once

#include <optional>
#include <string>

#include "tbench/kernels/attention_problem.hpp"
#include "tbench/kernels/device_limits.hpp"

namespace tbench::kernels::sm80 {

/// Returns why the kernels refuse `problem`, or nullopt if they accept it. They refuse it if the tiles of its head_dim
/// do not fit into a CTA's shared memory, or if the number of CTAs exceeds an int. Extents are positive.
[[nodiscard]] std::optional<std::string> unsupported_reason(const AttentionProblem& problem,
                                                            const DeviceLimits& limits);

}  // namespace tbench::kernels::sm80
