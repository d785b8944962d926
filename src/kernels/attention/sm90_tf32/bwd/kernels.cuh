// TF32 backward pass on Hopper, in two kernels with one work tile per CTA. The first has tiles of 128 keys and computes
// dK and dV while it iterates over queries; the second has tiles of 128 queries and computes dQ while it iterates over
// keys. Two consumer warpgroups compute (sm90_tf32/bwd/mainloop.cuh), and one producer thread loads the stationary rows
// and then the tiles of each step through a ring of stages. TMA rounds all rows to TF32 when it loads them. A
// preprocess kernel computes Q^T, dO^T and K^T, rounded, and the initial values of S and dP.
//
// The second kernel does not depend on the first and may run at the same time as its last CTAs. The first kernel
// therefore lets the second kernel start as soon as it has itself waited for the preprocess kernel. The second kernel
// waits for the first not at its start but at its end, so that a kernel that waits for the second has waited for both.
#pragma once

#include "kernels/attention/sm90_tf32/bwd/mainloop.cuh"

namespace tbench::kernels::sm90_tf32 {

template <class Tiles>
class BwdProducer {
  using Shared = Tiles;
  static constexpr int kHeadDim = Shared::kHeadDim;
  static constexpr bool kKeepsKeys = Shared::kKeepsKeys;
  static constexpr BwdConfig kTile = Shared::kTile;

 public:
  __device__ __forceinline__ BwdProducer(const BwdParams& parameters, Shared shared, const BwdTileCoord& place)
      : p_{parameters}, shared_{shared}, place_{place} {}

  /// With stationary keys, loads rows while the preprocess kernel still runs, because that kernel does not write them.
  __device__ __forceinline__ void run() {
    fetch_kept(kKeepsKeys ? p_.k : p_.kept_q, kTile.scores_operand_in_registers, Shared::kScoresOperandFull,
               shared_.scores_operand(0), 0);
    fetch_rows(0, Shared::kForScores);
    fetch_kept(kKeepsKeys ? p_.v : p_.kept_grad_o, kTile.gradients_operand_in_registers, Shared::kGradientsOperandFull,
               shared_.gradients_operand(0), Shared::kKeptTiles - kBackwardGroups);
    fetch_rows(0, Shared::kForGradients);
    if constexpr (kKeepsKeys) griddep_wait();
    griddep_launch_dependents();
    fetch_statistics(0, Shared::kForScores);
    fetch_statistics(0, Shared::kForGradients);
    fetch_transposed(0);
    for (int i = 1; i < place_.steps; ++i) {
      for (const auto tile : {Shared::kForScores, Shared::kForGradients}) {
        wait_until_empty(Shared::number(i, tile));
        fetch_rows(i, tile);
        fetch_statistics(i, tile);
      }
      fetch_transposed(i);
    }
  }

 private:
  using Tile = typename Shared::Tile;

  __device__ __forceinline__ int first_streamed(int i) const {
    return first_streamed_row<Shared::kKept>(place_, i, kTile.rows);
  }
  __device__ __forceinline__ void wait_until_empty(int n) const {
    mbarrier_wait(shared_.empty(n), Shared::parity(n) ^ 1u);
  }

  /// Loads one stationary operand of both warpgroups.
  /// @param n  index of the operand's first tile among the tiles that pass through the stages, if the operand is kept
  ///           in registers
  __device__ __forceinline__ void fetch_kept(const CUtensorMap& map, bool to_registers, int full,
                                             std::uint32_t destination, int n) const {
    const std::uint32_t barrier = shared_.barrier(full);
    if (!to_registers) mbarrier_arrive_expect_tx(barrier, kBackwardGroups * Shared::kKeptBytes);
    for (int group = 0; group < kBackwardGroups; ++group) {
      if (to_registers) mbarrier_arrive_expect_tx(shared_.full(n + group), Shared::kKeptBytes);
      tma_load_tile<columns_of_16_bits(kHeadDim)>(
          to_registers ? shared_.tile(n + group) : destination + group * Shared::kKeptBytes, Shared::kKeptPanelBytes,
          map, {place_.first_row + group * kWgmmaM, place_.head, place_.batch},
          to_registers ? shared_.full(n + group) : barrier, l2_cache_hint<CacheHint::kEvictFirst>());
    }
  }

  /// Loads one operand of a step. Its barrier waits for lse or delta, too.
  __device__ __forceinline__ void fetch_rows(int i, Tile tile) const {
    const int n = Shared::number(i, tile);
    const bool for_scores = tile == Shared::kForScores;
    const CUtensorMap& map = kKeepsKeys ? (for_scores ? p_.q : p_.grad_o) : (for_scores ? p_.k : p_.v);
    if (for_scores) delay_one_warp(InjectedFault::kBackwardBarrier);
    if (!for_scores) delay_one_warp(InjectedFault::kBackwardParity);
    mbarrier_arrive_expect_tx(shared_.full(n), Shared::kSlotBytes + (kKeepsKeys ? Shared::kStatisticsBytes : 0));
    tma_load_tile<columns_of_16_bits(kHeadDim)>(shared_.tile(n), Shared::kPanelBytes, map,
                                                {first_streamed(i), place_.head, place_.batch}, shared_.full(n),
                                                l2_cache_hint<CacheHint::kEvictLast>());
  }
  __device__ __forceinline__ void fetch_statistics(int i, Tile tile) const {
    if constexpr (!kKeepsKeys) return;
    const int n = Shared::number(i, tile);
    const std::int64_t row = static_cast<std::int64_t>(place_.all_head) * p_.queries + first_streamed(i);
    bulk_load(shared_.statistics(n), (tile == Shared::kForScores ? p_.lse : p_.delta) + row, Shared::kStatisticsBytes,
              shared_.full(n));
  }

  __device__ __forceinline__ void fetch_transposed(int i) const {
    const int rows = kKeepsKeys ? p_.queries : p_.keys;
    const std::int64_t first = (static_cast<std::int64_t>(place_.all_head) * rows + first_streamed(i)) * kHeadDim;
    if constexpr (kKeepsKeys) fetch_panels(Shared::number(i, Shared::kForValues), p_.grad_o_transposed + first);
    fetch_panels(Shared::number(i, Shared::kForKept), (kKeepsKeys ? p_.q_transposed : p_.k_transposed) + first);
  }
  __device__ __forceinline__ void fetch_panels(int n, const float* panels) const {
    wait_until_empty(n);
    mbarrier_arrive_expect_tx(shared_.full(n), Shared::kSlotBytes);
    bulk_load(shared_.tile(n), panels, Shared::kSlotBytes, shared_.full(n), l2_cache_hint<CacheHint::kEvictLast>());
  }

  const BwdParams& p_;
  Shared shared_;
  const BwdTileCoord& place_;
};

template <int kHeadDim, Stationary kKept, bool kTakesTurns>
__device__ __forceinline__ void backward_block(const BwdParams& parameters, char* memory) {
  using Shared = BwdSmem<kHeadDim, kKept>;
  const Shared shared{(shared_address(memory) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment};
  // After a shuffle from one lane, the compiler treats the number as uniform in the warp.
  const int warp_group = __shfl_sync(kFullWarp, static_cast<int>(threadIdx.x) / kWarpGroupThreads, 0);
  const BwdTileCoord place = backward_place<kHeadDim, kKept>(parameters, static_cast<int>(blockIdx.x));
  if (threadIdx.x == 0) shared.make_barriers();
  __syncthreads();
  if (warp_group == 0) {
    setmaxnreg_dec<kCopyingRegisters>();
    if (threadIdx.x == 0) BwdProducer<Shared>{parameters, shared, place}.run();
  } else {
    setmaxnreg_inc<kComputingRegisters>();
    BwdMainloop<Shared, kTakesTurns>{parameters, shared, place, warp_group - 1}.run();
  }
}

template <int kHeadDim, bool kTakesTurns>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    attention_bwd_sm90_tf32_dkdv_kernel(const __grid_constant__ BwdParams parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  backward_block<kHeadDim, Stationary::kKv, kTakesTurns>(parameters, shared);
#endif
}
template <int kHeadDim>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    attention_bwd_sm90_tf32_dq_kernel(const __grid_constant__ BwdParams parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  backward_block<kHeadDim, Stationary::kQ, false>(parameters, shared);
#endif
}

}  // namespace tbench::kernels::sm90_tf32
