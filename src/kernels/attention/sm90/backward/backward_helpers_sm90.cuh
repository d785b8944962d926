// The kernels around Hopper's backward kernel: what S and dP start from and cleared sums before it, dQ of the sums
// after.
#pragma once

#include "kernels/attention/common/row_products.cuh"
#include "kernels/attention/sm90/backward/backward_plan_sm90.hpp"
#include "kernels/attention/sm90/primitives_sm90.cuh"

namespace tbench::kernels::sm90 {

template <class Element>
struct BackwardHelperParameters {
  Matrix<const Element> o, grad_o;
  Matrix<Element> dq;
  const float* lse;                      // [batch, heads, seq_q]
  float *lse_out, *delta_out, *dq_sums;  // of `rows` queries a head, see BackwardWorkspace
  int heads, seq_q, rows;
  float scale;
};

/// Of kBackwardHelperRows queries.
template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_backward_prepare_sm90_kernel(const __grid_constant__ BackwardHelperParameters<Element> p) {
  allow_next_kernel();
  const int first_row = static_cast<int>(blockIdx.x) * kBackwardHelperRows;
  const std::int64_t head = static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y;
  __shared__ float sums[kBackwardHelperRows];
  float4* const clear = reinterpret_cast<float4*>(p.dq_sums + (head * p.rows + first_row) * kHeadDim);
  for (int i = static_cast<int>(threadIdx.x); i < kBackwardHelperRows * kHeadDim / 4; i += kBackwardHelperThreads) {
    clear[i] = float4{};
  }
  row_products<Element, kHeadDim, kBackwardHelperRows, kBackwardHelperThreads>(p.o, p.grad_o, blockIdx.z, blockIdx.y,
                                                                               first_row, p.seq_q, sums);
  __syncthreads();
  const int i = static_cast<int>(threadIdx.x);
  if (i >= kBackwardHelperRows) return;
  const bool exists = first_row + i < p.seq_q;
  const std::int64_t row = head * p.rows + first_row + i;
  p.delta_out[row] = -sums[i];
  p.lse_out[row] = exists ? -p.lse[head * p.seq_q + first_row + i] / p.scale : -INFINITY;
}

/// dq = scale * sums, from the accumulators' layout (see BackwardKeys::add_query_gradient()).
template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_backward_convert_sm90_kernel(const __grid_constant__ BackwardHelperParameters<Element> p) {
  allow_next_kernel();
  constexpr int kRowBytes = row_bytes<Element>(kHeadDim);
  __shared__ __align__(kVectorBytes) char tile[kBackwardHelperRows * kRowBytes];
  const int first_row = static_cast<int>(blockIdx.x) * kBackwardHelperRows;
  const std::int64_t head = static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y;
  const float4* const sums = reinterpret_cast<const float4*>(p.dq_sums + (head * p.rows + first_row) * kHeadDim);
  wait_for_last_kernel();
#pragma unroll
  for (int pass = 0; pass < kBackwardHelperRows * kHeadDim / 4 / kBackwardHelperThreads; ++pass) {
    const int i = pass * kBackwardHelperThreads + static_cast<int>(threadIdx.x);
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

}  // namespace tbench::kernels::sm90
