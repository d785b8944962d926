// Parameters of the persistent sm90 backward kernel, its work tiles, and the contents of a CTA's shared memory.
#pragma once

#include "kernels/attention/sm90/bwd_common/params.cuh"
#include "kernels/attention/sm90/bwd_common/smem.cuh"
#include "kernels/attention/sm90/common/static_scheduler.cuh"

namespace tbench::kernels::sm90 {

/// The tile order with the divisors that find a work tile in it.
struct PersistentOrder : BwdTileOrder {
  FastDivmod items_of_group, heads_of_group, heads_of_last_group;
  int last_group;
};
inline PersistentOrder staying_order(const AttentionShape& shape, int parts = 1) {
  const BwdTileOrder order = backward_order(shape, parts);
  const int heads = static_cast<int>(shape.batch * shape.key_heads() * parts);
  const int last_group = (heads - 1) / order.heads;
  return {order, make_fast_divmod(order.tiles * order.heads), make_fast_divmod(order.heads),
          make_fast_divmod(heads - last_group * order.heads), last_group};
}
using PersistentParams = BwdParams<TensorView, PersistentOrder>;
using GqaPersistentParams = GqaBwdParams<TensorView, PersistentOrder>;

/// A work tile: a K/V tile of a head.
struct KvTile {
  int tile;
  int head;  // index among the heads of all batches
};
__device__ __forceinline__ KvTile backward_item(const PersistentParams& p, int item) {
  const int group = divide(item, p.order.items_of_group), first_head = group * p.order.heads;
  const int in_group = item - p.order.tiles * first_head;
  const bool full = first_head + p.order.heads <= p.batch_heads;  // the last group may be smaller
  const FastDivmod heads = full ? p.order.heads_of_group : p.order.heads_of_last_group;
  const int nth = divide(in_group, heads);
  const bool lightest_first = (p.order.last_group - group) % 2 != 0;
  return {lightest_first ? p.order.tiles - 1 - nth : nth, first_head + in_group - nth * heads.value};
}

/// One of a CTA's work tiles, by its number. The functions below return a CTA's first work tile and the next work tile.
struct ScheduledTile {
  int item;
};
__device__ __forceinline__ ScheduledTile first_of_block(const PersistentParams&) { return {snake_tile(0)}; }
__device__ __forceinline__ bool exists(const PersistentParams& p, ScheduledTile dealt) {
  return dealt.item < p.order.items;
}
__device__ __forceinline__ ScheduledTile next_of_block(const PersistentParams&, ScheduledTile, std::uint32_t round) {
  return {snake_tile(static_cast<int>(round))};
}
__device__ __forceinline__ KvTile backward_item(const PersistentParams& p, ScheduledTile dealt) {
  return backward_item(p, dealt.item);
}

/// Returns the number of steps over the queries of one head that see a K/V tile and, below, of all its heads.
template <class Parameters>
__device__ __forceinline__ int steps_of_head(const Parameters& p, int tile, int queries) {
  return all_steps(p, queries) - (p.causal ? tile * kBackwardKeys / queries : 0);
}
template <class Parameters>
__device__ __forceinline__ int steps_of(const Parameters& p, int tile, int queries) {
  return steps_of_head(p, tile, queries) * query_heads(p);
}

/// Returns the coordinates of a work tile.
/// @tparam kAround  whether neighbouring CTAs also start at different queries without a mask, so that they add to
/// different dQ
template <bool kAround, class Parameters>
__device__ __forceinline__ BwdTileCoord backward_place(const Parameters& p, const KvTile& item, int queries) {
  const auto [tile, head] = item;
  const int first_step = tile * kBackwardKeys / queries;
  return {.first_key = tile * kBackwardKeys,
          .head = head,
          .first_step = p.causal  ? first_step
                        : kAround ? first_step % all_steps(p, queries)
                                  : 0,
          .steps = steps_of(p, tile, queries)};
}

/// Returns the first query of a step, numbered as in BwdTileCoord.
template <class Parameters>
__device__ __forceinline__ int first_query(const Parameters& p, int step, int queries) {
  const int all = all_steps(p, queries);
  return (step < all ? step : step - all) * queries;
}

/// Holds K and V [stage, warpgroup, panel, 64, panel columns], then BwdSmem, then work tile fields [stage, field].
template <int kHeadDim>
struct PersistentSmem : BwdSmem<kHeadDim, BwdSchedule::kPersistent, 5 * kKeptStages> {
  using Tiles = BwdSmem<kHeadDim, BwdSchedule::kPersistent, 5 * kKeptStages>;
  using Tiles::base, Tiles::barrier, Tiles::kBarriers, Tiles::kBarrierSize, Tiles::kKeptBytes, Tiles::kPlan,
      Tiles::kWarps;

  enum KeptBarrier {
    kItemFull,
    kKeysFull = kItemFull + kKeptStages,
    kKeysEmpty = kKeysFull + kKeptStages,  // also releases the work tile's fields
    kValuesFull = kKeysEmpty + kKeptStages,
    kValuesEmpty = kValuesFull + kKeptStages,
  };
  static_assert(kValuesEmpty + kKeptStages == static_cast<int>(Tiles::kQueriesFull));

  /// Fields of a work tile. They are read at every use, because no registers are left to keep them in. The work tile
  /// has the CTA's steps [kBegin, kEnd); a step plus kShift is the step number of BwdTileCoord (with grouped-query
  /// attention, a step of its head). kHead and kHeadOfAll are the work tile's head in its batch and among all batches.
  /// An empty work tile follows the last work tile.
  enum Field { kFirstKey, kHeadOfAll, kHead, kBatch, kBegin, kEnd, kShift, kFields };
  /// Additional fields with kPerHead. For queries before kFirstSeen the work tile is the first to contribute to the
  /// head's sums. kHeadOfSums is the index of the sums, kPlace the PerHeadTile.
  enum HeadField { kFirstSeen, kHeadOfSums, kPlace, kHeadFields };
  /// Additional fields with grouped-query attention, in the place of those: the steps per head of Q, and
  /// gqa_multiplier().
  enum GqaField { kStepsOfHead, kMultiplier };
  static constexpr int kFieldBytes = kKeptStages * kFields * 4, kHeadFieldBytes = kKeptStages * kHeadFields * 4;
  static_assert(kBarriers * kBarrierSize + kFieldBytes + kHeadFieldBytes <= kBarrierBytes, "all have their room");

  __device__ __forceinline__ std::uint32_t k(std::uint32_t kept, int group) const {
    return base + kPlan.k + (kept * kBackwardGroups + group) * kKeptBytes;
  }
  __device__ __forceinline__ std::uint32_t v(std::uint32_t kept, int group) const {
    return base + kPlan.v + (kept * kBackwardGroups + group) * kKeptBytes;
  }
  __device__ __forceinline__ std::uint32_t field(std::uint32_t kept, Field field) const {
    return barrier(kBarriers) + (kept * kFields + field) * 4;
  }
  __device__ __forceinline__ std::uint32_t field(std::uint32_t kept, HeadField field) const {
    return barrier(kBarriers) + kFieldBytes + (kept * kHeadFields + field) * 4;
  }

  __device__ __forceinline__ std::uint32_t field(std::uint32_t kept, GqaField field) const {
    return this->field(kept, static_cast<HeadField>(field));
  }
  /// Returns, for the CTA's step `i`, the step of its head of Q; `i` is a step of the work tile in stage `kept`.
  __device__ __forceinline__ StepOfHead gqa_step(std::uint32_t kept, int i) const {
    return step_of_head(i - load_shared(field(kept, kBegin)), load_shared(field(kept, kStepsOfHead)),
                        static_cast<std::uint32_t>(load_shared(field(kept, kMultiplier))));
  }

  /// Initialises the barriers; one thread calls it.
  __device__ __forceinline__ void make_barriers() const {
    for (int kept = 0; kept < kKeptStages; ++kept) {
      mbarrier_init(barrier(kItemFull + kept), 1);
      mbarrier_init(barrier(kKeysFull + kept), 1);
      mbarrier_init(barrier(kKeysEmpty + kept), kWarps);
      mbarrier_init(barrier(kValuesFull + kept), 1);
      mbarrier_init(barrier(kValuesEmpty + kept), kWarps);
    }
    Tiles::make_step_barriers();
  }
};

}  // namespace tbench::kernels::sm90
