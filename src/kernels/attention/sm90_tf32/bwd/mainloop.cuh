// Main loop of a consumer warpgroup of the sm90 TF32 backward kernels over the streamed rows. A step issues the next S
// after its dV and dK, or dQ, and the next dP when these products have ended. Exponentials then overlap dP, and
// registers for one step are enough.
#pragma once

#include "kernels/attention/common/warp_reduce.cuh"
#include "kernels/attention/sm90_tf32/bwd/softmax_grad.cuh"

namespace tbench::kernels::sm90_tf32 {

/// Computes a work tile's gradients.
/// @tparam kTakesTurns  whether the warpgroups issue products in ping-pong order, so that the products of one overlap
/// the exponentials of the other
template <class Tiles, bool kTakesTurns>
class BwdMainloop : SoftmaxGrad<Tiles> {
  using Base = SoftmaxGrad<Tiles>;
  using Base::kKeepsKeys, Base::kTile, Base::kOperandWords;
  using Base::lane, Base::first_row, Base::extent, Base::first_streamed;
  using Base::p_, Base::shared_, Base::place_, Base::group_, Base::scores_, Base::gradients_;
  using typename Base::Gradient, typename Base::Operands, typename Base::Shared;

  /// Whether there is a wait for tiles before the wait for dP. Without that wait ptxas moves the exponentials after the
  /// wait for dP.
  static constexpr bool kExponentialsBesideGradients = !kKeepsKeys || Base::kHeadDim == 64;

  // Numbers of the named barriers, one per warpgroup, of which 16 exist; number 0 serves __syncthreads().
  enum NamedBarrier { kTurn = 1 };

 public:
  __device__ __forceinline__ BwdMainloop(const BwdParams& parameters, Shared shared, const BwdTileCoord& place,
                                         int group)
      : Base{parameters, shared, place, group} {}

  __device__ __forceinline__ void run() {
    if constexpr (kKeepsKeys) griddep_wait();
    if (group_ == kBackwardGroups - 1) pass_turn();  // the first group issues first
    load_kept();
    const int skipped = skipped_steps(), last = place_.steps - 1;
    for (int i = 0; i < skipped; ++i) skip_step(i);
    if constexpr (kKeepsKeys) Base::clear(values_);
    Base::clear(kept_);
    if (skipped <= last) {
      start_scores(skipped);
      wgmma_wait_group<0>(scores_);  // explicit, because ptxas would add a wait anyway
      make_probabilities_and_gradients(skipped, /*passes_turn=*/false);
#pragma unroll 1
      for (int i = skipped; i < last; ++i) advance<false>(i);
      advance<true>(last);
    }
    if (group_ == 0) wait_for_turn();  // completes the phase: no barrier may keep part of its arrivals
    if constexpr (kKeepsKeys) {
      Base::store(p_.dv, values_, 1.0f);
      Base::store(p_.dk, kept_, injected(InjectedFault::kDkScale) ? 1.0f : p_.scale);
    } else {
      Base::store(p_.dq, kept_, p_.scale);
      griddep_wait();  // see sm90_tf32/bwd/kernels.cuh
    }
  }

 private:
  /// Number of steps in which this warpgroup has no work: the CTA's first steps if the mask hides their rows, or all
  /// steps if the warpgroup's rows are past the end.
  __device__ __forceinline__ int skipped_steps() const {
    if (first_row() >= extent()) return place_.steps;
    if (!p_.causal) return 0;
    if constexpr (kKeepsKeys) return group_ * kWgmmaM / kTile.rows;
    return place_.steps - min(place_.steps, steps_of_queries(p_, first_row() + kWgmmaM, kTile.rows));
  }

  /// Signals to the producer that the warp has read the n-th tile.
  __device__ __forceinline__ void release(int n) const {
    __syncwarp();
    if (lane() == 0) mbarrier_arrive(shared_.empty(n));
  }
  __device__ __forceinline__ void wait_for_tile(int n) const { mbarrier_wait(shared_.full(n), Shared::parity(n)); }
  __device__ __forceinline__ void wait_for_turn() const {
    if constexpr (kTakesTurns) named_barrier_sync<2 * kWarpGroupThreads>(kTurn + group_);
  }
  __device__ __forceinline__ void pass_turn() const {
    if constexpr (kTakesTurns) named_barrier_arrive<2 * kWarpGroupThreads>(kTurn + (group_ ^ 1));
  }

  __device__ __forceinline__ void skip_step(int i) const {
    wait_for_turn();
    pass_turn();
#pragma unroll
    for (int tile = 0; tile < Shared::kTiles; ++tile) {
      wait_for_tile(Shared::number(i, tile));
      release(Shared::number(i, tile));
    }
  }

  /// Loads the operands that stay in registers from the stages, and waits for the operands in shared memory.
  __device__ __forceinline__ void load_kept() {
    int n = 0;
    const auto load = [&](auto& operand) {
#pragma unroll
      for (int group = 0; group < kBackwardGroups; ++group, ++n) {
        wait_for_tile(n);  // also for the other warpgroup's tile: otherwise a later wait would confuse this phase with
                           // the preceding phase
        if (group == group_) {
          Base::load_operand(operand.words, shared_.tile(n));
          fence_proxy_async();  // without it, the next copy might overtake loads in flight
        }
        release(n);
      }
    };
    if constexpr (kTile.scores_operand_in_registers) {
      load(scores_operand_);
    } else {
      mbarrier_wait(shared_.barrier(Shared::kScoresOperandFull), 0);
    }
    if constexpr (kTile.gradients_operand_in_registers) {
      load(gradients_operand_);
    } else {
      mbarrier_wait(shared_.barrier(Shared::kGradientsOperandFull), 0);
    }
  }

  /// Issues S - lse / scale of the i-th step.
  __device__ __forceinline__ void start_scores(int i) {
    const int n = Shared::number(i, Shared::kForScores);
    if (!injected(InjectedFault::kBackwardBarrier)) wait_for_tile(n);
    Base::spread(scores_, n, p_.lse);
    wgmma_fence();
    Base::template multiply_rows<kTile.scores_operand_in_registers>(scores_, scores_operand_,
                                                                    shared_.scores_operand(group_), shared_.tile(n));
    wgmma_commit_group();
  }
  /// Issues dP - delta.
  __device__ __forceinline__ void start_probability_gradients(int i) {
    const int n = Shared::number(i, Shared::kForGradients);
    wait_for_gradients(n);
    Base::spread(gradients_, n, p_.delta);
    wgmma_fence();
    Base::template multiply_rows<kTile.gradients_operand_in_registers>(
        gradients_, gradients_operand_, shared_.gradients_operand(group_), shared_.tile(n));
    wgmma_commit_group();
  }
  __device__ __forceinline__ void wait_for_gradients(int n) const {
    // The injected fault waits for the preceding phase. Once the tile has arrived, that parity belongs to the next
    // tile, which is not loaded before this tile has been read, so the wait is bounded.
    if (injected(InjectedFault::kBackwardParity)) return mbarrier_wait_bounded(shared_.full(n), Shared::parity(n) ^ 1u);
    wait_for_tile(n);
  }

  __device__ __forceinline__ void wait_for_transposed(int i) const {
    if constexpr (kKeepsKeys) wait_for_tile(Shared::number(i, Shared::kForValues));
    wait_for_tile(Shared::number(i, Shared::kForKept));
  }

  /// Computes P and issues dP - delta of the i-th step, whose S is in flight.
  __device__ __forceinline__ void make_probabilities_and_gradients(int i, bool passes_turn) {
    start_probability_gradients(i);
    if (passes_turn) pass_turn();
    const int for_scores = Shared::number(i, Shared::kForScores);
    wgmma_wait_group<1>(scores_);
    if (injected(InjectedFault::kBackwardBarrier)) wait_for_tile(for_scores);
    release(for_scores);
    Base::mask(first_streamed(i));
    Base::exponentiate();
    if constexpr (kExponentialsBesideGradients) wait_for_transposed(i);
    wgmma_wait_group<0>(gradients_);
    release(Shared::number(i, Shared::kForGradients));
  }

  /// Completes a step whose P and dP are ready, and computes P and dP of the next step.
  template <bool kLast>
  __device__ __forceinline__ void advance(int i) {
    const int for_values = Shared::number(i, Shared::kForValues), for_kept = Shared::number(i, Shared::kForKept);
    // All operands are computed before the first of their products, because ptxas serialises products if operands are
    // computed between them.
    Operands probabilities, differentials;
    if constexpr (kKeepsKeys) {
      Base::to_operands(probabilities, scores_);
      if (injected(InjectedFault::kDvSkipTile) && first_streamed(i) == 0) Base::leave_out(probabilities);
    }
    if constexpr (!kExponentialsBesideGradients) wait_for_transposed(i);
    Base::differentiate();
    Base::to_operands(differentials, gradients_);
    if (!kKeepsKeys && injected(InjectedFault::kDqSkipTile) && first_streamed(i) == 0) Base::leave_out(differentials);
    // The injected fault releases the stage here; without the fault, the step releases it last.
    if (injected(InjectedFault::kBackwardRelease)) release_too_early(kKeepsKeys ? for_values : for_kept);
    wait_for_turn();
    wgmma_fence();
    if constexpr (kKeepsKeys) Base::multiply_gradient(values_, probabilities, shared_.tile(for_values));
    Base::multiply_gradient(kept_, differentials, shared_.tile(for_kept));
    wgmma_commit_group();
    if constexpr (kLast) {
      pass_turn();
    } else {
      start_scores(i + 1);
    }
    if constexpr (kKeepsKeys) wgmma_wait_group<kLast ? 0 : 1>(values_);
    wgmma_wait_group<kLast ? 0 : 1>(kept_);
    if constexpr (!kLast) {
      if (kKeepsKeys && !injected(InjectedFault::kBackwardRelease)) release(for_values);
      if (kKeepsKeys || !injected(InjectedFault::kBackwardRelease)) release(for_kept);
      make_probabilities_and_gradients(i + 1, /*passes_turn=*/true);
    }
  }

  __device__ __forceinline__ void release_too_early(int n) const {
    release(n);
    delay(InjectedFault::kBackwardRelease);
  }

  StationaryFragment<kTile.scores_operand_in_registers ? kOperandWords : 0> scores_operand_;
  StationaryFragment<kTile.gradients_operand_in_registers ? kOperandWords : 0> gradients_operand_;
  Gradient values_;  // sums of dV
  Gradient kept_;    // sums of dK or dQ
};

}  // namespace tbench::kernels::sm90_tf32
