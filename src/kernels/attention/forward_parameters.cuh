// What the forward kernels of every precision are given.
#pragma once

#include "tile.cuh"

namespace tbench::kernels {

template <class Element>
struct ForwardParameters {
  Matrix<const Element> q, k, v;
  Matrix<Element> o;
  float* lse;  // [batch, heads, seq_q]
  int heads, seq_q, seq_kv;
  float scale;
  bool causal;
};

template <class Element>
ForwardParameters<Element> forward_parameters(const AttentionProblem& problem, const AttentionForward& arguments) {
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
          .causal = shape.causal};
}

}  // namespace tbench::kernels
