// Fills device memory with normally distributed numbers, as many and as fast as timing needs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tbench/core/precision.hpp"

namespace tbench::kernels {

/// Enqueues: `count` elements of the storage type of `precision` from `data` on become standard normal numbers, the
/// same for the same seed.
/// @throws  cuda::CudaError
void fill_normal(void* data, std::int64_t count, Precision precision, std::uint64_t seed, cudaStream_t stream);

}  // namespace tbench::kernels
