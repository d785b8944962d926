#include "tbench/cuda/flush_and_spin.hpp"

#include <algorithm>
#include <cmath>

#include "cuda/global_timer.cuh"
#include "tbench/cuda/error.hpp"

namespace tbench::cuda {
namespace {

constexpr std::size_t kTimesCache = 2;
/// The byte that a flush writes; not 0, which newly allocated memory may already hold.
constexpr int kPattern = 0x5a;

std::size_t l2_bytes() {
  int device{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  int bytes{};
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
  return static_cast<std::size_t>(bytes);
}

/// Spins by the global timer instead of clock64(), whose unit depends on the SM clock.
__global__ void spin_kernel(unsigned long long nanoseconds) {
  const unsigned long long begin = global_nanoseconds();
  while (global_nanoseconds() - begin < nanoseconds) {
  }
}

}  // namespace

L2Flush::L2Flush() : bytes_{kTimesCache * l2_bytes()}, block_{make_device_memory(bytes_)} {}

void L2Flush::enqueue(cudaStream_t stream) const {
  TBENCH_CUDA_CHECK(cudaMemsetAsync(block_.get(), kPattern, bytes_, stream));
}

void L2Flush::read(const void* memory, std::size_t bytes, cudaStream_t stream) const {
  TBENCH_CUDA_CHECK(cudaMemcpyAsync(block_.get(), memory, std::min(bytes, bytes_), cudaMemcpyDeviceToDevice, stream));
}

void launch_spin(Seconds duration, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(std::llround(duration.value * 1e9)));
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tbench::cuda
