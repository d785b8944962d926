// Parameters of the sm90 backward kernels, and the steps of a work tile.
#pragma once

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/common/ptx.cuh"
#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90/common/fast_divmod.hpp"
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

/// Parameters for grouped-query attention. The heads of Q that share a head of K and V are divided into parts of
/// `group` heads. A work tile is a K/V tile and the queries of one part, head by head. The CTAs of a part therefore
/// read and add to about the same heads at a time, which stay in the L2 cache. In all members of the base and in work
/// tiles, a head is a part. Part e of all batches has the query heads from e * group on, and the head e / parts of K
/// and V.
template <class Gradient, class Order>
struct GqaBwdParams : BwdParams<Gradient, Order> {
  int group;         // heads of Q per part
  FastDivmod parts;  // per head of K and V
  // With several parts, their dK and dV in the layout of accumulators, see BwdWorkspace::kv_sums_bytes; with one, null.
  float *dk_sums, *dv_sums;
  int kv_rows;  // per head in these sums
};

/// Whether `Parameters` is a GqaBwdParams.
template <class Parameters>
constexpr bool kIsGqa = requires(const Parameters& p) {
  p.group;
};

/// Returns the number of heads of Q whose queries a work tile takes.
template <class Gradient, class Order>
__device__ __forceinline__ int query_heads(const BwdParams<Gradient, Order>& /*parameters*/) {
  return 1;
}
template <class Gradient, class Order>
__device__ __forceinline__ int query_heads(const GqaBwdParams<Gradient, Order>& p) {
  return p.group;
}

/// Returns the head of K and V of a work tile's head.
template <class Gradient, class Order>
__device__ __forceinline__ int kv_head(const BwdParams<Gradient, Order>& /*parameters*/, int head) {
  return head;
}
template <class Gradient, class Order>
__device__ __forceinline__ int kv_head(const GqaBwdParams<Gradient, Order>& p, int head) {
  return divide(head, p.parts);
}

/// Returns a work tile's nth head of Q. With kFault injected, it is always the first.
/// @param head  the work tile's head, in its batch or among the heads of all batches
template <InjectedFault kFault, class Gradient, class Order>
__device__ __forceinline__ int query_head(const GqaBwdParams<Gradient, Order>& p, int head, int nth) {
  return head * p.group + (injected(kFault) ? 0 : nth);
}

/// Returns query_head() of the Q and dO to load; `head` is the work tile's head in its batch.
template <class Gradient, class Order>
__device__ __forceinline__ int loaded_head(const GqaBwdParams<Gradient, Order>& p, int head, int nth) {
  if (injected(InjectedFault::kGqaHead)) return nth * p.heads + head;
  return head * p.group + nth;
}

/// Coordinates of a work tile: its keys and the steps over the queries that see them. There are `steps` steps from
/// `first_step` on, which follow each other for every head of Q; after the last queries they continue with the first.
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
