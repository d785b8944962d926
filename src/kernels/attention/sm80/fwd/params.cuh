// Parameters and common parts of the forward kernels of every precision.
#pragma once

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/common/smem_tile.cuh"
#include "kernels/attention/sm80/fwd/config.hpp"

namespace tbench::kernels::sm80 {

/// The division of the keys among CTAs, and the partial results that the CTAs leave in the workspace.
struct SplitKvView : SplitKv {
  float* o;    // [batch, heads, num_splits, seq_q, head_dim]
  float* lse;  // [batch, heads, num_splits, seq_q]
};

/// Returns the division with pointers into the workspace, or no division if there is no workspace.
inline SplitKvView forward_splits(const AttentionShape& shape, SplitKv split_kv, void* workspace) {
  if (workspace == nullptr) return {};
  char* const o = static_cast<char*>(workspace);
  return {split_kv, reinterpret_cast<float*>(o),
          reinterpret_cast<float*>(o + forward_workspace(shape, split_kv).o_bytes)};
}

template <class Element>
struct FwdParams {
  GlobalMatrix<const Element> q, k, v;
  GlobalMatrix<Element> o;
  float* lse;  // [batch, heads, seq_q]
  int heads, seq_q, seq_kv;
  float scale;
  bool causal;
  SplitKvView splits;
};

template <class Element>
FwdParams<Element> forward_parameters(const AttentionProblem& problem, const AttentionForward& arguments,
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

}  // namespace tbench::kernels::sm80
