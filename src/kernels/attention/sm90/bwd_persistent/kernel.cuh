// Backward pass on Hopper with persistent CTAs, bf16 and fp16, head_dim 64, 80 and 128. A work tile is 128 keys. A CTA
// has two consumer warpgroups (sm90/bwd_persistent/mainloop.cuh) and one producer warpgroup. One producer thread loads
// K and V, one work tile ahead. Another producer thread loads Q, dO and their lse and delta, as many steps ahead as
// there are stages, across work tiles.
//
// dQ is added to float32 sums, which the preprocess kernel clears and the postprocess kernel converts. The preprocess
// kernel also computes lse and delta. With kPerHead and one CTA per head, this kernel stores dQ itself.
#pragma once

#include "kernels/attention/common/delta.cuh"
#include "kernels/attention/sm90/bwd_persistent/mainloop.cuh"

namespace tbench::kernels::sm90 {

/// Schedules the CTA's work tiles, publishes them to all other warps, and loads their K and V.
template <int kHeadDim, DqAccumulation kSums, class Parameters>
class KvProducer {
  using Shared = PersistentSmem<kHeadDim>;
  static constexpr bool kByHeads = kSums == DqAccumulation::kPerHead;

 public:
  __device__ __forceinline__ KvProducer(const Parameters& parameters, Shared shared)
      : p_{parameters}, shared_{shared} {}

  /// Loads K and V of the first work tiles while the preprocess kernel still runs, because that kernel does not write
  /// them.
  __device__ __forceinline__ void run() {
    for (auto item = first_of_block(p_); exists(p_, item); item = next_of_block(p_, item, round_)) {
      show_item(item);
      fetch(p_.k, Shared::kKeysFull, shared_.k(kept(), 0));
      mbarrier_wait(shared_.barrier(Shared::kValuesEmpty + kept()), parity() ^ 1u);
      fetch(p_.v, Shared::kValuesFull, shared_.v(kept(), 0));
      ++round_;
      mbarrier_wait(shared_.barrier(Shared::kKeysEmpty + kept()), parity() ^ 1u);
      // With kPerHead no register is left to keep it in.
      if constexpr (kByHeads) item.place = load_shared(shared_.field((round_ - 1) % kKeptStages, Shared::kPlace));
    }
    show(steps_before(), 0);
  }

 private:
  __device__ __forceinline__ std::uint32_t kept() const { return round_ % kKeptStages; }
  __device__ __forceinline__ std::uint32_t parity() const { return round_ / kKeptStages % 2; }

  /// Number of steps of all previous work tiles of the CTA.
  __device__ __forceinline__ int steps_before() const {
    return round_ == 0 ? 0 : load_shared(shared_.field((round_ - 1) % kKeptStages, Shared::kEnd));
  }

  __device__ __forceinline__ void show(int begin, int steps) const {
    store_shared(shared_.field(kept(), Shared::kBegin), begin);
    store_shared(shared_.field(kept(), Shared::kEnd), begin + steps);
    mbarrier_arrive(shared_.barrier(Shared::kItemFull + kept()));
  }
  template <class Item>
  __device__ __forceinline__ void show_item(const Item& item) {
    if constexpr (kByHeads) {
      store_shared(shared_.field(kept(), Shared::kPlace), static_cast<int>(item.place));
      store_shared(shared_.field(kept(), Shared::kFirstSeen), first_seen_query(p_, item));
      store_shared(shared_.field(kept(), Shared::kHeadOfSums), head_of_sums(p_, item));
    }
    const BwdTileCoord place = backward_place<!kByHeads>(p_, backward_item(p_, item), Shared::kQueries);
    const int begin = steps_before();
    store_shared(shared_.field(kept(), Shared::kFirstKey), place.first_key);
    store_shared(shared_.field(kept(), Shared::kHeadOfAll), place.head);
    store_shared(shared_.field(kept(), Shared::kHead), place.head % p_.heads);
    store_shared(shared_.field(kept(), Shared::kBatch), place.head / p_.heads);
    if constexpr (kIsGqa<Parameters>) {
      store_shared(shared_.field(kept(), Shared::kShift), place.first_step);
      const int steps = steps_of_head(p_, place.first_key / kBackwardKeys, Shared::kQueries);
      store_shared(shared_.field(kept(), Shared::kStepsOfHead), steps);
      store_shared(shared_.field(kept(), Shared::kMultiplier), static_cast<int>(gqa_multiplier(steps)));
    } else {
      store_shared(shared_.field(kept(), Shared::kShift), place.first_step - begin);
    }
    show(begin, place.steps);
  }

  __device__ __forceinline__ void fetch(const CUtensorMap& map, std::uint32_t full, std::uint32_t destination) const {
    const std::uint32_t barrier = shared_.barrier(full + kept());
    mbarrier_arrive_expect_tx(barrier, kBackwardGroups * Shared::kKeptBytes);
    TmaCoord place{load_shared(shared_.field(kept(), Shared::kFirstKey)),
                   kv_head(p_, load_shared(shared_.field(kept(), Shared::kHead))),
                   load_shared(shared_.field(kept(), Shared::kBatch))};
#pragma unroll 1
    for (int group = 0; group < kBackwardGroups; ++group) {
      tma_load_tile<kHeadDim, Shared::kPanelColumns>(destination, Shared::kKeptPanelBytes, map, place, barrier,
                                                     policy());
      destination += Shared::kKeptBytes;
      place.row += kWgmmaM;
    }
  }

  /// Returns the L2 hint. With kPerHead or groups of heads no register is left to keep it in.
  __device__ __forceinline__ static std::uint64_t policy() {
    if constexpr (kByHeads || kIsGqa<Parameters>) {
      return cache_policy_here<CacheHint::kEvictFirst>();
    } else {
      return l2_cache_hint<CacheHint::kEvictFirst>();
    }
  }

  const Parameters& p_;
  Shared shared_;
  std::uint32_t round_ = 0;
};

/// Loads Q and dO of the work tiles' steps.
template <int kHeadDim, DqAccumulation kSums, class Parameters>
class QdoProducer {
  using Shared = PersistentSmem<kHeadDim>;

 public:
  __device__ __forceinline__ QdoProducer(const Parameters& parameters, Shared shared)
      : p_{parameters}, shared_{shared} {}

  /// Loads the first tiles while the preprocess kernel still runs, because that kernel does not write them.
  __device__ __forceinline__ void run() {
    mbarrier_wait(shared_.barrier(Shared::kItemFull), 0);
    const int early = min(of_item(Shared::kEnd), Shared::kTile.stages);
#pragma unroll 1
    for (int i = 0; i < early; ++i) fetch_tiles(i);
    // This wait is required for lse, delta and the cleared sums. Consumers need no wait of their own before they add to
    // the sums, because they have waited for a step's lse.
    griddep_wait();
#pragma unroll 1
    for (int i = 0; i < early; ++i) fetch_statistics(i);
    for (int i = early;; ++item_) {
      mbarrier_wait(shared_.barrier(Shared::kItemFull + item_ % kKeptStages), item_ / kKeptStages % 2);
      const int end = of_item(Shared::kEnd);
      if (of_item(Shared::kBegin) == end) return;  // not i: the first work tile may be loaded early
#pragma unroll 1
      for (; i < end; ++i) {
        mbarrier_wait(shared_.barrier(Shared::kStageEmpty + stage(i)),
                      ~(static_cast<std::uint32_t>(i) / Shared::kTile.stages) % 2);
        fetch_tiles(i);
        fetch_statistics(i);
      }
    }
  }

 private:
  __device__ __forceinline__ int of_item(typename Shared::Field field) const {
    return load_shared(shared_.field(item_ % kKeptStages, field));
  }

  __device__ __forceinline__ static std::uint32_t stage(int i) {
    return static_cast<std::uint32_t>(i) % Shared::kTile.stages;
  }
  __device__ __forceinline__ int first_query(int i) const {
    if constexpr (kIsGqa<Parameters>) i = gqa_step(i).step;
    return sm90::first_query(p_, i + of_item(Shared::kShift), Shared::kQueries);
  }
  __device__ __forceinline__ StepOfHead gqa_step(int i) const { return shared_.gqa_step(item_ % kKeptStages, i); }
  /// Head of a step's Q and dO in its batch.
  __device__ __forceinline__ int loaded_head(int i) const {
    const int head = of_item(Shared::kHead);
    if constexpr (kIsGqa<Parameters>) {
      return sm90::loaded_head(p_, head, gqa_step(i).head);
    } else {
      return head;
    }
  }

  /// Loads Q and dO of a step; their barriers also wait for lse and delta.
  __device__ __forceinline__ void fetch_tiles(int i) const {
    delay_one_warp(InjectedFault::kBackwardBarrier);
    fetch_tile(p_.q, shared_.q(stage(i)), Shared::kQueriesFull + stage(i), first_query(i), i);
    fetch_tile(p_.grad_o, shared_.grad_o(stage(i)), Shared::kGradientsFull + stage(i), first_query(i), i);
  }
  __device__ __forceinline__ void fetch_tile(const CUtensorMap& map, std::uint32_t tile, std::uint32_t full,
                                             int first_query, int i) const {
    const std::uint32_t barrier = shared_.barrier(full);
    mbarrier_arrive_expect_tx(barrier, Shared::kStageBytes + Shared::kStatisticsBytes);
    tma_load_tile<kHeadDim, Shared::kPanelColumns>(tile, Shared::kPanelBytes, map,
                                                   {first_query, loaded_head(i), of_item(Shared::kBatch)}, barrier,
                                                   l2_cache_hint<CacheHint::kEvictLast>());
  }

  __device__ __forceinline__ void fetch_statistics(int i) const {
    int head = of_item(Shared::kHeadOfAll);
    if constexpr (kIsGqa<Parameters>) {
      head = query_head<InjectedFault::kGqaStatistics>(p_, head, gqa_step(i).head);
    }
    const std::int64_t row = static_cast<std::int64_t>(head) * p_.rows + first_query(i);
    bulk_load(shared_.lse(stage(i)), p_.lse + row, Shared::kStatisticsBytes,
              shared_.barrier(Shared::kQueriesFull + stage(i)));
    delay_one_warp(InjectedFault::kBackwardParity);
    bulk_load(shared_.delta(stage(i)), p_.delta + row, Shared::kStatisticsBytes,
              shared_.barrier(Shared::kGradientsFull + stage(i)));
  }

  const Parameters& p_;
  Shared shared_;
  std::uint32_t item_ = 0;  // number of the work tile in the CTA
};

template <class Element, int kHeadDim, DqAccumulation kSums, class Parameters>
__device__ __forceinline__ void backward_block(const Parameters& parameters, char* memory) {
  using Shared = PersistentSmem<kHeadDim>;
  const Shared shared{{shared_address(memory)}};
  // After a shuffle from one lane, the compiler treats the number as uniform in the warp.
  const int warp_group = __shfl_sync(kFullWarp, static_cast<int>(threadIdx.x) / kWarpGroupThreads, 0);
  begin_backward_block(parameters, shared);
  if (warp_group == 0) {
    setmaxnreg_dec<Shared::kTile.copying_registers>();
    if (threadIdx.x == 0) QdoProducer<kHeadDim, kSums, Parameters>{parameters, shared}.run();
    if (threadIdx.x == kWarpSize) KvProducer<kHeadDim, kSums, Parameters>{parameters, shared}.run();
  } else {
    setmaxnreg_inc<Shared::kTile.registers>();
    DkDvMainloop<Element, kHeadDim, kSums, Parameters>{parameters, shared, warp_group - 1}.run();
  }
}

template <class Element, int kHeadDim, DqAccumulation kSums>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    attention_bwd_sm90_persistent_kernel(const __grid_constant__ PersistentParamsFor<kSums> parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];  // can be aligned: the only shared memory
  backward_block<Element, kHeadDim, kSums>(parameters, shared);
#endif
}

/// The same for grouped-query attention.
template <class Element, int kHeadDim, DqAccumulation kSums>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    attention_bwd_sm90_persistent_gqa_kernel(const __grid_constant__ GqaPersistentParams parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  backward_block<Element, kHeadDim, kSums>(parameters, shared);
#endif
}

}  // namespace tbench::kernels::sm90
