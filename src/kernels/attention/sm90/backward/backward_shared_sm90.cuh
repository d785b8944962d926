// What the backward kernel of Hopper is given, its items and their steps, and what lies in a block's shared memory.
#pragma once

#include "kernels/attention/common/primitives.cuh"
#include "kernels/attention/sm90/backward/backward_plan_sm90.hpp"
#include "kernels/attention/sm90/items_sm90.cuh"
#include "kernels/attention/sm90/primitives_sm90.cuh"
#include "kernels/attention/sm90/wgmma.cuh"

namespace tbench::kernels::sm90 {

struct BackwardParameters {
  CUtensorMap q, k, v, grad_o;
  TensorView dk, dv;         // every row starts on a 16-byte boundary
  const float *lse, *delta;  // [batch * heads, rows], negative, as BackwardWorkspace has them
  float* dq_sums;
  int heads, seq_q, seq_kv;
  int rows;         // of a head in lse, delta and the sums
  int batch_heads;  // batch * heads
  float scale;
  bool causal;
  BackwardOrder order;
  Divisor items_of_group, heads_of_group, heads_of_last_group;
  int last_group;
};

__device__ __forceinline__ int quotient(int number, const Divisor& divisor) {
  return divisor.value == 1
             ? number
             : static_cast<int>(__umulhi(static_cast<unsigned>(number), divisor.multiplier) >> divisor.shift);
}

/// An item's keys and the steps over the queries that see them: `steps` of them from `first_step` on, around the end.
struct BackwardPlace {
  int first_key;
  int head;  // of all batches'
  int first_step, steps;
};

__device__ __forceinline__ int all_steps(const BackwardParameters& p, int queries) {
  return (p.seq_q + queries - 1) / queries;
}

/// Which of its head's tiles of keys an item is.
struct BackwardItem {
  int tile;
  int head;  // of all batches'
};
__device__ __forceinline__ BackwardItem backward_item(const BackwardParameters& p, int item) {
  const int group = quotient(item, p.items_of_group), first_head = group * p.order.heads;
  const int in_group = item - p.order.tiles * first_head;
  const bool full = first_head + p.order.heads <= p.batch_heads;  // the last group may be smaller
  const Divisor heads = full ? p.heads_of_group : p.heads_of_last_group;
  const int nth = quotient(in_group, heads);
  const bool lightest_first = (p.last_group - group) % 2 != 0;
  return {lightest_first ? p.order.tiles - 1 - nth : nth, first_head + in_group - nth * heads.value};
}
/// Over the queries that see a tile of keys.
__device__ __forceinline__ int steps_of(const BackwardParameters& p, int tile, int queries) {
  return all_steps(p, queries) - (p.causal ? tile * kBackwardKeys / queries : 0);
}

__device__ __forceinline__ BackwardPlace backward_place(const BackwardParameters& p, int item, int queries) {
  const auto [tile, head] = backward_item(p, item);
  const int first_step = tile * kBackwardKeys / queries;
  // Without a mask, too, neighbours start at different queries: they add to dQ of different ones.
  return {.first_key = tile * kBackwardKeys,
          .head = head,
          .first_step = p.causal ? first_step : first_step % all_steps(p, queries),
          .steps = steps_of(p, tile, queries)};
}

/// The first query of a step as places number them.
__device__ __forceinline__ int first_query(const BackwardParameters& p, int step, int queries) {
  const int all = all_steps(p, queries);
  return (step < all ? step : step - all) * queries;
}

/// K and V [kept stage, warpgroup, panel, 64, 64]; Q and dO [stage, panel, queries, 64]; dS [buffer, warpgroup of keys,
/// queries, 64]; lse and delta [stage, queries]; barriers; items [kept stage, field].
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
    kItemFull,
    kKeysFull = kItemFull + kKeptStages,
    kKeysEmpty = kKeysFull + kKeptStages,  // with the item
    kValuesFull = kKeysEmpty + kKeptStages,
    kValuesEmpty = kValuesFull + kKeptStages,
    kQueriesFull = kValuesEmpty + kKeptStages,     // with lse
    kGradientsFull = kQueriesFull + kTile.stages,  // with delta
    kStageEmpty = kGradientsFull + kTile.stages,
    kScoresFull = kStageEmpty + kTile.stages,
    kScoresEmpty = kScoresFull + 2,
    kBarriers = kScoresEmpty + 2,
  };

  /// What is known of an item: whoever needs it reads it anew, there are no registers to keep it in. It is steps
  /// [kBegin, kEnd) of the block's, its place's are their numbers plus kShift. After the last item comes an empty one.
  enum Field { kFirstKey, kHeadOfAll, kHead, kBatch, kBegin, kEnd, kShift, kFields };
  static_assert(kBarriers * kBarrierSize + kKeptStages * kFields * 4 <= kBarrierBytes, "both have their room");

  std::uint32_t base;

  __device__ __forceinline__ std::uint32_t k(std::uint32_t kept, int group) const {
    return base + kPlan.k + (kept * kBackwardGroups + group) * kKeptBytes;
  }
  __device__ __forceinline__ std::uint32_t v(std::uint32_t kept, int group) const {
    return base + kPlan.v + (kept * kBackwardGroups + group) * kKeptBytes;
  }
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

  __device__ __forceinline__ std::uint32_t field(std::uint32_t kept, Field field) const {
    return barrier(kBarriers) + (kept * kFields + field) * 4;
  }

  /// Of one thread. Those of what is copied are arrived at by the thread that copies, the others by warps.
  __device__ __forceinline__ void make_barriers() const {
    for (int kept = 0; kept < kKeptStages; ++kept) {
      make_barrier(barrier(kItemFull + kept), 1);
      make_barrier(barrier(kKeysFull + kept), 1);
      make_barrier(barrier(kKeysEmpty + kept), kWarps);
      make_barrier(barrier(kValuesFull + kept), 1);
      make_barrier(barrier(kValuesEmpty + kept), kWarps);
    }
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
