// Programmatic dependent launch: a kernel that begins while the one before it on its stream ends, so that its launch,
// and what it does before it reads, pass in the other's tail.
//
// The rule. A kernel that launch_pdl() starts calls griddep_wait() in every thread that touches global
// memory, before that thread's first access: reads, of what earlier kernels write, and writes, over what they still
// read. Parameters and what no kernel of the stream ever writes may be read before. Then whoever waits for this kernel
// has waited for all before it, too: a wait ends when the last kernel is over, which itself waited. So a kernel that
// keeps the rule may call griddep_launch_dependents() as its first statement, whatever comes next: a kernel launched as
// usual does not begin early, and one launched overlapping waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "tbench/cuda/error.hpp"

namespace tbench::kernels {

/// Lets the next kernel of the stream start where it may, as soon as every block has called this or ended.
__device__ __forceinline__ void griddep_launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

/// Waits until the kernel before is over and its writes are seen. Returns at once in a kernel launched as usual.
__device__ __forceinline__ void griddep_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\n" ::: "memory");
#endif
}

/// Whether kernels of the current device can overlap so: compute capability 9.0 and later.
/// @throws  cuda::CudaError
inline bool device_overlaps_kernels() {
  int device{}, major{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 9;
}

/// Launches a kernel that keeps the rule above; as usual where the device cannot do more, or what comes before is no
/// kernel. Graphs keep it.
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
