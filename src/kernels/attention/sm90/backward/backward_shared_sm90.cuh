// What the backward kernel of Hopper is given, which keys a block works on, and what lies in its shared memory.
#pragma once

#include "kernels/attention/common/primitives.cuh"
#include "kernels/attention/sm90/backward/backward_plan_sm90.hpp"
#include "kernels/attention/sm90/primitives_sm90.cuh"
#include "kernels/attention/sm90/wgmma.cuh"

namespace tbench::kernels::sm90 {

struct BackwardParameters {
  CUtensorMap q, k, v, grad_o, dk, dv;
  const float *lse, *delta;  // [batch * heads, rows], negative, as BackwardWorkspace has them
  float* dq_sums;
  int heads, seq_q, seq_kv;
  int rows;         // of a head in lse, delta and the sums
  int batch_heads;  // batch * heads
  float scale;
  bool causal;
  BackwardOrder order;
};

/// A block's keys and the steps over the queries that see them: `steps` of them from `first_step` on, around the end.
struct BackwardPlace {
  int first_key;
  int head;  // of all batches'
  int first_step, steps;
};

__device__ __forceinline__ int all_steps(const BackwardParameters& p, int queries) {
  return (p.seq_q + queries - 1) / queries;
}

__device__ __forceinline__ BackwardPlace backward_place(const BackwardParameters& p, int item, int queries) {
  const int first_head = item / (p.order.tiles * p.order.heads) * p.order.heads;
  const int heads = min(p.order.heads, p.batch_heads - first_head);  // of this group, the last of which may be smaller
  const int in_group = item - p.order.tiles * first_head;
  const int tile = in_group / heads;
  const int all = all_steps(p, queries), first_step = tile * kBackwardKeys / queries;
  // Without a mask, too, neighbours start at different queries: they add to dQ of different ones.
  return {.first_key = tile * kBackwardKeys,
          .head = first_head + in_group % heads,
          .first_step = p.causal ? first_step : first_step % all,
          .steps = p.causal ? all - first_step : all};
}

/// The first query of the block's i-th step.
__device__ __forceinline__ int first_query(const BackwardParameters& p, const BackwardPlace& place, int i,
                                           int queries) {
  const int step = place.first_step + i, all = all_steps(p, queries);
  return (step < all ? step : step - all) * queries;
}

/// K and V [warpgroup, panel, 64, 64], later dK and dV; Q and dO [stage, panel, queries, 64]; dS [buffer, warpgroup of
/// keys, queries, 64]; lse and delta [stage, queries]; barriers.
template <int kHeadDim>
struct SharedBackward {
  static constexpr BackwardTile kTile = backward_tile(kHeadDim);
  static constexpr int kQueries = kTile.queries;
  static constexpr BackwardShared kPlan = backward_shared(kHeadDim);
  static constexpr int kPanels = panels(kHeadDim);
  static constexpr int kKeptPanelBytes = kGroupRows * kPanelRowBytes;
  static constexpr int kKeptBytes = kPanels * kKeptPanelBytes;  // of a warpgroup
  static constexpr int kPanelBytes = kQueries * kPanelRowBytes;
  static constexpr int kStageBytes = kPanels * kPanelBytes;
  static constexpr int kScoresPanelBytes = kQueries * kPanelRowBytes;  // of a warpgroup's 64 keys
  static constexpr int kScoresBytes = kBackwardGroups * kScoresPanelBytes;
  static constexpr int kStatisticsBytes = kQueries * 4;  // of a stage, lse or delta
  static constexpr int kWarps = kBackwardGroups * kWarpGroupWarps;
  static constexpr int kBarrierSize = 8;

  enum Barrier {
    kKeysFull,
    kValuesFull,
    kQueriesFull,                                  // with lse
    kGradientsFull = kQueriesFull + kTile.stages,  // with delta
    kStageEmpty = kGradientsFull + kTile.stages,
    kScoresFull = kStageEmpty + kTile.stages,
    kScoresEmpty = kScoresFull + 2,
    kBarriers = kScoresEmpty + 2,
  };
  static_assert(kBarriers * kBarrierSize <= kBarrierBytes, "barriers have their room");

  std::uint32_t base;

  __device__ __forceinline__ std::uint32_t k(int group) const { return base + kPlan.k + group * kKeptBytes; }
  __device__ __forceinline__ std::uint32_t v(int group) const { return base + kPlan.v + group * kKeptBytes; }
  __device__ __forceinline__ std::uint32_t q(std::uint32_t stage) const { return base + kPlan.q + stage * kStageBytes; }
  __device__ __forceinline__ std::uint32_t grad_o(std::uint32_t stage) const {
    return base + kPlan.grad_o + stage * kStageBytes;
  }
  __device__ __forceinline__ std::uint32_t scores(std::uint32_t buffer) const {
    return base + kPlan.scores + buffer * kScoresBytes;
  }
  __device__ __forceinline__ std::uint32_t lse(std::uint32_t stage) const {
    return base + kPlan.lse + stage * kStatisticsBytes;
  }
  __device__ __forceinline__ std::uint32_t delta(std::uint32_t stage) const {
    return base + kPlan.delta + stage * kStatisticsBytes;
  }
  __device__ __forceinline__ std::uint32_t barrier(std::uint32_t number) const {
    return base + kPlan.barriers + number * kBarrierSize;
  }

  /// Of one thread. Those of what is copied are arrived at by the thread that copies, the others by warps.
  __device__ __forceinline__ void make_barriers() const {
    make_barrier(barrier(kKeysFull), 1);
    make_barrier(barrier(kValuesFull), 1);
    for (int stage = 0; stage < kTile.stages; ++stage) {
      make_barrier(barrier(kQueriesFull + stage), 1);
      make_barrier(barrier(kGradientsFull + stage), 1);
      make_barrier(barrier(kStageEmpty + stage), kWarps);
    }
    for (int buffer = 0; buffer < 2; ++buffer) {
      make_barrier(barrier(kScoresFull + buffer), kWarps);
      make_barrier(barrier(kScoresEmpty + buffer), kWarps);
    }
    show_barriers();
  }
};

}  // namespace tbench::kernels::sm90
