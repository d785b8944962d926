// Split backward pass on Hopper, for few steps per SM: bf16 and fp16, head_dim 64. One launch has work tiles of 64
// keys, which compute dK and dV while they iterate over queries, and work tiles of 64 queries, which compute dQ while
// they iterate over keys. A CTA has two consumer groups of one warpgroup each (sm90/bwd_split/mainloop.cuh), with their
// own work tiles, shared memory and barriers, and one producer warpgroup with one loading lane per group. Either a
// preprocess kernel computes the initial values of S and dP, or one more warp per group computes lse and delta
// (sm90/bwd_split/row_stats.cuh).
#pragma once

#include "kernels/attention/common/warp_reduce.cuh"
#include "kernels/attention/sm90/bwd_split/mainloop.cuh"
#include "kernels/attention/sm90/bwd_split/row_stats.cuh"

namespace tbench::kernels::sm90 {

template <class Tiles>
class SplitProducer {
  using Shared = Tiles;
  using Part = typename Shared::Part;
  static constexpr SplitConfig kTile = Shared::kTile;

 public:
  __device__ __forceinline__ SplitProducer(const SplitParams& parameters, Shared shared)
      : p_{parameters}, shared_{shared} {}

  /// Loads a consumer group's first work tile. The first tiles are loaded while the preprocess kernel still runs,
  /// because that kernel does not write them. If there is no preprocess kernel, the function first waits for the
  /// previous kernel.
  __device__ __forceinline__ void begin(const SplitTileCoord& place) {
    if constexpr (kTile.makes_statistics) griddep_wait();
    const int early = min(place.steps, kTile.stages);
    fetch_kept_rows(place, Shared::kForScores);
    fetch_rows(place, 0, Shared::kForScores);
    fetch_kept_rows(place, Shared::kForGradients);
    fetch_rows(place, 0, Shared::kForGradients);
#pragma unroll 1  // keeps the code before the first copies short, because cold code comes from memory
    for (int i = 1; i < early; ++i) {
      for (const auto part : {Shared::kForScores, Shared::kForGradients}) fetch_rows(place, i, part);
    }
    if constexpr (!kTile.makes_statistics) {
      griddep_wait();
      fetch_kept_statistics(place);
#pragma unroll 1
      for (int i = 0; i < early; ++i) {
        for (const auto part : {Shared::kForScores, Shared::kForGradients}) fetch_statistics(place, i, part);
      }
    }
    fetch_steps(place, early);
    end_item(place);
  }

  __device__ __forceinline__ void fetch(const SplitTileCoord& place) {
    mbarrier_wait(shared_.barrier(Shared::kKeptEmpty + kept_stage()), Shared::kept_parity(nth_) ^ 1u);
    for (const auto part : {Shared::kForScores, Shared::kForGradients}) fetch_kept_rows(place, part);
    fetch_kept_statistics(place);
    fetch_steps(place, 0);
    end_item(place);
  }

 private:
  __device__ __forceinline__ std::uint32_t kept_stage() const { return Shared::kept_stage(nth_); }
  __device__ __forceinline__ std::uint32_t stage(int i) const { return Shared::stage(begin_ + i); }
  __device__ __forceinline__ void end_item(const SplitTileCoord& place) {
    ++nth_;
    begin_ += place.steps;
  }

  __device__ __forceinline__ void fetch_steps(const SplitTileCoord& place, int first) {
#pragma unroll 1
    for (int i = first; i < place.steps; ++i) {
      mbarrier_wait(shared_.barrier(Shared::kEmpty + stage(i)), Shared::parity(begin_ + i) ^ 1u);
      for (const auto part : {Shared::kForScores, Shared::kForGradients}) {
        fetch_rows(place, i, part);
        fetch_statistics(place, i, part);
      }
    }
  }

  __device__ __forceinline__ void fetch_kept_rows(const SplitTileCoord& place, Part part) const {
    const std::uint32_t full = shared_.kept_full(part, kept_stage());
    const int statistics = statistics_bytes(place.kept == Stationary::kQ);
    mbarrier_arrive_expect_tx(full, Shared::kTileBytes + statistics);
    copy(place.kept == Stationary::kKv, part, shared_.kept(part, kept_stage()), place, place.first_row, full);
  }
  __device__ __forceinline__ void fetch_kept_statistics(const SplitTileCoord& place) const {
    if constexpr (!kTile.makes_statistics) {
      if (place.kept == Stationary::kKv) return;
      for (const auto part : {Shared::kForScores, Shared::kForGradients}) {
        copy_statistics(part, shared_.kept_statistics(part, kept_stage()), place, place.first_row,
                        shared_.kept_full(part, kept_stage()));
      }
    }
  }

  /// Loads one operand of a step. Its barrier waits for lse or delta, too.
  __device__ __forceinline__ void fetch_rows(const SplitTileCoord& place, int i, Part part) const {
    const std::uint32_t full = shared_.full(part, stage(i));
    if (part == Shared::kForScores) delay_one_warp(InjectedFault::kBackwardBarrier);
    if (part == Shared::kForGradients) delay_one_warp(InjectedFault::kBackwardParity);
    const bool with_outputs = kTile.makes_statistics && part == Shared::kForGradients && makes_delta(place, i);
    mbarrier_arrive_expect_tx(
        full, (with_outputs ? 2 : 1) * Shared::kTileBytes + statistics_bytes(place.kept == Stationary::kKv));
    copy(place.kept == Stationary::kQ, part, shared_.tile(part, stage(i)), place, place.streamed(i), full);
    if (with_outputs) {
      copy_tile(shared_.outputs(stage(i)), p_.o, place,
                place.kept == Stationary::kKv ? place.streamed(i) : place.first_row, full);
    }
  }
  __device__ __forceinline__ static int statistics_bytes(bool of_queries) {
    return !kTile.makes_statistics && of_queries ? Shared::kStatisticsBytes : 0;
  }
  __device__ __forceinline__ void fetch_statistics(const SplitTileCoord& place, int i, Part part) const {
    if (kTile.makes_statistics || place.kept == Stationary::kQ) return;
    copy_statistics(part, shared_.statistics(part, stage(i)), place, place.streamed(i), shared_.full(part, stage(i)));
  }

  __device__ __forceinline__ void copy(bool keys, Part part, std::uint32_t tile, const SplitTileCoord& place, int row,
                                       std::uint32_t full) const {
    const bool for_scores = part == Shared::kForScores;
    copy_tile(tile, keys ? (for_scores ? p_.k : p_.v) : (for_scores ? p_.q : p_.grad_o), place, row, full);
  }
  __device__ __forceinline__ void copy_tile(std::uint32_t tile, const CUtensorMap& map, const SplitTileCoord& place,
                                            int row, std::uint32_t full) const {
    tma_load_tile<Shared::kHeadDim>(tile, Shared::kTileBytes, map, {row, place.head, place.batch}, full,
                                    l2_cache_hint<CacheHint::kEvictLast>());
  }
  __device__ __forceinline__ void copy_statistics(Part part, std::uint32_t destination, const SplitTileCoord& place,
                                                  int row, std::uint32_t full) const {
    const float* const all = part == Shared::kForScores ? p_.lse : p_.delta;
    bulk_load(destination, all + static_cast<std::int64_t>(place.all_head) * p_.rows + row, Shared::kStatisticsBytes,
              full);
  }

  const SplitParams& p_;
  Shared shared_;
  int nth_ = 0, begin_ = 0;  // number of work tiles of the consumer group so far; number of their steps
};

template <class Element, class Tile>
__device__ __forceinline__ void kinds_block(const SplitParams& parameters, char* memory) {
  using Shared = SplitSmem<Tile>;
  constexpr int kTeams = kKindsTeams, kMade = 1;
  const std::uint32_t first = (shared_address(memory) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  // After a shuffle from one lane, the compiler treats the number as uniform in the warp.
  const int warp = __shfl_sync(kFullWarp, static_cast<int>(threadIdx.x) / kWarpSize, 0);
  if (threadIdx.x == kTeams * kWarpSize) {  // a warp that is still idle
    for (const CUtensorMap* map : {&parameters.q, &parameters.k, &parameters.v, &parameters.grad_o}) prefetch(*map);
    if constexpr (Shared::kTile.makes_statistics) prefetch(parameters.o);
  }
  const int group = warp / kWarpGroupWarps - 1;
  const bool in_copying_group = group < 0;
  const int team = in_copying_group ? warp % kTeams : group;
  const Shared shared{first + team * team_bytes(Shared::kTile)};
  const bool copies = warp < kTeams && threadIdx.x % kWarpSize == 0;
  const bool makes = Shared::kTile.makes_statistics && in_copying_group && warp / kTeams == 1;  // lse and delta
  static_assert(2 * kTeams <= kWarpGroupWarps);
  int item = first_tile<kTeams>(team), nth = 0;
  if (copies) shared.make_barriers();
  __syncwarp();
  // The producer only arrives and continues; all other warps wait, with the same instruction.
  if (in_copying_group && !makes) {
    named_barrier_arrive<kKindsThreads>(kMade);
  } else {
    named_barrier_sync<kKindsThreads>(kMade);
  }
  griddep_launch_dependents();
  if (in_copying_group) {
    setmaxnreg_dec<Shared::kTile.copying_registers>();
    if constexpr (Shared::kTile.makes_statistics) {
      if (makes) return make_statistics<Element>(parameters, shared, team);
    }
    if (!copies || item >= parameters.order.items) return;
    SplitProducer<Shared> copying{parameters, shared};
    copying.begin(kinds_place(parameters, item));
#pragma unroll 1
    for (item = snake_tile<kTeams>(++nth, team); item < parameters.order.items;
         item = snake_tile<kTeams>(++nth, team)) {
      copying.fetch(kinds_place(parameters, item));
    }
  } else {
    setmaxnreg_inc<Shared::kTile.registers>();
    // The index is read again at every use, because it would otherwise take a register.
    const auto own_team = [] { return __shfl_sync(kFullWarp, opaque_thread_index() / kWarpGroupThreads, 0) - 1; };
    int begin = 0;
#pragma unroll 1
    for (; item < parameters.order.items; item = snake_tile<kTeams>(++nth, own_team())) {
      const SplitTileCoord place = kinds_place(parameters, item);
      if (place.kept == Stationary::kKv) {
        SplitMainloop<Element, Shared, Stationary::kKv>{parameters, shared, place, nth, begin}.run();
      } else {
        SplitMainloop<Element, Shared, Stationary::kQ>{parameters, shared, place, nth, begin}.run();
      }
      begin += place.steps;
    }
  }
}

template <class Element, class Tile>
__global__ void __launch_bounds__(kKindsThreads, 1)
    attention_bwd_sm90_split_kernel(const __grid_constant__ SplitParams parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  kinds_block<Element, Tile>(parameters, shared);
#endif
}

}  // namespace tbench::kernels::sm90
