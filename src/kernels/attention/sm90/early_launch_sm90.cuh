// The launch of a kernel of Hopper that may begin before the one before it has ended (kernels/common/overlap.cuh).
#pragma once

#include "kernels/attention/common/launch.cuh"
#include "kernels/common/overlap.cuh"

namespace tbench::kernels::sm90 {

/// launch_kernel() for a kernel that may begin before the one before it has ended.
template <class Parameters>
static void launch_early(void (*kernel)(Parameters), const Launch& launch, const Parameters& parameters,
                         cudaStream_t stream) {
  TBENCH_CUDA_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(launch.shared_bytes)));
  upload_planted_fault(stream);
  const auto extent = [](std::int64_t value) { return static_cast<unsigned>(value); };
  launch_overlapping(kernel, dim3{extent(launch.grid.x), extent(launch.grid.y), extent(launch.grid.z)},
                     static_cast<unsigned>(launch.threads), launch.shared_bytes, stream, parameters);
}

}  // namespace tbench::kernels::sm90
