// What the forward kernels of every precision are given, and share.
#pragma once

#include "plan_16bit.hpp"
#include "planted_fault.cuh"
#include "tile.cuh"

namespace tbench::kernels {

/// Keys divided among blocks, and what these leave.
struct ForwardParts : KeyParts {
  float* o;    // [batch, heads, count, seq_q, head_dim]
  float* lse;  // [batch, heads, count, seq_q]
};

/// None without a workspace.
inline ForwardParts forward_parts(const AttentionShape& shape, KeyParts parts, void* workspace) {
  if (workspace == nullptr) return {};
  char* const o = static_cast<char*>(workspace);
  return {parts, reinterpret_cast<float*>(o), reinterpret_cast<float*>(o + forward_workspace(shape, parts).o_bytes)};
}

template <class Element>
struct ForwardParameters {
  Matrix<const Element> q, k, v;
  Matrix<Element> o;
  float* lse;  // [batch, heads, seq_q]
  int heads, seq_q, seq_kv;
  float scale;
  bool causal;
  ForwardParts parts;
};

template <class Element>
ForwardParameters<Element> forward_parameters(const AttentionProblem& problem, const AttentionForward& arguments,
                                              KeyParts parts = {}) {
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
          .parts = forward_parts(shape, parts, arguments.workspace)};
}

/// Of a row's sum, for its lse.
__device__ __forceinline__ float logarithm(float sum) {
  return planted(PlantedFault::kLseBase) ? log2f(sum) : logf(sum);
}

}  // namespace tbench::kernels
