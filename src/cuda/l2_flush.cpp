#include "tbench/cuda/l2_flush.hpp"

#include "tbench/cuda/error.hpp"

namespace tbench::cuda {

namespace {

constexpr std::size_t kTimesCache = 2;
/// Any but 0, which memory that has just been allocated may hold.
constexpr int kPattern = 0x5a;

std::size_t l2_bytes() {
  int device{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  int bytes{};
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
  return static_cast<std::size_t>(bytes);
}

}  // namespace

L2Flush::L2Flush() : bytes_{kTimesCache * l2_bytes()}, block_{make_device_memory(bytes_)} {}

void L2Flush::enqueue(cudaStream_t stream) const {
  TBENCH_CUDA_CHECK(cudaMemsetAsync(block_.get(), kPattern, bytes_, stream));
}

}  // namespace tbench::cuda
