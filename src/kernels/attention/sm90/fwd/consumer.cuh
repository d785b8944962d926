// A consumer warpgroup of the sm90 forward kernels: its synchronization with the producer, which provides work tiles
// and loads, and with the other consumer warpgroups, with which it issues products in ping-pong order.
#pragma once

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/common/warp_reduce.cuh"
#include "kernels/attention/sm90/fwd/smem.cuh"

namespace tbench::kernels::sm90 {

template <class Parameters, class Shared>
class ConsumerWarpgroup {
 public:
  __device__ __forceinline__ ConsumerWarpgroup(const Parameters& parameters, Shared shared, int group)
      : p_{parameters},
        shared_{shared},
        group_{group},
        thread_{static_cast<int>(threadIdx.x) % kWarpGroupThreads},
        lane_{static_cast<int>(threadIdx.x) % kWarpSize} {}

 protected:
  static constexpr FwdConfig kTile = Shared::kTile;

  static constexpr int kGroups = kTile.teams * kTile.warp_groups;
  static constexpr bool kTakesTurns = kTile.warp_groups > 1;

  // Numbers of the named barriers, of which 16 exist; number 0 serves __syncthreads(). Each warpgroup has one barrier.
  // Barriers from kFreeBarrier on are free for the deriving class.
  enum NamedBarrier { kTurn = 1, kFreeBarrier = kTurn + kGroups };
  static_assert(kFreeBarrier + kGroups <= 16);

  /// Index of a warpgroup among all consumer warpgroups of the CTA; `group` is its index in the consumer group.
  __device__ __forceinline__ int block_group(int group) const { return shared_.team * kTile.warp_groups + group; }

  __device__ __forceinline__ int next_item() {
    mbarrier_wait(shared_.barrier(Shared::kItemFull), item_parity_);
    item_parity_ ^= 1u;
    const int item = load_shared(shared_.item());
    release(Shared::kItemEmpty);
    return item;
  }

  /// Signals to the producer that the warp has read the stage that `barrier` guards.
  __device__ __forceinline__ void release(std::uint32_t barrier) const {
    __syncwarp();
    if (lane_ == 0) mbarrier_arrive(shared_.barrier(barrier));
  }
  __device__ __forceinline__ void release_keys() {
    // With the fault injected, the wait comes too late. It is still needed, so that no load into the stage starts while
    // this tile is in flight.
    if (injected(InjectedFault::kForwardBarrier)) wait_for_tile_of_keys();
    release(Shared::kKeysEmpty + keys_.stage);
    keys_.advance();
  }
  __device__ __forceinline__ void release_values() {
    release(Shared::kValuesEmpty + values_.stage);
    values_.advance();
  }
  __device__ __forceinline__ void wait_for_queries() {
    mbarrier_wait(shared_.barrier(Shared::kQueriesFull + queries_.stage), queries_.parity);
    queries_.advance();
  }
  __device__ __forceinline__ void release_queries() const { release(Shared::kQueriesEmpty + query_stage()); }
  /// Stage of the current work tile's Q: the stage for which the warpgroup last waited.
  __device__ __forceinline__ std::uint32_t query_stage() const {
    return kTile.query_stages == 1 ? 0 : queries_.stage == 0 ? kTile.query_stages - 1 : queries_.stage - 1;
  }
  __device__ __forceinline__ void wait_for_keys() const {
    if (!injected(InjectedFault::kForwardBarrier)) wait_for_tile_of_keys();
  }
  __device__ __forceinline__ void wait_for_tile_of_keys() const {
    mbarrier_wait(shared_.barrier(Shared::kKeysFull + keys_.stage), keys_.parity);
  }
  __device__ __forceinline__ void wait_for_values() const {
    mbarrier_wait(shared_.barrier(Shared::kValuesFull + values_.stage), values_.parity);
  }

  __device__ __forceinline__ void wait_for_turn() const {
    if constexpr (kTakesTurns) named_barrier_sync<2 * kWarpGroupThreads>(kTurn + block_group(group_));
  }
  __device__ __forceinline__ void pass_turn() const {
    const int next = group_ == kTile.warp_groups - 1 ? 0 : group_ + 1;
    if constexpr (kTakesTurns) named_barrier_arrive<2 * kWarpGroupThreads>(kTurn + block_group(next));
  }

  const Parameters& p_;
  Shared shared_;
  int group_, thread_, lane_;
  PipelineState<kTile.stages> keys_, values_;

 private:
  PipelineState<kTile.query_stages> queries_;
  std::uint32_t item_parity_ = 0;
};

}  // namespace tbench::kernels::sm90
