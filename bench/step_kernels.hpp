// The kernels that a step of a case runs: recorded once, told in the record, and held against what the case's
// implementation has to run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/capture/kernel_launches.hpp"
#include "tbench/core/case.hpp"

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

}  // namespace tbench::bench
