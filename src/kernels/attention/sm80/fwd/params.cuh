// What the forward kernels of every precision are given, and share.
#pragma once

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/common/plan_16bit.hpp"
#include "kernels/attention/common/smem_tile.cuh"

namespace tbench::kernels {

/// The division of the keys among blocks, and what these leave in the workspace.
struct ForwardSplits : SplitKv {
  float* o;    // [batch, heads, num_splits, seq_q, head_dim]
  float* lse;  // [batch, heads, num_splits, seq_q]
};

/// None without a workspace.
inline ForwardSplits forward_splits(const AttentionShape& shape, SplitKv split_kv, void* workspace) {
  if (workspace == nullptr) return {};
  char* const o = static_cast<char*>(workspace);
  return {split_kv, reinterpret_cast<float*>(o),
          reinterpret_cast<float*>(o + forward_workspace(shape, split_kv).o_bytes)};
}

template <class Element>
struct ForwardParameters {
  Matrix<const Element> q, k, v;
  Matrix<Element> o;
  float* lse;  // [batch, heads, seq_q]
  int heads, seq_q, seq_kv;
  float scale;
  bool causal;
  ForwardSplits splits;
};

template <class Element>
ForwardParameters<Element> forward_parameters(const AttentionProblem& problem, const AttentionForward& arguments,
                                              SplitKv split_kv = {}) {
  const AttentionShape& shape = problem.shape;
  return {.q = matrix_of<const Element>(arguments.q),
          .k = matrix_of<const Element>(arguments.k),
          .v = matrix_of<const Element>(arguments.v),
          .o = matrix_of<Element>(arguments.o),
          .lse = arguments.lse,
          .heads = static_cast<int>(shape.heads),
          .seq_q = static_cast<int>(shape.seq_q),
          .seq_kv = static_cast<int>(shape.seq_kv),
          .scale = problem.scale,
          .causal = shape.causal,
          .splits = forward_splits(shape, split_kv, arguments.workspace)};
}

/// Of a row's sum, for its lse.
__device__ __forceinline__ float logarithm(float sum) {
  return planted(PlantedFault::kLseBase) ? log2f(sum) : logf(sum);
}

}  // namespace tbench::kernels
