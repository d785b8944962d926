// The GPU's own time of day.
#pragma once

namespace tbench::cuda {

/// Since some fixed moment, and independent of the SM clock; its steps are some 1 us on some GPUs.
__device__ inline unsigned long long global_nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

}  // namespace tbench::cuda
