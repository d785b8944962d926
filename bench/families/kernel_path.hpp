// Whether a step ran the kernels that its case's name promises: recorded launch by launch, and held against what the
// implementation has to run, or seen in a trace.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/capture/kernel_launches.hpp"
#include "tbench/core/case.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/step_trace.hpp"

namespace tbench::bench {

struct PhaseKernels {
  std::string_view phase;  // one of Case::phases()
  std::vector<capture::KernelLaunch> launches;
};
using StepKernels = std::vector<PhaseKernels>;  // phase by phase, in their order

/// Launches one step of a case that was built, on a GPU. Does not synchronise. CUPTI is let go before it returns.
/// @return  nothing, and nothing was launched, if CUPTI refuses: a profiler is attached
/// @throws  whatever the launch does
[[nodiscard]] std::optional<StepKernels> record_kernels(Case& subject);

/// "a; b x2 | c": kernels in the order of their first launches, more than one launch counted, phases apart.
[[nodiscard]] std::string to_string(const StepKernels& kernels);

/// Why these cannot be the kernels of `impl`, or nothing.
/// @param mark  what the name of a kernel of every phase has to contain; empty: nothing is asked
[[nodiscard]] std::optional<std::string> missing_kernel(std::string_view impl, std::string_view mark,
                                                        const StepKernels& kernels);

/// Why a step with these kernels is not the one that was asked for, or nothing: `precision:tf32` without a product in
/// TF32 (profile::product_problem), `impl:flash` of Model with a forward or backward pass without our fused attention,
/// a step that launched nothing.
[[nodiscard]] std::optional<std::string> kernel_path_problem(const CaseId& id, const StepTrace& step);

}  // namespace tbench::bench
