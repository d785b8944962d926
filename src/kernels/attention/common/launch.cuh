// Dispatch of a run-time head_dim to a template parameter, and the launch of a selected kernel.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/common/launch.hpp"
#include "kernels/common/pdl.cuh"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {

template <Precision kPrecision>
using StoredElement = std::conditional_t<kPrecision == Precision::kBf16, __nv_bfloat16,
                                         std::conditional_t<kPrecision == Precision::kFp16, __half, float>>;

/// Calls `function.operator()<D>()`, where D is `head_dim` as a constant. Does nothing for values without a kernel,
/// which attention_unsupported_reason() has already refused.
template <Precision kPrecision, class Function>
void with_head_dim(std::int64_t head_dim, Function&& function) {
  const auto call_if_equal = [&]<int kHeadDim>() {
    if constexpr (is_instantiated(kHeadDim)) {
      if (head_dim == kHeadDim) function.template operator()<kHeadDim>();
    }
  };
  [&]<int... kHeadDims>(std::integer_sequence<int, kHeadDims...>) {
    (call_if_equal.template operator()<kHeadDims>(), ...);
  }
  (std::integer_sequence<int, 16, 32, 64, 80, 96, 128>{});
  if constexpr (sizeof(StoredElement<kPrecision>) == 2) call_if_equal.template operator()<256>();
}

/// Launches a kernel. The function is static, so that each kernel file has its own copy: a shared copy would upload the
/// injected fault to only one of the files.
/// @param overlaps  whether to use programmatic dependent launch: the kernel follows the rule of common/pdl.cuh and may
///                  start before the previous kernel has ended
/// @throws          cuda::CudaError
template <class Parameters>
static void launch_kernel(void (*kernel)(Parameters), const Launch& launch, const Parameters& parameters,
                          cudaStream_t stream, bool overlaps = false) {
  constexpr std::size_t kSharedBytesWithoutAsking = std::size_t{48} << 10;
  if (launch.shared_bytes > kSharedBytesWithoutAsking) {
    TBENCH_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(launch.shared_bytes)));
  }
  upload_planted_fault(stream);
  const auto extent = [](std::int64_t value) { return static_cast<unsigned>(value); };
  const dim3 grid{extent(launch.grid.x), extent(launch.grid.y), extent(launch.grid.z)};
  const auto threads = static_cast<unsigned>(launch.threads);
  if (overlaps) return launch_pdl(kernel, grid, threads, launch.shared_bytes, stream, parameters);
  kernel<<<grid, threads, launch.shared_bytes, stream>>>(parameters);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tbench::kernels
