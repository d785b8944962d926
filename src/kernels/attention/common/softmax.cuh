// Row sums of exponentials, for the forward kernels of every architecture.
#pragma once

#include <cmath>

#include "kernels/attention/common/injected_fault.cuh"

namespace tbench::kernels {

/// Returns the natural logarithm of a row's sum of exponentials, for lse.
__device__ __forceinline__ float logarithm(float sum) {
  return injected(InjectedFault::kLseBase) ? log2f(sum) : logf(sum);
}

}  // namespace tbench::kernels
