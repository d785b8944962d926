// Faults that the tests plant into the kernels, to see that the comparison with the reference finds them. The library
// holds none: planted() is false at compile time unless TBENCH_PLANTED_FAULTS is defined, as it is for the test
// library that builds the same sources again, for one head_dim, with the fault chosen at run time.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/attention/common/injected_fault.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {

#ifdef TBENCH_PLANTED_FAULTS

namespace {
/// One for each file of kernels: a device variable is known in its own file alone. See upload_planted_fault().
__constant__ InjectedFault fault_on_device;
}  // namespace

/// In a kernel: whether `fault` is to be committed here.
__device__ inline bool injected(InjectedFault fault) { return fault_on_device == fault; }

/// Makes the calling threads some microseconds late if `fault`, a race, is planted, where else all might happen to keep
/// pace.
__device__ inline void delay(InjectedFault fault) {
  if (!injected(fault)) return;
  for (const long long start = clock64(); clock64() - start < 10000;) {
  }
}

/// Before a tile is copied to shared memory: makes one warp late. The others then read what it has not copied yet.
__device__ inline void delay_one_warp(InjectedFault fault) {
  if (threadIdx.x < 32) delay(fault);
}

/// Before a launch, in the file of the kernel: hands the chosen fault to the device.
/// @throws  cuda::CudaError
static inline void upload_planted_fault(cudaStream_t stream) {
  TBENCH_CUDA_CHECK(cudaMemcpyToSymbolAsync(fault_on_device, &planted_fault(), sizeof(InjectedFault), 0,
                                            cudaMemcpyHostToDevice, stream));
}

/// The head dims that are built; a dispatch over head dims asks it before it names an instantiation.
constexpr bool is_instantiated(int head_dim) { return head_dim == kPlantedHeadDim; }

#else

__device__ constexpr bool injected(InjectedFault) { return false; }
__device__ constexpr void delay(InjectedFault) {}
__device__ constexpr void delay_one_warp(InjectedFault) {}
inline void upload_planted_fault(cudaStream_t) {}
constexpr bool is_instantiated(int) { return true; }

#endif

}  // namespace tbench::kernels
