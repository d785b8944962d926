// What Hopper's backward kernels are given, and an item's steps.
#pragma once

#include "kernels/attention/common/ptx.cuh"
#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90/common/ptx.cuh"

namespace tbench::kernels::sm90 {

/// `Gradient`: how dK and dV are described to who stores them; `Order`: a BwdTileOrder, with what else items need.
template <class Gradient, class Order>
struct BwdParams {
  CUtensorMap q, k, v, grad_o;
  Gradient dk, dv;           // every row starts on a 16-byte boundary
  const float *lse, *delta;  // [batch * heads, rows], negative, as BwdWorkspace has them
  float* dq_sums;
  int heads, seq_q, seq_kv;
  int rows;         // of a head in lse, delta and the sums
  int batch_heads;  // batch * heads
  float scale;
  bool causal;
  Order order;
};

/// An item's keys and the steps over the queries that see them: `steps` of them from `first_step` on, around the end.
struct BwdTileCoord {
  int first_key;
  int head;  // of all batches'
  int first_step, steps;
};

template <class Parameters>
__device__ __forceinline__ int all_steps(const Parameters& p, int queries) {
  return (p.seq_q + queries - 1) / queries;
}

}  // namespace tbench::kernels::sm90
