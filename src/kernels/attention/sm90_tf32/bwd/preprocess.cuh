// The preprocess kernel of the TF32 backward pass: computes Q^T, dO^T and K^T, rounded, in panels, and the initial
// values of S and dP.
#pragma once

#include "kernels/attention/common/delta.cuh"
#include "kernels/attention/sm90_tf32/bwd/config.hpp"
#include "kernels/attention/sm90_tf32/common/transpose.cuh"

namespace tbench::kernels::sm90_tf32 {

struct BwdPreprocessParams {
  GlobalMatrix<const float> q, k, grad_o, o;
  const float* lse;                                                              // [batch, heads, seq_q]
  float *q_transposed, *grad_o_transposed, *k_transposed, *lse_out, *delta_out;  // see BwdWorkspace
  int heads, seq_q, seq_kv;
  int queries, keys;  // per head in the workspace
  float scale;
};

/// Stores -lse / scale and -delta of a CTA's queries.
template <int kHeadDim>
__device__ __forceinline__ void store_statistics(const BwdPreprocessParams& p, int first_row, std::int64_t all_head) {
  constexpr int kRows = backward_prepare_rows(kHeadDim);
  __shared__ float sums[kRows];
  row_dot<float, kHeadDim, kRows, kPrepareThreads>(p.o, p.grad_o, blockIdx.z, blockIdx.y, first_row, p.seq_q, sums);
  __syncthreads();
  const int i = static_cast<int>(threadIdx.x), row = first_row + i;
  if (i >= kRows) return;
  p.delta_out[all_head * p.queries + row] = -sums[i];
  p.lse_out[all_head * p.queries + row] = row < p.seq_q ? -p.lse[all_head * p.seq_q + row] / p.scale : -INFINITY;
}

template <int kHeadDim>
__global__ void __launch_bounds__(kPrepareThreads)
    attention_bwd_sm90_tf32_preprocess_kernel(const __grid_constant__ BwdPreprocessParams p) {
  constexpr int kRows = backward_prepare_rows(kHeadDim);
  const int block = static_cast<int>(blockIdx.x), query_blocks = p.queries / kRows;
  const std::int64_t all_head = static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  TransposeCoord place = transpose_place<kHeadDim>(warp);
  // This order is safe because the next kernel loads only rows of Q, K, V and dO before it waits for this one.
  griddep_wait();
  griddep_launch_dependents();
  if (block < query_blocks) {
    place.first_row += block * kRows;
    const std::int64_t panels = all_head * p.queries * kHeadDim;
    transpose<kHeadDim>(p.q, p.q.head(blockIdx.z, blockIdx.y), p.seq_q, p.q_transposed + panels, place);
    transpose<kHeadDim>(p.grad_o, p.grad_o.head(blockIdx.z, blockIdx.y), p.seq_q, p.grad_o_transposed + panels, place);
    store_statistics<kHeadDim>(p, block * kRows, all_head);
  } else {
    place.first_row += (block - query_blocks) * kRows;
    transpose<kHeadDim>(p.k, p.k.head(blockIdx.z, blockIdx.y), p.seq_kv, p.k_transposed + all_head * p.keys * kHeadDim,
                        place);
  }
}

}  // namespace tbench::kernels::sm90_tf32
