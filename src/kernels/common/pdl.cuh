// Programmatic dependent launch (PDL): a kernel starts while the previous kernel on its stream ends, so that its
// launch, and its work before the first memory access, overlap the end of the previous kernel.
//
// The rule: in a kernel that launch_pdl() starts, every thread that accesses global memory calls griddep_wait() before
// its first access. This holds for reads of data that earlier kernels write and for writes over data that they still
// read. Parameters, and data that no kernel of the stream ever writes, may be read earlier.
//
// A wait for this kernel then includes all kernels before it: the wait ends when this kernel has ended, and this kernel
// has itself waited for its predecessor. A kernel that follows the rule may therefore call griddep_launch_dependents()
// as its first statement, whatever kernel comes next: a kernel with an ordinary launch does not start early, and a
// kernel launched by launch_pdl() waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "tbench/cuda/error.hpp"

namespace tbench::kernels {

/// Lets the next kernel of the stream start, if its launch allows it, as soon as every CTA has called this function or
/// ended.
__device__ __forceinline__ void griddep_launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

/// Waits until the previous kernel has ended and its writes are visible. Returns at once in a kernel with an ordinary
/// launch.
__device__ __forceinline__ void griddep_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\n" ::: "memory");
#endif
}

/// Whether kernels of the current device can overlap in this way: compute capability 9.0 and later.
/// @throws  cuda::CudaError
inline bool device_overlaps_kernels() {
  int device{}, major{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 9;
}

/// Launches a kernel that follows the rule above. The launch is ordinary if the device does not support PDL or the
/// previous operation is not a kernel. CUDA graphs preserve the overlap.
/// @throws  cuda::CudaError
template <class... Parameters, class... Arguments>
void launch_pdl(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                const Arguments&... arguments) {
  cudaLaunchAttribute overlaps{};
  overlaps.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlaps.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &overlaps;
  config.numAttrs = device_overlaps_kernels() ? 1 : 0;
  TBENCH_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

}  // namespace tbench::kernels
