#include "read_kernel.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::measure {

namespace {

constexpr int kThreads = 256;

__global__ void read_kernel(const float4* values, std::int64_t count, float* sums) {
  float sum = 0.0F;
  const std::int64_t stride = std::int64_t{kReadBlocks} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) {
    const float4 value = values[i];
    sum += value.x + value.y + value.z + value.w;
  }
  atomicAdd(sums + blockIdx.x, sum);
}

}  // namespace

void launch_read(const float4* values, std::int64_t count, float* sums, cudaStream_t stream) {
  read_kernel<<<kReadBlocks, kThreads, 0, stream>>>(values, count, sums);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tbench::measure
