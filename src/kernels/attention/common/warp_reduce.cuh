// Reductions over the lanes of a warp that share a row of accumulators.
#pragma once

#include "kernels/attention/common/ptx.cuh"

namespace tbench::kernels {

/// Returns the sum of the four lanes that hold a row of an accumulator.
__device__ __forceinline__ float quad_sum(float sum) {
  sum += __shfl_xor_sync(kFullWarp, sum, 1);
  return sum + __shfl_xor_sync(kFullWarp, sum, 2);
}

}  // namespace tbench::kernels
