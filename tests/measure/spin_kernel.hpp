// A kernel that takes a known time, for the tests of the event timer.
#pragma once

#include <cuda_runtime_api.h>

namespace tbench::measure {

/// Enqueues one thread that spins until the GPU's nanosecond timer has gone on by `seconds`.
/// @throws  cuda::CudaError  if the launch fails
void launch_spin(double seconds, cudaStream_t stream);

}  // namespace tbench::measure
