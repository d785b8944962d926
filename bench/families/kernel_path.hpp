// Checks whether a step ran the kernels that its case's name promises. The kernels are recorded launch by launch and
// compared with the kernels that the implementation has to run, or are taken from a trace.
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
using StepKernels = std::vector<PhaseKernels>;  // in the order of the phases

/// Launches one step of a built case on a GPU and records its kernels. Does not synchronise. Releases CUPTI before it
/// returns.
/// @return  nullopt, without a launch, if CUPTI refuses, e.g. because a profiler is attached
/// @throws  any exception of the launch
[[nodiscard]] std::optional<StepKernels> record_kernels(Case& subject);

/// Returns the kernels in the order of their first launches, with counts above 1, as in "a; b x2 | c". "|" separates
/// phases.
[[nodiscard]] std::string to_string(const StepKernels& kernels);

/// Returns why these cannot be the kernels of `impl`; nullopt if they can.
/// @param mark  text that the name of a kernel of every phase must contain; empty: no such requirement
[[nodiscard]] std::optional<std::string> missing_kernel(std::string_view impl, std::string_view mark,
                                                        const StepKernels& kernels);

/// Returns why a step with these kernels is not the requested one; nullopt if it is. The reasons: `precision:tf32`
/// without a product in TF32 (profile::product_problem), `impl:flash` of Model without this project's fused attention
/// in the forward or backward pass, or a step that launched nothing.
[[nodiscard]] std::optional<std::string> kernel_path_problem(const CaseId& id, const StepTrace& step);

}  // namespace tbench::bench
