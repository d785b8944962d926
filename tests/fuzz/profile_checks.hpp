// Checks that hold for every profile, whatever its trace.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "tbench/profile/profile.hpp"

namespace tbench::fuzz {

/// Aborts if times do not add up.
inline void check(const tbench::profile::Profile& profile) {
  std::int64_t total_ns = 0;
  for (const auto& phase : profile.phases) total_ns += phase.kernel_ns + phase.copy_ns;
  if (total_ns != profile.operations_ns) std::abort();
  std::int64_t exclusive_ns = profile.operations_without_range_ns;
  for (const auto& range : profile.ranges) exclusive_ns += range.gpu_exclusive_ns;
  if (exclusive_ns != profile.operations_ns) std::abort();
  std::int64_t by_kernel_ns = 0;
  for (const auto& kernel : profile.range_kernels) by_kernel_ns += kernel.total_ns;
  if (by_kernel_ns != profile.operations_ns) std::abort();
  for (const auto& phase : profile.phases) {
    if (phase.busy_ns + phase.gaps.total_ns() != phase.span_ns) std::abort();
  }
  for (const auto& device : profile.devices) {
    if (device.busy_ns + device.gaps.total_ns() != device.span_ns) std::abort();
  }
}

}  // namespace tbench::fuzz
