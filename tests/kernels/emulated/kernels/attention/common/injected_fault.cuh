// Replaces src/kernels/attention/common/injected_fault.cuh when kernels are compiled for the emulator: faults are
// selected at run time, for every head_dim.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/attention/common/injected_fault.hpp"

namespace tbench::kernels {

inline bool injected(InjectedFault fault) { return planted_fault() == fault; }
inline void delay(InjectedFault) {}  // the order of the warps is random anyway
inline void delay_one_warp(InjectedFault) {}
inline void upload_planted_fault(cudaStream_t) {}
constexpr bool is_instantiated(int) { return true; }

}  // namespace tbench::kernels
