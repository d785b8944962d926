#include "tbench/core/step_trace.hpp"

#include <algorithm>
#include <string_view>

namespace tbench {
namespace {

constexpr double kHostBoundShare = 0.05;

bool is_kernel(const TracedKernel& kernel) {
  return kernel.kernel_class != "memcpy" && kernel.kernel_class != "memset";
}

}  // namespace

double kernels_per_step(const StepTrace& trace) {
  double kernels = 0;
  for (const TracedKernel& kernel : trace.kernels) kernels += is_kernel(kernel) ? kernel.calls : 0;
  return kernels;
}

double idle_share(const StepTrace& trace, Seconds step) {
  return step.value > 0 ? std::max(0.0, 1 - trace.device / step) : 0;
}

bool is_host_bound(const StepTrace& trace, Seconds step) {
  const Seconds lost = step - trace.device - trace.device_gaps;
  return std::min(trace.host_gaps, lost).value > kHostBoundShare * step.value;
}

}  // namespace tbench
