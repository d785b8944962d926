// Parameters of the sm90 backward kernels, and the steps of a work tile.
#pragma once

#include "kernels/attention/common/ptx.cuh"
#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90/common/ptx.cuh"

namespace tbench::kernels::sm90 {

/// Parameters common to these kernels. `Gradient` is the type that describes dK and dV to the code that stores them;
/// `Order` is a BwdTileOrder or a type that adds members for the schedule.
template <class Gradient, class Order>
struct BwdParams {
  CUtensorMap q, k, v, grad_o;
  Gradient dk, dv;           // every row starts on a 16-byte boundary
  const float *lse, *delta;  // [batch * heads, rows], negative, as described at BwdWorkspace
  float* dq_sums;
  int heads, seq_q, seq_kv;
  int rows;         // per head in lse, delta and the sums
  int batch_heads;  // batch * heads
  float scale;
  bool causal;
  Order order;
};

/// Coordinates of a work tile: its keys and the steps over the queries that see them. There are `steps` steps from
/// `first_step` on; after the last queries they continue with the first.
struct BwdTileCoord {
  int first_key;
  int head;  // index among the heads of all batches
  int first_step, steps;
};

template <class Parameters>
__device__ __forceinline__ int all_steps(const Parameters& p, int queries) {
  return (p.seq_q + queries - 1) / queries;
}

}  // namespace tbench::kernels::sm90
