// A kernel whose time depends on where its input is, for the tests of warm and cold caches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tbench::measure {

/// Enqueues the sum of `values` ([count], device memory) into `sums` ([kReadBlocks], device memory, one a block).
/// @throws  cuda::CudaError  if the launch fails
inline constexpr int kReadBlocks = 512;
void launch_read(const float4* values, std::int64_t count, float* sums, cudaStream_t stream);

}  // namespace tbench::measure
