// Forward pass on Hopper, bf16 and fp16. A block has one warpgroup that copies and two to four that compute 64 queries
// each. The copying one's first thread fetches tiles of Q, K and V by the tensor copy engine; a barrier per buffer says
// when its bytes have come, another when nobody reads them any more. What the others do: forward_rows_sm90.cuh.
#pragma once

#include "kernels/attention/sm90/forward_rows_sm90.cuh"

namespace tbench::kernels::sm90 {

/// Fetches everything that the block's items need, in the order in which it is read: K a step ahead of V.
template <int kHeadDim, class Tile>
class ForwardProducer {
  using Shared = SharedForward<kHeadDim, Tile>;
  using Rings = Ring<Shared::kTile.stages>;

 public:
  __device__ __forceinline__ ForwardProducer(const ForwardParameters& parameters, Shared shared)
      : p_{parameters}, shared_{shared} {}

  __device__ __forceinline__ void run() {
    wait_for_last_kernel();  // whoever writes has waited for an item's tiles
    for (int item = static_cast<int>(blockIdx.x); item < p_.order.items; item = next_item()) {
      const ForwardPlace place = forward_place(p_, item, Shared::kRows);
      const int steps = forward_steps(p_, place.first_row + Shared::kRows, Shared::kTile.cols);
      fetch_queries(place);
      fetch(p_.k, Shared::kKeysFull, shared_.k(keys_.stage), keys_, place, steps - 1);
      for (int step = steps - 1; step >= 0; --step) {
        if (step > 0) fetch(p_.k, Shared::kKeysFull, shared_.k(keys_.stage), keys_, place, step - 1);
        fetch(p_.v, Shared::kValuesFull, shared_.v(values_.stage), values_, place, step);
      }
    }
  }

 private:
  /// Hands the next item to the warpgroups that compute.
  __device__ __forceinline__ int next_item() {
    const int item =
        p_.counter == nullptr ? dealt_item(++round_) : static_cast<int>(gridDim.x + atomicAdd(p_.counter, 1u));
    wait(shared_.barrier(Shared::kItemEmpty), item_parity_ ^ 1u);
    store_shared(shared_.item(), item);
    arrive(shared_.barrier(Shared::kItemFull));
    item_parity_ ^= 1u;
    return item;
  }

  __device__ __forceinline__ void fetch_queries(const ForwardPlace& place) {
    const std::uint32_t full = shared_.barrier(Shared::kQueriesFull);
    wait(shared_.barrier(Shared::kQueriesEmpty), queries_parity_ ^ 1u);
    queries_parity_ ^= 1u;
    arrive_expecting(full, Shared::kTile.warp_groups * Shared::kGroupBytes);
    for (int group = 0; group < Shared::kTile.warp_groups; ++group) {
      copy_boxes<kHeadDim>(shared_.q(group), Shared::kGroupPanelBytes, p_.q,
                           {place.first_row + group * kGroupRows, place.head, place.batch}, full,
                           cache_policy<Reuse::kOnce>());
    }
  }

  /// `full` is the first of the tensor's barriers: one a stage that says full, then one a stage that says empty.
  __device__ __forceinline__ void fetch(const CUtensorMap& map, std::uint32_t full, std::uint32_t destination,
                                        Rings& ring, const ForwardPlace& place, int step) {
    const std::uint32_t barrier = shared_.barrier(full + ring.stage);
    wait(shared_.barrier(full + Shared::kTile.stages + ring.stage), ring.parity ^ 1u);
    delay_one_warp(PlantedFault::kForwardBarrier);
    arrive_expecting(barrier, Shared::kStageBytes);
    copy_boxes<kHeadDim>(destination, Shared::kPanelBytes, map, {step * Shared::kTile.cols, place.head, place.batch},
                         barrier, cache_policy<Reuse::kOften>());
    ring.advance();
  }

  const ForwardParameters& p_;
  Shared shared_;
  Rings keys_, values_;
  std::uint32_t queries_parity_ = 0, item_parity_ = 0;
  int round_ = 0;
};

template <class Element, int kHeadDim, class Tile>
__device__ __forceinline__ void forward_block(const ForwardParameters& parameters, char* memory) {
  using Shared = SharedForward<kHeadDim, Tile>;
  const Shared shared{(shared_address(memory) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment};
  // From one lane, so that the compiler knows it to be the same for all of a warp.
  const int warp_group = __shfl_sync(kFullWarp, static_cast<int>(threadIdx.x) / kWarpGroupThreads, 0);
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&parameters.q, &parameters.k, &parameters.v, &parameters.o}) prefetch(*map);
    shared.make_barriers();
  }
  __syncthreads();
  allow_next_kernel();
  if (warp_group == 0) {
    shrink_registers<Shared::kTile.copying_registers>();
    if (threadIdx.x == 0) ForwardProducer<kHeadDim, Tile>{parameters, shared}.run();
  } else {
    grow_registers<Shared::kTile.registers>();
    ForwardRows<Element, kHeadDim, Tile>{parameters, shared, warp_group - 1}.run();
  }
}

template <class Element, int kHeadDim, class Tile>
__global__ void __launch_bounds__(threads(Tile::tile()), 1)
    attention_forward_wgmma_kernel(const __grid_constant__ ForwardParameters parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  forward_block<Element, kHeadDim, Tile>(parameters, shared);
#endif
}

}  // namespace tbench::kernels::sm90
