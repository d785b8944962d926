// The preprocess kernel of the sm90 backward pass, which computes the initial values of S and dP and clears the sums,
// the postprocess kernel, which converts the sums to dQ, and their parameters.
#pragma once

#include <utility>

#include "kernels/attention/common/delta.cuh"
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90/common/ptx.cuh"

namespace tbench::kernels::sm90 {

template <class Element>
struct PrePostParams {
  GlobalMatrix<const Element> o, grad_o;
  GlobalMatrix<Element> dq;
  const float* lse;                      // [batch, heads, seq_q]
  float *lse_out, *delta_out, *dq_sums;  // `rows` queries per head, see BwdWorkspace
  int heads, seq_q, rows;
  int sums_apart;  // number of partial dQ, one per K/V tile or share; 0: atomic sums, which the preprocess kernel
                   // clears
  bool causal;
  float scale;
};

/// Pointers into the workspace.
struct WorkspacePointers {
  float *lse, *delta, *sums;
  float *dk_sums, *dv_sums;  // null if no parts are to be added
  int rows, kv_rows;
};
inline WorkspacePointers workspace_parts(const AttentionProblem& problem, const AttentionBackward& arguments,
                                         const BwdPlan& choice) {
  const BwdWorkspace layout = backward_workspace(problem.shape, choice);
  char* next = static_cast<char*>(arguments.workspace);
  const auto take = [&next](std::size_t bytes) { return reinterpret_cast<float*>(std::exchange(next, next + bytes)); };
  WorkspacePointers parts{.lse = take(layout.lse_bytes),
                          .delta = take(layout.delta_bytes),
                          .sums = take(layout.sums_bytes),
                          .dk_sums = nullptr,
                          .dv_sums = nullptr,
                          .rows = static_cast<int>(layout.rows),
                          .kv_rows = static_cast<int>(layout.kv_rows)};
  if (layout.kv_sums_bytes > 0) {
    parts.dk_sums = take(layout.kv_sums_bytes);
    parts.dv_sums = take(layout.kv_sums_bytes);
  }
  return parts;
}

template <class Element>
PrePostParams<Element> helper_parameters(const AttentionProblem& problem, const AttentionBackward& arguments,
                                         const BwdPlan& choice) {
  const WorkspacePointers parts = workspace_parts(problem, arguments, choice);
  const auto sums_apart = [&] {
    switch (choice.sums) {
      case DqAccumulation::kAtomic:
        break;
      case DqAccumulation::kPerKvTile:
        return backward_order(problem.shape).tiles;
      case DqAccumulation::kPerHead:
        return choice.shares;
      case DqAccumulation::kNone:
        return 1;  // no sums are cleared
    }
    return 0;
  };
  return {.o = matrix_of<const Element>(arguments.o),
          .grad_o = matrix_of<const Element>(arguments.grad_o),
          .dq = matrix_of<Element>(arguments.dq),
          .lse = arguments.lse,
          .lse_out = parts.lse,
          .delta_out = parts.delta,
          .dq_sums = parts.sums,
          .heads = static_cast<int>(problem.shape.heads),
          .seq_q = static_cast<int>(problem.shape.seq_q),
          .rows = parts.rows,
          .sums_apart = sums_apart(),
          .causal = problem.shape.causal,
          .scale = problem.scale};
}

/// Batch and head of a CTA. These two kernels process the heads from last to first, the main kernel between them from
/// first to last, so that each kernel begins with data that the previous kernel left in the L2 cache.
__device__ __forceinline__ unsigned helper_batch() { return gridDim.z - 1 - blockIdx.z; }
__device__ __forceinline__ unsigned helper_head() { return gridDim.y - 1 - blockIdx.y; }

/// Number of passes of a CTA over the sums of its rows, with four floats per thread and pass.
template <int kHeadDim>
constexpr int kSumPasses = kBackwardHelperRows* kHeadDim / 4 / kBackwardHelperThreads;
static_assert(kBackwardHelperRows * 16 % (4 * kBackwardHelperThreads) == 0, "16 divides every head_dim");

/// Computes delta = rowsum(dO * O) as row_dot() does, but calls `meanwhile`, which clears the sums, after the loads and
/// before their use. Called earlier, its stores would precede the loads.
template <class Element, int kHeadDim, class Meanwhile>
__device__ __forceinline__ void vector_row_products(const PrePostParams<Element>& p, int first_row, float* result,
                                                    Meanwhile&& meanwhile) {
  constexpr int kThreadsPerRow = kBackwardHelperThreads / kBackwardHelperRows;
  constexpr int kVectorsPerRow = kHeadDim * static_cast<int>(sizeof(Element)) / kVectorBytes;
  constexpr int kVectors = (kVectorsPerRow + kThreadsPerRow - 1) / kThreadsPerRow;  // per thread
  const int thread = static_cast<int>(threadIdx.x), row = first_row + thread / kThreadsPerRow;
  const auto* const o = reinterpret_cast<const uint4*>(p.o.head(helper_batch(), helper_head()) + row * p.o.row_stride);
  const auto* const grad_o =
      reinterpret_cast<const uint4*>(p.grad_o.head(helper_batch(), helper_head()) + row * p.grad_o.row_stride);
  uint4 os[kVectors], grads[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int vector = i * kThreadsPerRow + thread % kThreadsPerRow;
    const bool exists = row < p.seq_q && (kVectorsPerRow % kThreadsPerRow == 0 || vector < kVectorsPerRow);
    os[i] = exists ? o[vector] : uint4{};
    grads[i] = exists ? grad_o[vector] : uint4{};
  }
  meanwhile();
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) sum += dot<Element>(os[i], grads[i]);
#pragma unroll
  for (int distance = 1; distance < kThreadsPerRow; distance *= 2) sum += __shfl_xor_sync(kFullWarp, sum, distance);
  if (thread % kThreadsPerRow == 0) result[thread / kThreadsPerRow] = sum;
}

/// The preprocess kernel; each CTA has kBackwardHelperRows queries.
template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_bwd_sm90_preprocess_kernel(const __grid_constant__ PrePostParams<Element> p) {
  const int first_row = static_cast<int>(blockIdx.x) * kBackwardHelperRows, i = static_cast<int>(threadIdx.x);
  const std::int64_t head = static_cast<std::int64_t>(helper_batch()) * p.heads + helper_head();
  __shared__ float sums[kBackwardHelperRows];
  // This order is safe because the next kernel loads only K and V before it waits for this one.
  griddep_wait();
  griddep_launch_dependents();
  const bool exists = i < kBackwardHelperRows && first_row + i < p.seq_q;
  const float lse = exists ? p.lse[head * p.seq_q + first_row + i] : 0.0f;
  const auto clear = [&] {
    if (p.sums_apart > 0) return;
    float4* const cleared = reinterpret_cast<float4*>(p.dq_sums + (head * p.rows + first_row) * kHeadDim) + i;
#pragma unroll
    for (int pass = 0; pass < kSumPasses<kHeadDim>; ++pass) cleared[pass * kBackwardHelperThreads] = float4{};
  };
  if (p.o.vectors && p.grad_o.vectors) {
    vector_row_products<Element, kHeadDim>(p, first_row, sums, clear);
  } else {
    clear();
    row_dot<Element, kHeadDim, kBackwardHelperRows, kBackwardHelperThreads>(p.o, p.grad_o, helper_batch(),
                                                                            helper_head(), first_row, p.seq_q, sums);
  }
  __syncthreads();
  if (i >= kBackwardHelperRows) return;
  const std::int64_t row = head * p.rows + first_row + i;
  p.delta_out[row] = -sums[i];
  p.lse_out[row] = exists ? -lse / p.scale : -INFINITY;
}

/// The postprocess kernel: dq = scale * sums, where the sums have the layout of accumulators (see
/// SoftmaxGrad::add_query_gradient()). It adds at most `kSums` partial sums.
template <class Element, int kHeadDim, int kSums>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_bwd_sm90_postprocess_kernel(const __grid_constant__ PrePostParams<Element> p) {
  griddep_launch_dependents();
  constexpr int kRowBytes = row_bytes<Element>(kHeadDim);
  __shared__ __align__(kVectorBytes) char tile[kBackwardHelperRows * kRowBytes];
  const int first_row = static_cast<int>(blockIdx.x) * kBackwardHelperRows;
  const std::int64_t head = static_cast<std::int64_t>(helper_batch()) * p.heads + helper_head();
  const float4* const sums = reinterpret_cast<const float4*>(p.dq_sums + (head * p.rows + first_row) * kHeadDim);
  const std::int64_t distance = static_cast<std::int64_t>(gridDim.z) * p.heads * p.rows * kHeadDim / 4;
  // With a mask, only the K/V tiles that the CTA's queries see have partial sums; kBackwardHelperRows divides
  // kBackwardKeys.
  const int count = p.causal ? min(p.sums_apart, first_row / kBackwardKeys + 1) : p.sums_apart;
  griddep_wait();
  float4 shares[kSums][kSumPasses<kHeadDim>];  // all loads first
#pragma unroll
  for (int key_tile = 0; key_tile < kSums; ++key_tile) {
#pragma unroll
    for (int pass = 0; pass < kSumPasses<kHeadDim>; ++pass) {
      const float4* const share = sums + key_tile * distance + pass * kBackwardHelperThreads + threadIdx.x;
      shares[key_tile][pass] = key_tile == 0 || key_tile < count ? *share : float4{};
    }
  }
#pragma unroll
  for (int pass = 0; pass < kSumPasses<kHeadDim>; ++pass) {
    const int i = pass * kBackwardHelperThreads + static_cast<int>(threadIdx.x);
    const int lane = i % kWarpSize, block = i / kWarpSize;
    const int row = block / (kHeadDim / 8) * 16 + lane / 4, col = block % (kHeadDim / 8) * 8 + lane % 4 * 2;
    float4 sum = shares[0][pass];
#pragma unroll
    for (int key_tile = 1; key_tile < kSums; ++key_tile) {
      const float4& share = shares[key_tile][pass];
      sum = {sum.x + share.x, sum.y + share.y, sum.z + share.z, sum.w + share.w};
    }
    char* const destination = tile + row * kRowBytes + col * 2;
    *reinterpret_cast<std::uint32_t*>(destination) = pack<Element>(sum.x * p.scale, sum.y * p.scale);
    *reinterpret_cast<std::uint32_t*>(destination + 8 * kRowBytes) = pack<Element>(sum.z * p.scale, sum.w * p.scale);
  }
  __syncthreads();
  store_tile<Element, kBackwardHelperRows, kHeadDim, kBackwardHelperThreads>(
      tile, p.dq.head(helper_batch(), helper_head()), p.dq.row_stride, p.dq.vectors, first_row, p.seq_q);
}

}  // namespace tbench::kernels::sm90
