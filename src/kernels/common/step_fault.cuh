// Faults that the tests inject into the kernels of a fused step, to check that the Kernel family's verification finds
// them. The library contains no faults: injected() is false at compile time unless TBENCH_PLANTED_STEP_FAULTS is
// defined, which the tests define when they build the same sources again.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/common/step_fault.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {

#ifdef TBENCH_PLANTED_STEP_FAULTS

namespace {
/// The selected fault. Each kernel file has its own variable, because a device variable is visible only in its own
/// file.
__constant__ InjectedStepFault step_fault_on_device;
}  // namespace

/// Whether `fault` is selected, so that the calling device code has to behave wrongly.
__device__ inline bool injected(InjectedStepFault fault) { return step_fault_on_device == fault; }

/// Whether `fault` is selected, so that the calling launch function has to behave wrongly.
inline bool planted_in_launch(InjectedStepFault fault) { return step_fault() == fault; }

/// Copies the selected fault to the device. Called before each launch, in the kernel's own file.
/// @throws  cuda::CudaError
static inline void upload_step_fault(cudaStream_t stream) {
  TBENCH_CUDA_CHECK(cudaMemcpyToSymbolAsync(step_fault_on_device, &step_fault(), sizeof(InjectedStepFault), 0,
                                            cudaMemcpyHostToDevice, stream));
}

/// Delays the calling threads by some microseconds if `fault` is injected. Without the delay, a race might have no
/// effect, because all threads happen to run at the same pace.
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
