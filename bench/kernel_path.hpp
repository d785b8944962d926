// Whether the kernels that were traced are those that a case's name promises.
#pragma once

#include <optional>
#include <string>

#include "tbench/core/case_id.hpp"
#include "tbench/core/step_trace.hpp"

namespace tbench::bench {

/// Why a step with these kernels is not the one that was asked for, or nothing: `precision:tf32` without a product in
/// TF32 (profile::product_problem), `impl:flash` of Model with a forward or backward pass without our fused attention,
/// a step that launched nothing.
[[nodiscard]] std::optional<std::string> kernel_path_problem(const CaseId& id, const StepTrace& step);

}  // namespace tbench::bench
