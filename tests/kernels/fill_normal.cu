#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "fill_normal.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {
namespace {

/// splitmix64's output function (Steele, Lea, Flood, OOPSLA 2014): neighbouring counters give unrelated bits.
__device__ std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Box and Muller's: one of the pair.
__device__ float normal(std::uint64_t bits) {
  const float u = (static_cast<float>(bits >> 40U) + 0.5F) * 0x1p-24F;
  const float angle = static_cast<float>(bits & 0xffffffU) * 0x1p-23F;  // in half turns
  return sqrtf(-2.0F * logf(u)) * cospif(angle);
}

template <class Element>
__global__ void fill_normal_kernel(Element* data, std::int64_t count, std::uint64_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    data[i] = static_cast<Element>(normal(mix(mix(seed) + static_cast<std::uint64_t>(i))));
  }
}

template <class Element>
void launch(void* data, std::int64_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_normal_kernel<<<1024, 256, 0, stream>>>(static_cast<Element*>(data), count, seed);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void fill_normal(void* data, std::int64_t count, Precision precision, std::uint64_t seed, cudaStream_t stream) {
  switch (precision) {
    case Precision::kBf16:
      return launch<__nv_bfloat16>(data, count, seed, stream);
    case Precision::kFp16:
      return launch<__half>(data, count, seed, stream);
    case Precision::kFp32:
    case Precision::kTf32:
      return launch<float>(data, count, seed, stream);
  }
}

}  // namespace tbench::kernels
