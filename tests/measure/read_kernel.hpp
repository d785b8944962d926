// A kernel whose time depends on where its input is, for the tests of warm and cold caches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tbench::measure {

/// Few enough that what they read at a time, half a megabyte, is below any bandwidth: latencies make the time.
inline constexpr int kReadBlocks = 256;

/// Enqueues one reading of `zeros` ([count], device memory, all zero). A thread's loads wait for one another, so that
/// the latency of the L2 cache, or that of the memory behind it, counts some tens of times.
/// @param last  device memory; written only if a value is not zero, so that the compiler keeps the loads
/// @throws  cuda::CudaError  if the launch fails
void launch_read(const uint4* zeros, std::int64_t count, unsigned* last, cudaStream_t stream);

}  // namespace tbench::measure
