// Faults that the tests inject into the kernels of a fused step, to see that the Kernel family's verification finds
// them. The library has none: injected() is false at compile time unless TBENCH_PLANTED_STEP_FAULTS is defined, which
// the tests define when they build the same sources again.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/common/step_fault.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {

#ifdef TBENCH_PLANTED_STEP_FAULTS

namespace {
/// One variable per kernel file, because a device variable is visible in its own file alone.
__constant__ InjectedStepFault step_fault_on_device;
}  // namespace

/// Whether a kernel has to commit `fault` at this place.
__device__ inline bool injected(InjectedStepFault fault) { return step_fault_on_device == fault; }

/// Whether a launch function has to commit `fault`.
inline bool planted_in_launch(InjectedStepFault fault) { return step_fault() == fault; }

/// Sends the selected fault to the device. Called before a launch, in the kernel's file.
/// @throws  cuda::CudaError
static inline void upload_step_fault(cudaStream_t stream) {
  TBENCH_CUDA_CHECK(cudaMemcpyToSymbolAsync(step_fault_on_device, &step_fault(), sizeof(InjectedStepFault), 0,
                                            cudaMemcpyHostToDevice, stream));
}

/// Delays the calling threads by some microseconds if the race `fault` is injected. Without the delay all threads might
/// keep pace by chance.
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
