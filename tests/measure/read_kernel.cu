#include "read_kernel.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::measure {

namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads) read_kernel(const uint4* values, std::int64_t count, unsigned* last) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  unsigned offset = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) {
    // What was read is part of the next address.
    const uint4 value = values[i + offset];
    offset = value.x | value.y | value.z | value.w;
  }
  if (offset != 0) *last = offset;
}

}  // namespace

void launch_read(const uint4* zeros, std::int64_t count, unsigned* last, cudaStream_t stream) {
  read_kernel<<<kReadBlocks, kThreads, 0, stream>>>(zeros, count, last);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tbench::measure
