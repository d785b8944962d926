// Parameters of the one-tile-per-CTA sm90 backward kernels, a CTA's work tile, and the contents of its shared memory.
#pragma once

#include <type_traits>

#include "kernels/attention/sm90/bwd_common/params.cuh"
#include "kernels/attention/sm90/bwd_common/smem.cuh"

namespace tbench::kernels::sm90 {

using TileParams = BwdParams<CUtensorMap, BwdTileOrder>;
using GqaTileParams = GqaBwdParams<CUtensorMap, BwdTileOrder>;

/// BwdTileCoord for grouped-query attention.
struct GqaTileCoord : BwdTileCoord {
  std::uint32_t multiplier;  // gqa_multiplier() of the steps per head of Q
};
template <class Parameters>
using TileCoordOf = std::conditional_t<kIsGqa<Parameters>, GqaTileCoord, BwdTileCoord>;

template <class Parameters>
__device__ __forceinline__ TileCoordOf<Parameters> one_item_place(const Parameters& p, int item, int queries,
                                                                  int keys) {
  const int first_head = item / (p.order.tiles * p.order.heads) * p.order.heads;
  const int heads =
      min(p.order.heads, p.batch_heads - first_head);  // number of heads of this group; the last group may be smaller
  const int in_group = item - p.order.tiles * first_head;
  const int tile = in_group / heads;
  const int all = all_steps(p, queries), first_step = tile * keys / queries;
  // Also without a mask, neighbouring CTAs start at different queries, so that they add to different sums of dQ.
  const BwdTileCoord place{.first_key = tile * keys,
                           .head = first_head + in_group % heads,
                           .first_step = p.causal ? first_step : first_step % all,
                           .steps = (p.causal ? all - first_step : all) * query_heads(p)};
  if constexpr (kIsGqa<Parameters>) {
    return {place, gqa_multiplier(p.causal ? all - first_step : all)};
  } else {
    return place;
  }
}

/// The CTA's i-th step. The steps per head are computed again, because no register is left to keep them in.
__device__ __forceinline__ StepOfHead gqa_step(const GqaTileParams& p, const GqaTileCoord& place, int i, int queries) {
  return step_of_head(i, all_steps(p, queries) - (p.causal ? place.first_step : 0), place.multiplier);
}

/// First query of the CTA's i-th step.
template <class Parameters>
__device__ __forceinline__ int one_item_query(const Parameters& p, const TileCoordOf<Parameters>& place, int i,
                                              int queries) {
  if constexpr (kIsGqa<Parameters>) i = gqa_step(p, place, i, queries).step;
  const int step = place.first_step + i, all = all_steps(p, queries);
  return (step < all ? step : step - all) * queries;
}

/// Head of Q of the CTA's i-th step among the heads of all batches.
template <InjectedFault kFault, class Parameters>
__device__ __forceinline__ int one_item_head(const Parameters& p, const TileCoordOf<Parameters>& place, int i,
                                             int queries) {
  if constexpr (kIsGqa<Parameters>) {
    return query_head<kFault>(p, place.head, gqa_step(p, place, i, queries).head);
  } else {
    return place.head;
  }
}

/// Holds K and V as [block of 64 keys, panel, 64, 64], which dK and dV overwrite at the end, then BwdSmem. `kOthers` is
/// the number of barriers of the deriving struct.
template <int kHeadDim, int kOthers = 0>
struct TileSmem : BwdSmem<kHeadDim, BwdSchedule::kOneTilePerCta, 2 + kOthers> {
  using Tiles = BwdSmem<kHeadDim, BwdSchedule::kOneTilePerCta, 2 + kOthers>;
  using Tiles::base, Tiles::barrier, Tiles::kKeptBytes, Tiles::kPlan;

  enum KeptBarrier { kKeysFull, kValuesFull, kMoreBarriers };
  static_assert(kMoreBarriers + kOthers == static_cast<int>(Tiles::kQueriesFull));
  static constexpr bool kGivesBackApart = false;  // whether a step's dO is released separately from its Q

  __device__ __forceinline__ std::uint32_t k(int group) const { return base + kPlan.k + group * kKeptBytes; }
  __device__ __forceinline__ std::uint32_t v(int group) const { return base + kPlan.v + group * kKeptBytes; }

  /// Initialises the barriers; one thread calls it.
  __device__ __forceinline__ void make_barriers() const {
    mbarrier_init(barrier(kKeysFull), 1);
    mbarrier_init(barrier(kValuesFull), 1);
    Tiles::make_step_barriers();
  }
};

}  // namespace tbench::kernels::sm90
