// The float32 backward kernels: the preprocess kernel (computes delta, clears dq) and the kernels with the products.
#pragma once

#include "kernels/attention/sm80/bwd/mainloop_fp32.cuh"

namespace tbench::kernels::sm80 {

/// Computes delta, and clears dq if the products will be added to it.
template <int kHeadDim, bool kClear>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_bwd_sm80_preprocess_fp32_kernel(const __grid_constant__ BwdFp32Params p) {
  const int first_row = static_cast<int>(blockIdx.x) * kBackwardHelperRows;
  const int rows = min(kBackwardHelperRows, p.seq_q - first_row);
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y) * p.seq_q + first_row;
  __shared__ float sums[kBackwardHelperRows];
  row_dot<float, kHeadDim, kBackwardHelperRows, kBackwardHelperThreads>(p.o, p.grad_o, blockIdx.z, blockIdx.y,
                                                                        first_row, p.seq_q, sums);
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < rows) p.delta[first + thread] = sums[thread];
  if constexpr (kClear) {
    float* const head = p.dq.head(blockIdx.z, blockIdx.y) + first_row * p.dq.row_stride;
    const int step = p.dq.vectors ? 4 : 1;
    for (int i = thread * step; i < rows * kHeadDim; i += kBackwardHelperThreads * step) {
      float* const destination = head + i / kHeadDim * p.dq.row_stride + i % kHeadDim;
      if (p.dq.vectors) {
        *reinterpret_cast<float4*>(destination) = float4{};
      } else {
        *destination = 0.0f;
      }
    }
  }
}

template <bool k3xTf32, int kHeadDim, class Tile>
__global__ void __launch_bounds__(Tile::tile(kHeadDim).warps* kWarpSize, Tile::tile(kHeadDim).blocks_per_multiprocessor)
    attention_bwd_sm80_atomic_fp32_kernel(const __grid_constant__ BwdFp32Params p) {
  extern __shared__ __align__(16) char shared[];
  BwdFp32Mainloop<k3xTf32, kHeadDim, Tile, false, true>{p, shared, schedule_tile(p.heads_first)}.run();
}

template <bool k3xTf32, int kHeadDim, class Tile>
__global__ void __launch_bounds__(Tile::tile(kHeadDim).warps* kWarpSize, Tile::tile(kHeadDim).blocks_per_multiprocessor)
    attention_bwd_sm80_split_fp32_kernel(const __grid_constant__ BwdFp32Params p) {
  extern __shared__ __align__(16) char shared[];
  run_split_backward_32bit<k3xTf32, kHeadDim, Tile>(p, shared);
}

template <bool k3xTf32, int kHeadDim>
auto backward_32bit_kernel(BwdAlgorithm method, bool splits_warps) {
  if (method != BwdAlgorithm::kAtomicDq) {
    return splits_warps ? &attention_bwd_sm80_split_fp32_kernel<k3xTf32, kHeadDim, BwdFp32WarpSplit>
                        : &attention_bwd_sm80_split_fp32_kernel<k3xTf32, kHeadDim, BwdFp32Split<k3xTf32>>;
  }
  if constexpr (BwdFp32AtomicWarpSplit::serves(kHeadDim)) {
    if (splits_warps) return &attention_bwd_sm80_atomic_fp32_kernel<k3xTf32, kHeadDim, BwdFp32AtomicWarpSplit>;
  }
  return &attention_bwd_sm80_atomic_fp32_kernel<k3xTf32, kHeadDim, BwdFp32Atomic<k3xTf32>>;
}

}  // namespace tbench::kernels::sm80
