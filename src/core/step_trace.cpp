// Derives values from the operations (step_trace.hpp) and the allocations (allocation_log.hpp) recorded for a step.
#include "tbench/core/step_trace.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "tbench/core/allocation_log.hpp"

namespace tbench {
namespace {

bool is_kernel(const TracedKernel& kernel) {
  return kernel.kernel_class != "memcpy" && kernel.kernel_class != "memset";
}

}  // namespace

double kernels_per_step(const StepTrace& trace) {
  double kernels = 0;
  for (const TracedKernel& kernel : trace.kernels) kernels += is_kernel(kernel) ? kernel.calls : 0;
  return kernels;
}

double operations_per_step(const StepTrace& trace) {
  double operations = 0;
  for (const TracedKernel& operation : trace.kernels) operations += operation.calls;
  return operations;
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
