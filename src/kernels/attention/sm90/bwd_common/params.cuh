// Parameters of the sm90 backward kernels, and the steps of a work tile.
#pragma once

#include "kernels/attention/common/ptx.cuh"
#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90/common/ptx.cuh"

namespace tbench::kernels::sm90 {

/// Parameters common to these kernels. `Gradient`: how dK and dV are described to the code that stores them; `Order`: a
/// BwdTileOrder with whatever else the schedule needs.
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
/// `first_step` on; they wrap around at the end.
struct BwdTileCoord {
  int first_key;
  int head;  // counted through all batches
  int first_step, steps;
};

template <class Parameters>
__device__ __forceinline__ int all_steps(const Parameters& p, int queries) {
  return (p.seq_q + queries - 1) / queries;
}

}  // namespace tbench::kernels::sm90
