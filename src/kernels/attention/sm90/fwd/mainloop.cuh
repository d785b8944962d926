// Main loop of a consumer warpgroup of the sm90 forward kernels over its 64 queries, for any operand type. It iterates
// from the last K/V tile to the first, so that only the first step has a mask. A step issues its Q K^T and the previous
// step's P V, and computes its P when both are done. Warpgroups issue products in ping-pong order, so that the products
// of one warpgroup overlap the softmax of the others.
#pragma once

#include <cmath>

#include "kernels/attention/sm90/fwd/online_softmax.cuh"

namespace tbench::kernels::sm90 {

/// Iterates over the work tiles and their steps.
/// @tparam Rows      the class that derives from this one and befriends it. It has load_queries() if Q stays in
/// registers, multiply_scores(s) (S = Q K^T), multiply_values() (O += P V) and finish(place), which stores O and lse
/// @tparam Operands  see OnlineSoftmax
template <class Rows, class Parameters, class Shared, class Operands, int kHeadDim>
class FwdMainloop : public OnlineSoftmax<Parameters, Shared, Operands, kHeadDim> {
  using Softmax = OnlineSoftmax<Parameters, Shared, Operands, kHeadDim>;
  using Softmax::release_queries, Softmax::release_keys, Softmax::release_values;
  using Softmax::reset, Softmax::mask, Softmax::softmax, Softmax::softmax_with_new_references, Softmax::rescale_;
  using Softmax::wait_for_queries, Softmax::wait_for_keys, Softmax::wait_for_tile_of_keys, Softmax::wait_for_values;
  using Softmax::wait_for_turn, Softmax::pass_turn, Softmax::next_item;

 protected:
  using Softmax::kTile, Softmax::kScores, Softmax::kOutputs, Softmax::p_, Softmax::shared_, Softmax::group_,
      Softmax::o_;
  static constexpr bool kKeepsQueries = kTile.queries_in_registers;
  static_assert(kTile.cols % kWgmmaM == 0, "or more than a group's first step would reach over the diagonal");

 public:
  using Softmax::Softmax;

  /// Computes the consumer group's work tiles.
  /// @param item  number of the first work tile; its coordinates are `place` if it exists
  __device__ __forceinline__ void run(int item, FwdTileCoord place) {
    if (group_ == kTile.warp_groups - 1) pass_turn();  // the first group issues first
    while (item < p_.order.items) {
      attend(place);
      rows().finish(place);
      item = next_item();
      place = forward_place(p_, item, Shared::kRows);
    }
    if (group_ == 0) wait_for_turn();  // completes the phase: no barrier may keep part of its arrivals
  }

 private:
  __device__ __forceinline__ Rows& rows() { return static_cast<Rows&>(*this); }

  __device__ __forceinline__ void attend(const FwdTileCoord& place) {
    const int first_row = place.first_row + group_ * kWgmmaM;
    const int block_steps = forward_steps(p_, place.first_row + Shared::kRows, kTile.cols);
    const int steps = min(block_steps, forward_steps(p_, first_row + kWgmmaM, kTile.cols));
#pragma unroll 1
    for (int step = block_steps; step > steps; --step) skip_step();
    start(first_row, steps);
    for (int step = steps - 2; step >= 0; --step) advance(step);
    add_last_values();
  }

  __device__ __forceinline__ void add_last_values() {
    wait_for_values();
    wgmma_fence();
    rows().multiply_values();
    wgmma_commit_group();
    wgmma_wait_group<0>(o_);
    release_values();
  }

  /// Skips a step of the CTA in which the mask hides all keys from this warpgroup.
  __device__ __forceinline__ void skip_step() {
    wait_for_turn();
    pass_turn();
    wait_for_tile_of_keys();
    release_keys();
    wait_for_values();
    release_values();
  }

  /// Computes P of the first step, before which there is no O.
  __device__ __forceinline__ void start(int first_row, int steps) {
    reset();
    wait_for_queries();
    if constexpr (kKeepsQueries) rows().load_queries();
    float s[kScores];
    wait_for_keys();
    wgmma_fence();
    rows().multiply_scores(s);
    wgmma_commit_group();
    wgmma_wait_group<0>(s);
    release_keys();
    // The products that read Q must have completed before Q is released: the next copy may overtake reads that are only
    // issued.
    if (kKeepsQueries || steps == 1) release_queries();
    mask(s, first_row, (steps - 1) * kTile.cols);
    softmax_with_new_references(s);
  }

  /// Issues S = Q K^T and O += P V, and waits only for S.
  __device__ __forceinline__ void multiply(float (&s)[kScores]) {
    wait_for_keys();
    wait_for_turn();
    wgmma_fence();
    rows().multiply_scores(s);
    wgmma_commit_group();
    wait_for_values();
    wgmma_fence();
    rows().multiply_values();
    wgmma_commit_group();
    pass_turn();
    wgmma_wait_group<1>(s);
    release_keys();
  }

  __device__ __forceinline__ void advance(int step) {
    float s[kScores];
    multiply(s);
    if (!kKeepsQueries && step == 0) release_queries();
    wgmma_wait_group<0>(o_);
    release_values();
    if (injected(InjectedFault::kForwardSkipTile) && step == 0) {
      for (int i = 0; i < kScores; ++i) s[i] = -INFINITY;
    }
    if (!softmax(s)) {
      softmax_with_new_references(s);
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) o_[i] *= rescale_[i / 2 % 2];
    }
  }
};

}  // namespace tbench::kernels::sm90
