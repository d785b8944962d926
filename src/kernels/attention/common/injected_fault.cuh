// Faults that the tests inject into the kernels, to see that the comparison with the reference finds them. The library
// has none: injected() is false at compile time unless TBENCH_PLANTED_FAULTS is defined. The test library defines it
// and builds the same sources again, for one head_dim, with the fault selected at run time.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/attention/common/injected_fault.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {

#ifdef TBENCH_PLANTED_FAULTS

namespace {
/// One variable per kernel file, because a device variable is visible in its own file alone. See
/// upload_planted_fault().
__constant__ InjectedFault fault_on_device;
}  // namespace

/// Whether a kernel has to commit `fault` at this place.
__device__ inline bool injected(InjectedFault fault) { return fault_on_device == fault; }

/// Delays the calling threads by some microseconds if the race `fault` is injected. Without the delay all threads might
/// keep pace by chance.
__device__ inline void delay(InjectedFault fault) {
  if (!injected(fault)) return;
  for (const long long start = clock64(); clock64() - start < 10000;) {
  }
}

/// Delays one warp before it loads a tile to shared memory. The others then read data that it has not loaded yet.
__device__ inline void delay_one_warp(InjectedFault fault) {
  if (threadIdx.x < 32) delay(fault);
}

/// Sends the selected fault to the device. Called before a launch, in the kernel's file.
/// @throws  cuda::CudaError
static inline void upload_planted_fault(cudaStream_t stream) {
  TBENCH_CUDA_CHECK(cudaMemcpyToSymbolAsync(fault_on_device, &planted_fault(), sizeof(InjectedFault), 0,
                                            cudaMemcpyHostToDevice, stream));
}

/// Whether kernels for a head_dim are built; a dispatch over head dims asks before it names an instantiation.
constexpr bool is_instantiated(int head_dim) { return head_dim == kPlantedHeadDim; }

#else

__device__ constexpr bool injected(InjectedFault) { return false; }
__device__ constexpr void delay(InjectedFault) {}
__device__ constexpr void delay_one_warp(InjectedFault) {}
inline void upload_planted_fault(cudaStream_t) {}
constexpr bool is_instantiated(int) { return true; }

#endif

}  // namespace tbench::kernels
