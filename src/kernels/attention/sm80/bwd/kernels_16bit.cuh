// The bf16 and fp16 backward kernels: the preprocess kernel (computes delta, clears the sums of dQ), the kernels with
// the products, and the postprocess kernel (converts the sums to dq).
#pragma once

#include "kernels/attention/sm80/bwd/mainloop_16bit.cuh"

namespace tbench::kernels::sm80 {

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_bwd_sm80_preprocess_16bit_kernel(const __grid_constant__ BwdParams<Element> p) {
  const int first_row = static_cast<int>(blockIdx.x) * kBackwardHelperRows;
  const std::int64_t head = static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y;
  __shared__ float sums[kBackwardHelperRows];
  row_dot<Element, kHeadDim, kBackwardHelperRows, kBackwardHelperThreads>(p.o, p.grad_o, blockIdx.z, blockIdx.y,
                                                                          first_row, p.seq_q, sums);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < min(kBackwardHelperRows, p.seq_q - first_row);
       i += kBackwardHelperThreads) {
    const std::int64_t row = head * p.seq_q + first_row + i;
    p.delta_out[row] = sums[i];
    if (p.base_2_lse_out != nullptr) p.base_2_lse_out[row] = p.lse[row] * kLog2E;
  }
  if (p.dq_sums == nullptr) return;
  float4* const clear = reinterpret_cast<float4*>(p.dq_sums + (head * p.query_blocks * 16 + first_row) * kHeadDim);
  for (int i = static_cast<int>(threadIdx.x); i < kBackwardHelperRows * kHeadDim / 4; i += kBackwardHelperThreads) {
    clear[i] = float4{};
  }
}

/// Computes dq = scale * sums. The sums have the layout of accumulators (see add_query_gradient()).
template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_bwd_sm80_postprocess_16bit_kernel(const __grid_constant__ BwdParams<Element> p) {
  constexpr int kRowBytes = row_bytes<Element>(kHeadDim);
  extern __shared__ __align__(16) char tile[];
  const int first_row = static_cast<int>(blockIdx.x) * kBackwardHelperRows;
  const std::int64_t head = static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y;
  const float4* const sums =
      reinterpret_cast<const float4*>(p.dq_sums + (head * p.query_blocks * 16 + first_row) * kHeadDim);
  for (int i = static_cast<int>(threadIdx.x); i < kBackwardHelperRows * kHeadDim / 4; i += kBackwardHelperThreads) {
    const int lane = i % kWarpSize, block = i / kWarpSize;
    const int row = block / (kHeadDim / 8) * 16 + lane / 4, col = block % (kHeadDim / 8) * 8 + lane % 4 * 2;
    const float4 sum = sums[i];
    char* const destination = tile + row * kRowBytes + col * 2;
    *reinterpret_cast<std::uint32_t*>(destination) = pack<Element>(sum.x * p.scale, sum.y * p.scale);
    *reinterpret_cast<std::uint32_t*>(destination + 8 * kRowBytes) = pack<Element>(sum.z * p.scale, sum.w * p.scale);
  }
  __syncthreads();
  store_tile<Element, kBackwardHelperRows, kHeadDim, kBackwardHelperThreads>(
      tile, p.dq.head(blockIdx.z, blockIdx.y), p.dq.row_stride, p.dq.vectors, first_row, p.seq_q);
}

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(BwdAtomic::tile(kHeadDim).warps* kWarpSize,
                                  BwdAtomic::tile(kHeadDim).blocks_per_multiprocessor)
    attention_bwd_sm80_atomic_16bit_kernel(const __grid_constant__ BwdParams<Element> p) {
  extern __shared__ __align__(16) char shared[];
  BwdMainloop<Element, kHeadDim, BwdAtomic, Gradient::kDkDv, true>{p, shared, schedule_tile(false)}.run();
}

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(BwdSplit::tile(kHeadDim).warps* kWarpSize,
                                  BwdSplit::tile(kHeadDim).blocks_per_multiprocessor)
    attention_bwd_sm80_split_16bit_kernel(const __grid_constant__ BwdParams<Element> p) {
  extern __shared__ __align__(16) char shared[];
  run_split_backward_16bit<Element, kHeadDim>(p, shared);
}

}  // namespace tbench::kernels::sm80
