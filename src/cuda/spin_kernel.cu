#include <cmath>

#include "tbench/cuda/error.hpp"
#include "tbench/cuda/spin_kernel.hpp"

namespace tbench::cuda {

namespace {

__device__ unsigned long long global_nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// The global timer and not clock64(): its unit does not depend on the SM clock.
__global__ void spin_kernel(unsigned long long nanoseconds) {
  const unsigned long long begin = global_nanoseconds();
  while (global_nanoseconds() - begin < nanoseconds) {
  }
}

}  // namespace

void launch_spin(Seconds duration, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(std::llround(duration.value * 1e9)));
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tbench::cuda
