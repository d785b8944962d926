// Faults that the tests plant into the kernels of a fused step, to see that the Kernel family's verification finds
// them. The library holds none: planted() is false at compile time unless TBENCH_PLANTED_STEP_FAULTS is defined, as it
// is where the tests build the same sources again.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/common/step_fault.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {

#ifdef TBENCH_PLANTED_STEP_FAULTS

namespace {
/// One for each file of kernels: a device variable is known in its own file alone.
__constant__ InjectedStepFault step_fault_on_device;
}  // namespace

/// In a kernel: whether `fault` is to be committed here.
__device__ inline bool injected(InjectedStepFault fault) { return step_fault_on_device == fault; }

/// In a launch function.
inline bool planted_in_launch(InjectedStepFault fault) { return step_fault() == fault; }

/// Before a launch, in the file of the kernel: hands the chosen fault to the device.
/// @throws  cuda::CudaError
static inline void upload_step_fault(cudaStream_t stream) {
  TBENCH_CUDA_CHECK(cudaMemcpyToSymbolAsync(step_fault_on_device, &step_fault(), sizeof(InjectedStepFault), 0,
                                            cudaMemcpyHostToDevice, stream));
}

/// Of a race: makes the calling threads some microseconds late, where else all might happen to keep pace.
__device__ inline void delay(InjectedStepFault fault) {
  if (!injected(fault)) return;
  for (const long long start = clock64(); clock64() - start < 10000;) {
  }
}

#else

__device__ constexpr bool injected(InjectedStepFault) { return false; }
constexpr bool planted_in_launch(InjectedStepFault) { return false; }
inline void upload_step_fault(cudaStream_t) {}
__device__ constexpr void delay(InjectedStepFault) {}

#endif

}  // namespace tbench::kernels
