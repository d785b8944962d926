// Backward pass on Hopper with one tile per CTA, bf16 and fp16, head_dim 128. A CTA holds 128 keys in two consumer
// warpgroups (sm90/bwd_tile/mainloop.cuh). One producer thread loads K and V, then step by step Q, dO and their lse and
// delta. dQ is added atomically to float32 sums. The preprocess kernel clears the sums and computes lse and delta; the
// postprocess kernel converts the sums to dQ.
#pragma once

#include "kernels/attention/common/delta.cuh"
#include "kernels/attention/sm90/bwd_tile/mainloop.cuh"

namespace tbench::kernels::sm90 {

template <class Shared, class Parameters>
class TileProducer {
  static constexpr int kHeadDim = Shared::kHeadDim;

 public:
  __device__ __forceinline__ TileProducer(const Parameters& parameters, Shared shared,
                                          const TileCoordOf<Parameters>& place)
      : p_{parameters}, shared_{shared}, place_{place} {}

  /// Loads the first tiles while the preprocess kernel still runs, because that kernel does not write them.
  __device__ __forceinline__ void run() {
    const int early = min(place_.steps, Shared::kTile.stages);
    fetch_kept(p_.k, Shared::kKeysFull, shared_.k(0));
    for (int i = 0; i < early; ++i) fetch_tiles(i);
    // This wait is required for lse, delta and the cleared sums. Consumers need no wait of their own before they add to
    // the sums, because they have waited for a step's lse.
    griddep_wait();
    for (int i = 0; i < early; ++i) fetch_statistics(i);
    for (int i = early; i < place_.steps; ++i) {
      if constexpr (Shared::kGivesBackApart) {
        wait_until_empty(Shared::kGradientsEmpty, i);
        fetch_gradients(i);
        fetch_delta(i);
        wait_until_empty(Shared::kStageEmpty, i);
        fetch_queries(i);
        fetch_lse(i);
      } else {
        wait_until_empty(Shared::kStageEmpty, i);
        fetch_tiles(i);
        fetch_statistics(i);
      }
    }
  }

 private:
  __device__ __forceinline__ static std::uint32_t stage(int i) {
    return static_cast<std::uint32_t>(i) % Shared::kTile.stages;
  }
  __device__ __forceinline__ int first_query(int i) const { return one_item_query(p_, place_, i, Shared::kQueries); }

  /// Head of the i-th step's Q and dO in its batch.
  __device__ __forceinline__ int loaded_head(int i) const {
    const int head = place_.head % p_.heads;
    if constexpr (kIsGqa<Parameters>) {
      return sm90::loaded_head(p_, head, gqa_step(p_, place_, i, Shared::kQueries).head);
    } else {
      return head;
    }
  }

  __device__ __forceinline__ void fetch_kept(const CUtensorMap& map, int full, std::uint32_t destination) const {
    const std::uint32_t barrier = shared_.barrier(full);
    mbarrier_arrive_expect_tx(barrier, Shared::kKeyGroups * Shared::kKeptBytes);
    for (int group = 0; group < Shared::kKeyGroups; ++group) {
      tma_load_tile<kHeadDim>(
          destination + group * Shared::kKeptBytes, Shared::kKeptPanelBytes, map,
          {place_.first_key + group * kWgmmaM, kv_head(p_, place_.head % p_.heads), place_.head / p_.heads}, barrier,
          l2_cache_hint<CacheHint::kEvictFirst>());
    }
  }

  __device__ __forceinline__ void wait_until_empty(int empty, int i) const {
    mbarrier_wait(shared_.barrier(empty + stage(i)), ~(static_cast<std::uint32_t>(i) / Shared::kTile.stages) % 2);
  }

  /// Loads Q and dO of a step, and V after the first Q. Their barriers also wait for lse and delta.
  __device__ __forceinline__ void fetch_tiles(int i) const {
    fetch_queries(i);
    if (i == 0) fetch_kept(p_.v, Shared::kValuesFull, shared_.v(0));
    fetch_gradients(i);
  }
  __device__ __forceinline__ void fetch_queries(int i) const {
    delay_one_warp(InjectedFault::kBackwardBarrier);
    fetch_tile(p_.q, shared_.q(stage(i)), Shared::kQueriesFull + stage(i), first_query(i), i);
  }
  __device__ __forceinline__ void fetch_gradients(int i) const {
    fetch_tile(p_.grad_o, shared_.grad_o(stage(i)), Shared::kGradientsFull + stage(i), first_query(i), i);
  }
  __device__ __forceinline__ void fetch_tile(const CUtensorMap& map, std::uint32_t tile, std::uint32_t full,
                                             int first_query, int i) const {
    const std::uint32_t barrier = shared_.barrier(full);
    mbarrier_arrive_expect_tx(barrier, Shared::kStageBytes + Shared::kStatisticsBytes);
    tma_load_tile<kHeadDim>(tile, Shared::kPanelBytes, map, {first_query, loaded_head(i), place_.head / p_.heads},
                            barrier, l2_cache_hint<CacheHint::kEvictLast>());
  }

  __device__ __forceinline__ void fetch_statistics(int i) const {
    fetch_lse(i);
    fetch_delta(i);
  }
  __device__ __forceinline__ void fetch_lse(int i) const {
    bulk_load(shared_.lse(stage(i)), p_.lse + row(i), Shared::kStatisticsBytes,
              shared_.barrier(Shared::kQueriesFull + stage(i)));
  }
  __device__ __forceinline__ void fetch_delta(int i) const {
    delay_one_warp(InjectedFault::kBackwardParity);
    bulk_load(shared_.delta(stage(i)), p_.delta + row(i), Shared::kStatisticsBytes,
              shared_.barrier(Shared::kGradientsFull + stage(i)));
  }
  /// Index of a step's first row in lse and delta.
  __device__ __forceinline__ std::int64_t row(int i) const {
    return static_cast<std::int64_t>(one_item_head<InjectedFault::kGqaStatistics>(p_, place_, i, Shared::kQueries)) *
               p_.rows +
           first_query(i);
  }

  const Parameters& p_;
  Shared shared_;
  const TileCoordOf<Parameters>& place_;
};

/// Runs a CTA with one work tile. The first thread of the first warpgroup is the producer; the other warpgroups call
/// `compute` with their index, counted from 0.
template <class Shared, class Parameters, class Compute>
__device__ __forceinline__ void run_one_item(const Parameters& parameters, char* memory, const Compute& compute) {
  Shared shared;
  shared.base = (shared_address(memory) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  // After a shuffle from one lane, the compiler treats the number as uniform in the warp.
  const int warp_group = __shfl_sync(kFullWarp, static_cast<int>(threadIdx.x) / kWarpGroupThreads, 0);
  begin_backward_block(parameters, shared);
  const auto place = one_item_place(parameters, static_cast<int>(blockIdx.x), Shared::kQueries, Shared::kKeys);
  if (warp_group == 0) {
    setmaxnreg_dec<Shared::kTile.copying_registers>();
    if (threadIdx.x == 0) TileProducer<Shared, Parameters>{parameters, shared, place}.run();
  } else {
    setmaxnreg_inc<Shared::kTile.registers>();
    compute(shared, place, warp_group - 1);
  }
}

template <class Element, int kHeadDim, class Parameters>
__device__ __forceinline__ void one_item_block(const Parameters& parameters, char* memory) {
  using Shared = TileSmem<kHeadDim>;
  run_one_item<Shared>(parameters, memory, [&](const Shared& shared, const TileCoordOf<Parameters>& place, int group) {
    TileDkDvMainloop<Element, kHeadDim, Parameters>{parameters, shared, place, group}.run();
  });
}

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    attention_bwd_sm90_tile_kernel(const __grid_constant__ TileParams parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  one_item_block<Element, kHeadDim>(parameters, shared);
#endif
}

/// The same for grouped-query attention.
template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    attention_bwd_sm90_tile_gqa_kernel(const __grid_constant__ GqaTileParams parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  one_item_block<Element, kHeadDim>(parameters, shared);
#endif
}

}  // namespace tbench::kernels::sm90
