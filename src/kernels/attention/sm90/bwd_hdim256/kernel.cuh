// Backward pass on Hopper at head_dim 256, bf16 and fp16, with one work tile of 64 keys per CTA. One of the two
// consumer warpgroups computes dV, the other dK (sm90/bwd_hdim256/mainloop.cuh); one producer thread loads, as in
// sm90/bwd_tile. dQ is added atomically to float32 sums. The preprocess kernel clears the sums and computes lse and
// delta; the postprocess kernel converts the sums to dQ.
#pragma once

#include "kernels/attention/sm90/bwd_hdim256/mainloop.cuh"
#include "kernels/attention/sm90/bwd_tile/kernel.cuh"

namespace tbench::kernels::sm90 {

template <class Element, int kHeadDim>
__device__ __forceinline__ void deep_block(const TileParams& parameters, char* memory) {
  using Shared = Hdim256Smem<kHeadDim>;
  run_one_item<Shared>(parameters, memory, [&](const Shared& shared, const BwdTileCoord& place, int group) {
    if (group == 0) {
      Hdim256Dv<Element, kHeadDim>{parameters, shared, place}.run();
    } else {
      Hdim256Dk<Element, kHeadDim>{parameters, shared, place}.run();
    }
  });
}

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    attention_bwd_sm90_hdim256_kernel(const __grid_constant__ TileParams parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  deep_block<Element, kHeadDim>(parameters, shared);
#endif
}

}  // namespace tbench::kernels::sm90
