// What Hopper's backward kernels of one item a block are given, a block's item, and what lies in its shared memory.
#pragma once

#include "kernels/attention/sm90/bwd_common/params.cuh"
#include "kernels/attention/sm90/bwd_common/smem.cuh"

namespace tbench::kernels::sm90 {

using TileParams = BwdParams<CUtensorMap, BwdTileOrder>;

__device__ __forceinline__ BwdTileCoord one_item_place(const TileParams& p, int item, int queries, int keys) {
  const int first_head = item / (p.order.tiles * p.order.heads) * p.order.heads;
  const int heads = min(p.order.heads, p.batch_heads - first_head);  // of this group, the last of which may be smaller
  const int in_group = item - p.order.tiles * first_head;
  const int tile = in_group / heads;
  const int all = all_steps(p, queries), first_step = tile * keys / queries;
  // Without a mask, too, neighbours start at different queries: they add to dQ of different ones.
  return {.first_key = tile * keys,
          .head = first_head + in_group % heads,
          .first_step = p.causal ? first_step : first_step % all,
          .steps = p.causal ? all - first_step : all};
}

/// The first query of the block's i-th step.
__device__ __forceinline__ int one_item_query(const TileParams& p, const BwdTileCoord& place, int i, int queries) {
  const int step = place.first_step + i, all = all_steps(p, queries);
  return (step < all ? step : step - all) * queries;
}

/// K and V [64 keys, panel, 64, 64], later dK and dV, then BwdSmem. `kOthers`: barriers of who derives from it.
template <int kHeadDim, int kOthers = 0>
struct TileSmem : BwdSmem<kHeadDim, BwdSchedule::kOneTilePerCta, 2 + kOthers> {
  using Tiles = BwdSmem<kHeadDim, BwdSchedule::kOneTilePerCta, 2 + kOthers>;
  using Tiles::base, Tiles::barrier, Tiles::kKeptBytes, Tiles::kPlan;

  enum KeptBarrier { kKeysFull, kValuesFull, kMoreBarriers };
  static_assert(kMoreBarriers + kOthers == static_cast<int>(Tiles::kQueriesFull));
  static constexpr bool kGivesBackApart = false;  // a step's dO, not with its Q

  __device__ __forceinline__ std::uint32_t k(int group) const { return base + kPlan.k + group * kKeptBytes; }
  __device__ __forceinline__ std::uint32_t v(int group) const { return base + kPlan.v + group * kKeptBytes; }

  /// Of one thread.
  __device__ __forceinline__ void make_barriers() const {
    mbarrier_init(barrier(kKeysFull), 1);
    mbarrier_init(barrier(kValuesFull), 1);
    Tiles::make_step_barriers();
  }
};

}  // namespace tbench::kernels::sm90
