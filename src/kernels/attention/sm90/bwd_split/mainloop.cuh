// Main loop of a consumer warpgroup of the sm90 split backward kernel over the streamed rows. A step issues the next S
// and dP, then its own dV and dK, or dQ. All of these products except S overlap the next step's exponentials.
#pragma once

#include "kernels/attention/sm90/bwd_split/softmax_grad.cuh"

namespace tbench::kernels::sm90 {

template <class Element, class Tiles, Stationary kKept>
class SplitMainloop : SplitSoftmaxGrad<Element, Tiles, kKept> {
  using Base = SplitSoftmaxGrad<Element, Tiles, kKept>;
  using Base::kKeepsKeys, Base::kTile;
  using Base::lane, Base::row_in_tile, Base::stage;
  using Base::p_, Base::shared_, Base::place_, Base::nth_, Base::begin_;
  using Base::scores_, Base::gradients_, Base::values_, Base::kept_, Base::lse_, Base::delta_;
  using typename Base::Part, typename Base::Shared;
  static_assert(kTile.stages >= 3, "a step's tiles are read while the next but one's come");
  static constexpr bool kReleasesLate = kTile.makes_statistics && !kKeepsKeys;

 public:
  /// @param nth, begin  see SplitSoftmaxGrad
  __device__ __forceinline__ SplitMainloop(const SplitParams& parameters, Shared shared, const SplitTileCoord& place,
                                           int nth, int begin)
      : Base{parameters, shared, place, nth, begin} {}

  __device__ __forceinline__ void run() {
    load_kept();
    if constexpr (kKeepsKeys) Base::clear(values_);
    Base::clear(kept_);
    const int last = place_.steps - 1;
    wait_for_scores(0);
    if constexpr (!kTile.makes_statistics) wait_for_gradients(0);
    Base::start_from_statistics(0);
    wgmma_fence();
    Base::multiply_scores(0);
    if constexpr (kTile.makes_statistics) {  // O comes with dO
      wait_for_gradients(0);
      wgmma_fence();
    }
    Base::multiply_probability_gradients(0);
    wgmma_wait_group<1>(scores_);
    make_probabilities(0);
    wgmma_wait_group<0>(gradients_);
    make_operands(0);
    // delta has arrived, so the warp that computes it has also read the stationary dO.
    if (kReleasesLate && !injected(InjectedFault::kBackwardKept)) release_kept();
#pragma unroll 1
    for (int i = 0; i < last; ++i) advance(i);
    release_too_early(last);
    wgmma_fence();
    Base::multiply_gradients(last);
    finish_gradients(last);
    if constexpr (kTile.makes_statistics) griddep_wait();
    if constexpr (kKeepsKeys) {
      Base::store(p_.dv, values_, 1.0f);
      Base::store(p_.dk, kept_, injected(InjectedFault::kDkScale) ? 1.0f : p_.scale);
    } else {
      Base::store(p_.dq, kept_, p_.scale);
    }
  }

 private:
  /// Signals to the producer that the warp has read the stage that `empty` guards.
  __device__ __forceinline__ void release(std::uint32_t empty) const {
    __syncwarp();
    if (lane() == 0) mbarrier_arrive(shared_.barrier(empty));
  }
  __device__ __forceinline__ void release_step(int i) const { release(Shared::kEmpty + stage(i)); }
  __device__ __forceinline__ void release_kept() const { release(Shared::kKeptEmpty + Shared::kept_stage(nth_)); }
  __device__ __forceinline__ void release_too_early(int i) const {
    if (!injected(InjectedFault::kBackwardRelease)) return;
    release_step(i);
    delay(InjectedFault::kBackwardRelease);
  }

  __device__ __forceinline__ std::uint32_t parity(int i) const { return Shared::parity(begin_ + i); }
  __device__ __forceinline__ std::uint32_t kept(Part part) const {
    return shared_.kept(part, Shared::kept_stage(nth_));
  }

  /// Loads the stationary rows to registers.
  __device__ __forceinline__ void load_kept() {
    if (injected(InjectedFault::kBackwardKept)) release_kept();
    for (const auto part : {Shared::kForScores, Shared::kForGradients}) {
      mbarrier_wait(shared_.kept_full(part, Shared::kept_stage(nth_)), Shared::kept_parity(nth_));
    }
    Base::load_operand(Base::scores_operand_, kept(Shared::kForScores));
    Base::load_operand(Base::gradients_operand_, kept(Shared::kForGradients));
    if constexpr (!kKeepsKeys && !kTile.makes_statistics) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        lse_[half] = load_statistic(shared_.kept_statistics(Shared::kForScores, Shared::kept_stage(nth_)), half);
        delta_[half] = load_statistic(shared_.kept_statistics(Shared::kForGradients, Shared::kept_stage(nth_)), half);
      }
    }
    fence_proxy_async();  // without it, the next copy might overtake loads in flight
    if (!kReleasesLate && !injected(InjectedFault::kBackwardKept)) release_kept();
  }
  __device__ __forceinline__ static float load_statistic(std::uint32_t statistics, int half) {
    return std::bit_cast<float>(load_shared(statistics + row_in_tile(half) * 4));
  }

  __device__ __forceinline__ void wait_for_tile(Part part, int i) const {
    mbarrier_wait(shared_.full(part, stage(i)), parity(i));
  }
  __device__ __forceinline__ void wait_for_tiles(int i) const {
    wait_for_scores(i);
    wait_for_gradients(i);
  }
  __device__ __forceinline__ void wait_for_scores(int i) const {
    if (!injected(InjectedFault::kBackwardBarrier)) wait_for_tile(Shared::kForScores, i);
  }
  __device__ __forceinline__ void wait_for_gradients(int i) const {
    if (injected(InjectedFault::kBackwardBarrier))
      return;  // no wait for dO either: dO arrives after Q, so that wait would include the one for Q
    // The injected fault waits for the preceding phase. Once the tile has arrived, that parity belongs to the next
    // tile, which is not loaded before this tile has been read, so the wait is bounded.
    if (injected(InjectedFault::kBackwardParity)) {
      return mbarrier_wait_bounded(shared_.full(Shared::kForGradients, stage(i)), parity(i) ^ 1u);
    }
    wait_for_tile(Shared::kForGradients, i);
  }

  /// Waits for lse or delta that this kernel computes. With stationary queries it also waits in every step, since
  /// skipped waits would make parities ambiguous, but reads the values only in the first step.
  __device__ __forceinline__ void wait_for_statistics(Part part, int i, float (&of_rows)[2]) const {
    if (!injected(InjectedFault::kBackwardStatistics))
      mbarrier_wait(shared_.statistics_full(part, stage(i)), parity(i));
    if constexpr (!kKeepsKeys) {
      if (i > 0) return;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        of_rows[half] = load_statistic(shared_.statistics(part, stage(i)), half);
      }
    }
  }

  /// Issues dV and dK, or dQ, of a step whose operands are ready, and computes the next step up to its operands.
  __device__ __forceinline__ void advance(int i) {
    release_too_early(i);
    Base::start_from_statistics(i + 1);
    wgmma_fence();
    Base::multiply_scores(i + 1);
    Base::multiply_probability_gradients(i + 1);
    Base::multiply_gradients(i);
    wgmma_wait_group<2>(scores_);
    make_probabilities(i + 1);
    finish_gradients(i);
    wgmma_wait_group<0>(gradients_);
    make_operands(i + 1);
  }
  __device__ __forceinline__ void finish_gradients(int i) {
    if constexpr (kKeepsKeys) wgmma_wait_group<0>(values_);
    wgmma_wait_group<0>(kept_);
    if (!injected(InjectedFault::kBackwardRelease)) release_step(i);
  }

  /// Computes P of the i-th step.
  __device__ __forceinline__ void make_probabilities(int i) {
    if (injected(InjectedFault::kBackwardBarrier)) {  // too late for the products
      for (const auto part : {Shared::kForScores, Shared::kForGradients}) wait_for_tile(part, i);
    }
    if constexpr (kTile.makes_statistics) wait_for_statistics(Shared::kForScores, i, lse_);
    Base::mask(place_.streamed(i));
    Base::exponentiate(i);
    // The wait for the next step's tiles is here because ptxas does not move waits for products across it, so that the
    // exponentials above overlap products.
    if (i + 1 < place_.steps) wait_for_tiles(i + 1);
  }
  /// Computes all operands before the first of their products, because ptxas serialises products if operands are
  /// computed between them.
  __device__ __forceinline__ void make_operands(int i) {
    if constexpr (kTile.makes_statistics) wait_for_statistics(Shared::kForGradients, i, delta_);
    Base::differentiate(i);
  }
};

}  // namespace tbench::kernels::sm90
