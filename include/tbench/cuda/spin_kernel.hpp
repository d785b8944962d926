// A kernel that takes a known time and touches no memory: what a launch is hidden behind.
#pragma once

#include <cuda_runtime_api.h>

#include "tbench/core/units.hpp"

namespace tbench::cuda {

/// Enqueues one thread that spins until the GPU's nanosecond timer has gone on by `duration`. It waits for no flag of
/// the host's, which would deadlock with a host that waits for the device, as when it loads a kernel.
/// @param duration  at least 0; the timer's own steps, some 1 us on some GPUs, are its resolution
/// @throws  CudaError  if the launch fails
void launch_spin(Seconds duration, cudaStream_t stream);

}  // namespace tbench::cuda
