// TF32 forward pass on Hopper: the 16-bit kernel's block (forward_sm90.cuh) with tiles of float32. Its copying thread
// fetches Q and K as they are in memory, K rounded to TF32 on the way, and V^T as the kernel before has left it.
#pragma once

#include "kernels/attention/sm90/tf32/rows_tf32_sm90.cuh"

namespace tbench::kernels::sm90::tf32 {

/// Fetches everything that the block's items need, in the order in which it is read: K a step ahead of V.
template <int kHeadDim>
class ForwardProducer {
  using Tiles = Shared<kHeadDim>;
  using Rings = Ring<Tiles::kTile.stages>;
  static constexpr int kColumns = columns_of_16_bits(kHeadDim);

 public:
  __device__ __forceinline__ ForwardProducer(const ForwardParameters& parameters, Tiles shared)
      : p_{parameters}, shared_{shared} {}

  __device__ __forceinline__ void run() {
    for (int item = static_cast<int>(blockIdx.x); item < p_.order.items; item = next_item()) {
      const ForwardPlace place = forward_place(p_, item, Tiles::kRows);
      const int steps = forward_steps(p_, place.first_row + Tiles::kRows, Tiles::kTile.cols);
      fetch_queries(place);
      fetch_keys(place, steps - 1);
      // The kernel before makes V^T, and did not begin before Q and K were there. Whoever writes has waited for V^T.
      wait_for_last_kernel();
      for (int step = steps - 1; step >= 0; --step) {
        if (step > 0) fetch_keys(place, step - 1);
        fetch_values(place, step);
      }
    }
  }

 private:
  /// Hands the next item to the warpgroups that compute.
  __device__ __forceinline__ int next_item() {
    const int item =
        p_.counter == nullptr ? dealt_item(++round_) : static_cast<int>(gridDim.x + atomicAdd(p_.counter, 1u));
    wait(shared_.barrier(Tiles::kItemEmpty), item_parity_ ^ 1u);
    store_shared(shared_.item(), item);
    arrive(shared_.barrier(Tiles::kItemFull));
    item_parity_ ^= 1u;
    return item;
  }

  __device__ __forceinline__ void fetch_queries(const ForwardPlace& place) {
    const std::uint32_t full = shared_.barrier(Tiles::kQueriesFull);
    wait(shared_.barrier(Tiles::kQueriesEmpty), queries_parity_ ^ 1u);
    queries_parity_ ^= 1u;
    arrive_expecting(full, Tiles::kTile.warp_groups * Tiles::kGroupBytes);
    for (int group = 0; group < Tiles::kTile.warp_groups; ++group) {
      copy_boxes<kColumns>(shared_.q(group), Tiles::kGroupPanelBytes, p_.q,
                           {place.first_row + group * kGroupRows, place.head, place.batch}, full,
                           cache_policy<Reuse::kOnce>());
    }
  }

  __device__ __forceinline__ void fetch_keys(const ForwardPlace& place, int step) {
    const std::uint32_t destination = shared_.k(keys_.stage), barrier = expect(Tiles::kKeysFull, keys_);
    copy_boxes<kColumns>(destination, Tiles::kPanelBytes, p_.k, {step * Tiles::kTile.cols, place.head, place.batch},
                         barrier, cache_policy<Reuse::kOften>());
  }
  __device__ __forceinline__ void fetch_values(const ForwardPlace& place, int step) {
    const std::uint32_t destination = shared_.v(values_.stage), barrier = expect(Tiles::kValuesFull, values_);
    const std::int64_t head = static_cast<std::int64_t>(place.batch) * p_.heads + place.head;
    const float* const tile = p_.values + (head * p_.key_tiles + step) * kTileElements<kHeadDim>;
    copy_bytes(destination, tile, Tiles::kStageBytes, barrier, cache_policy<Reuse::kOften>());
  }

  /// Waits until nobody reads the next buffer of K or of V^T any more. `full` is the first of the tensor's barriers:
  /// one a stage that says full, then one a stage that says empty.
  /// @return  the barrier that its bytes count at
  __device__ __forceinline__ std::uint32_t expect(std::uint32_t full, Rings& ring) {
    const std::uint32_t barrier = shared_.barrier(full + ring.stage);
    wait(shared_.barrier(full + Tiles::kTile.stages + ring.stage), ring.parity ^ 1u);
    delay_one_warp(PlantedFault::kForwardBarrier);
    arrive_expecting(barrier, Tiles::kStageBytes);
    ring.advance();
    return barrier;
  }

  const ForwardParameters& p_;
  Tiles shared_;
  Rings keys_, values_;
  std::uint32_t queries_parity_ = 0, item_parity_ = 0;
  int round_ = 0;
};

template <int kHeadDim>
__device__ __forceinline__ void forward_block(const ForwardParameters& parameters, char* memory) {
  using Tiles = Shared<kHeadDim>;
  const Tiles shared{(shared_address(memory) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment};
  // From one lane, so that the compiler knows it to be the same for all of a warp.
  const int warp_group = __shfl_sync(kFullWarp, static_cast<int>(threadIdx.x) / kWarpGroupThreads, 0);
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&parameters.q, &parameters.k}) prefetch(*map);
    shared.make_barriers();
  }
  __syncthreads();
  allow_next_kernel();
  if (warp_group == 0) {
    shrink_registers<Tiles::kTile.copying_registers>();
    if (threadIdx.x == 0) ForwardProducer<kHeadDim>{parameters, shared}.run();
  } else {
    grow_registers<Tiles::kTile.registers>();
    ForwardRows<kHeadDim>{parameters, shared, warp_group - 1}.run();
  }
}

template <int kHeadDim>
__global__ void __launch_bounds__(threads(Forward<kHeadDim>::tile()), 1)
    attention_forward_tf32_wgmma_kernel(const __grid_constant__ ForwardParameters parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  forward_block<kHeadDim>(parameters, shared);
#endif
}

}  // namespace tbench::kernels::sm90::tf32
