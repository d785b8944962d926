// What follows from what was recorded of a step: its operations (step_trace.hpp), its allocations (allocation_log.hpp).
#include "tbench/core/step_trace.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "tbench/core/allocation_log.hpp"

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

bool waits(const StepTrace& trace, Seconds step) {
  return (step - trace.device - trace.device_gaps).value > kHostBoundShare * step.value;
}

bool is_host_bound(const StepTrace& trace, Seconds step) {
  return waits(trace, step) && trace.host_gaps.value > kHostBoundShare * step.value;
}

std::vector<std::size_t> live_behind(const AllocationLog& log, std::size_t count) {
  std::unordered_map<std::uint64_t, std::size_t> live;  // by address
  for (std::size_t i = 0; i < count; ++i) {
    const AllocationEvent& event = log.events[i];
    if (event.bytes < 0) live.erase(event.address);
    if (event.bytes >= 0) live[event.address] = i;
  }
  std::vector<std::size_t> indexes;
  for (const auto& [address, index] : live) indexes.push_back(index);
  std::ranges::sort(indexes);
  return indexes;
}

}  // namespace tbench
