// Faults that the tests inject into the kernels, to check that the comparison with the reference finds them. The
// library contains no faults: injected() is false at compile time unless TBENCH_PLANTED_FAULTS is defined. The test
// library defines this macro and builds the same sources again, for one head_dim; the fault is selected at run time.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/attention/common/injected_fault.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {

#ifdef TBENCH_PLANTED_FAULTS

namespace {
/// The selected fault. Each kernel file has its own variable, because a device variable is visible only in its own
/// file. See upload_planted_fault().
__constant__ InjectedFault fault_on_device;
}  // namespace

/// Whether `fault` is selected, so that the calling code has to behave wrongly.
__device__ inline bool injected(InjectedFault fault) { return fault_on_device == fault; }

/// Delays the calling threads by some microseconds if `fault` is injected. Without the delay, a race might have no
/// effect, because all threads happen to run at the same pace.
__device__ inline void delay(InjectedFault fault) {
  if (!injected(fault)) return;
  for (const long long start = clock64(); clock64() - start < 10000;) {
  }
}

/// Delays the CTA's first warp before it loads a tile to shared memory. The other warps then read data that this warp
/// has not loaded yet.
__device__ inline void delay_one_warp(InjectedFault fault) {
  if (threadIdx.x < 32) delay(fault);
}

/// Copies the selected fault to the device. Called before each launch, in the kernel's own file.
/// @throws  cuda::CudaError
static inline void upload_planted_fault(cudaStream_t stream) {
  TBENCH_CUDA_CHECK(cudaMemcpyToSymbolAsync(fault_on_device, &planted_fault(), sizeof(InjectedFault), 0,
                                            cudaMemcpyHostToDevice, stream));
}

/// Whether kernels for a head_dim are built. A dispatch over head dims checks this before it names an instantiation.
constexpr bool is_instantiated(int head_dim) { return head_dim == kPlantedHeadDim; }

#else

__device__ constexpr bool injected(InjectedFault) { return false; }
__device__ constexpr void delay(InjectedFault) {}
__device__ constexpr void delay_one_warp(InjectedFault) {}
inline void upload_planted_fault(cudaStream_t) {}
constexpr bool is_instantiated(int) { return true; }

#endif

}  // namespace tbench::kernels
