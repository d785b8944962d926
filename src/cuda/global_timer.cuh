// The GPU's global timer.
#pragma once

namespace tbench::cuda {

/// Returns the nanoseconds since a fixed moment, independent of the SM clock; the resolution is about 1 us on some
/// GPUs.
__device__ inline unsigned long long global_nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

}  // namespace tbench::cuda
