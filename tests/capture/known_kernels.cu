#include "known_kernels.hpp"

namespace tbench::capture {
namespace {

template <class Element>
__global__ void known_kernel(const Element*) {}

}  // namespace

__global__ void other_kernel() {}

cudaError_t launch_known_float() {
  known_kernel<float><<<1, 1>>>(nullptr);
  return cudaGetLastError();
}

cudaError_t launch_known_int() {
  known_kernel<int><<<1, 1>>>(nullptr);
  return cudaGetLastError();
}

cudaError_t launch_other() {
  other_kernel<<<1, 1>>>();
  return cudaGetLastError();
}

cudaError_t launch_other_extended() {
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3{1, 1, 1};
  return cudaLaunchKernelEx(&config, &other_kernel);
}

cudaError_t launch_other_cooperatively() {
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&other_kernel), dim3{1, 1, 1}, dim3{1, 1, 1},
                                     nullptr);
}

}  // namespace tbench::capture
