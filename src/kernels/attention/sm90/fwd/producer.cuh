// The producer of the sm90 forward kernels, one thread per consumer group. It selects work tiles and loads their Q, K
// and V, K one step ahead of V. For the first work tile it fills all stages at once.
#pragma once

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/sm90/fwd/smem.cuh"

namespace tbench::kernels::sm90 {

/// Loads the work tiles of a consumer group.
/// @tparam Copies  the class that derives from this one and befriends it. It has fetch_keys(place, step),
/// fetch_values(place, step) and kWaitsForValues: whether the preprocess kernel writes only V, so that only loads of V
/// wait for it
template <class Copies, class Parameters, class Shared>
class TmaProducer {
 public:
  __device__ __forceinline__ TmaProducer(const Parameters& parameters, Shared shared)
      : p_{parameters}, shared_{shared} {}

  /// Fills all stages from the first work tile. The stages are unused, so no empty barrier has to be waited for. Stores
  /// of O also happen after griddepcontrol.wait, because consumers wait for tiles that are loaded after it.
  __device__ __forceinline__ void begin(const FwdTileCoord& place) {
    Copies& copies = static_cast<Copies&>(*this);
    const int steps = steps_of(place), rest = max(steps - kTile.stages, 0);
    if constexpr (!Copies::kWaitsForValues) griddep_wait();
    fetch_queries(place);
#pragma unroll 1  // keeps the code before the first copies short, because cold code comes from memory
    for (int step = steps - 1; step >= rest; --step) copies.fetch_keys(place, step);
    if constexpr (Copies::kWaitsForValues) griddep_wait();
#pragma unroll 1
    for (int step = steps - 1; step >= rest; --step) copies.fetch_values(place, step);
  }

  /// Loads the rest of the first work tile, whose coordinates are `place`, and all further work tiles.
  __device__ __forceinline__ void run(FwdTileCoord place) {
    fetch_steps(place, steps_of(place) - kTile.stages);
    for (int item = next_item(); item < p_.order.items; item = next_item()) {
      place = forward_place(p_, item, Shared::kRows);
      mbarrier_wait(shared_.barrier(Shared::kQueriesEmpty + queries_.stage), queries_.parity ^ 1u);
      fetch_queries(place);
      fetch_steps(place, steps_of(place));
    }
  }

 protected:
  static constexpr FwdConfig kTile = Shared::kTile;

  /// @param full  number of the tensor's first barrier; one full barrier per stage and then one empty barrier per stage
  /// @return      the barrier that counts the next tile's bytes
  __device__ __forceinline__ std::uint32_t expect(std::uint32_t full, const PipelineState<kTile.stages>& ring) const {
    const std::uint32_t barrier = shared_.barrier(full + ring.stage);
    delay_one_warp(InjectedFault::kForwardBarrier);
    mbarrier_arrive_expect_tx(barrier, Shared::kStageBytes);
    return barrier;
  }

 private:
  __device__ __forceinline__ int steps_of(const FwdTileCoord& place) const {
    return forward_steps(p_, place.first_row + Shared::kRows, kTile.cols);
  }

  /// Waits until the next stage is empty.
  __device__ __forceinline__ void wait_for_buffer(std::uint32_t empty, const PipelineState<kTile.stages>& ring) const {
    mbarrier_wait(shared_.barrier(empty + ring.stage), ring.parity ^ 1u);
  }

  /// Loads the last `steps` steps of a work tile's key loop, in its order.
  __device__ __forceinline__ void fetch_steps(const FwdTileCoord& place, int steps) {
    Copies& copies = static_cast<Copies&>(*this);
    // K is loaded one step ahead of V.
#pragma unroll 1
    for (int step = steps; step >= 0; --step) {
      if (step > 0) {
        wait_for_buffer(Shared::kKeysEmpty, keys_);
        copies.fetch_keys(place, step - 1);
      }
      if (step < steps) {
        wait_for_buffer(Shared::kValuesEmpty, values_);
        copies.fetch_values(place, step);
      }
    }
  }

  /// Selects the next work tile and passes it to the consumers.
  __device__ __forceinline__ int next_item() {
    const int item = p_.counter == nullptr ? snake_tile<kTile.teams>(++round_, shared_.team)
                                           : static_cast<int>(kTile.teams * gridDim.x + atomicAdd(p_.counter, 1u));
    mbarrier_wait(shared_.barrier(Shared::kItemEmpty), item_parity_ ^ 1u);
    store_shared(shared_.item(), item);
    mbarrier_arrive(shared_.barrier(Shared::kItemFull));
    item_parity_ ^= 1u;
    return item;
  }

  __device__ __forceinline__ void fetch_queries(const FwdTileCoord& place) {
    const std::uint32_t stage = queries_.stage, full = shared_.barrier(Shared::kQueriesFull + stage);
    queries_.advance();
    mbarrier_arrive_expect_tx(full, kTile.warp_groups * Shared::kGroupBytes);
    for (int group = 0; group < kTile.warp_groups; ++group) {
      tma_load_tile<Shared::kColumns>(shared_.q(group, stage), Shared::kGroupPanelBytes, p_.q,
                                      {place.first_row + group * kWgmmaM, place.head, place.batch}, full,
                                      l2_cache_hint<CacheHint::kEvictFirst>());
    }
  }

 protected:
  const Parameters& p_;
  Shared shared_;
  PipelineState<kTile.stages> keys_, values_;

 private:
  PipelineState<kTile.query_stages> queries_;
  std::uint32_t item_parity_ = 0;
  int round_ = 0;
};

}  // namespace tbench::kernels::sm90
