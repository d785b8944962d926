// Main loop of a consumer warpgroup of the persistent sm90 backward kernel over the queries that see its 64 keys of
// each work tile. It computes S^T = K Q^T and dP^T = V dO^T, so that P and dS are already in the register layout of
// operands of dV += P dO and dK += dS Q. The warpgroups exchange dS through shared memory for dQ = dS K, of which each
// warpgroup computes one half over both warpgroups' keys.
//
// This product is computed at the end of the next step, even if that step belongs to the next work tile. The warpgroups
// can therefore be half a step apart, so that the products of one overlap the exponentials of the other, and neither
// waits for the other's dS.
#pragma once

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/sm90/bwd_persistent/dq.cuh"

namespace tbench::kernels::sm90 {

template <class Element, int kHeadDim, DqAccumulation kSums, class Parameters>
class DkDvMainloop : DqMainloop<Element, kHeadDim, kSums, Parameters> {
  using QueryGradients = DqMainloop<Element, kHeadDim, kSums, Parameters>;
  using Scores = SoftmaxGrad<Element, Parameters, PersistentSmem<kHeadDim>>;
  using QueryGradients::item_, QueryGradients::begin_, QueryGradients::kept, QueryGradients::late_kept,
      QueryGradients::begins_item, QueryGradients::of_item, QueryGradients::first_query, QueryGradients::load_late_sums,
      QueryGradients::start_from, QueryGradients::multiply_query_gradient, QueryGradients::take_query_gradient;
  using Scores::kTile, Scores::kQueries, Scores::kScores, Scores::kPartQueries, Scores::kParts, Scores::kPartScores,
      Scores::kPartBytes, Scores::kGradients, Scores::kInnerBytes, Scores::kHalvesQueries, Scores::kQueryGradients;
  using Scores::p_, Scores::shared_, Scores::group_;
  using Scores::warp, Scores::lane, Scores::stage, Scores::parity, Scores::wait_for_gradients, Scores::wait_for_scores,
      Scores::release, Scores::release_too_early, Scores::multiply_transposed, Scores::multiply_gradient,
      Scores::key_in_group, Scores::spread, Scores::exponentiate, Scores::show_scores;
  using typename Scores::Products, typename Scores::Shared, typename QueryGradients::LateSums;
  static constexpr bool kTakesTurns = uses_pingpong(kHeadDim, kSums);
  static constexpr bool kKeepsValues =
      kHeadDim == 64;  // whether V stays in registers, so that not every part reads it from shared memory
  static_assert(kParts > 1 || !kTakesTurns, "skip() takes no turn");

  // Numbers of the named barriers, of which 16 exist; number 0 serves __syncthreads().
  enum NamedBarrier { kTurn = 1 };

 public:
  __device__ __forceinline__ DkDvMainloop(const Parameters& parameters, Shared shared, int group)
      : QueryGradients{parameters, shared, group} {}

  __device__ __forceinline__ void run() {
    if (kTakesTurns && group_ == kBackwardGroups - 1) pass_turn();  // the first group issues first
    bool has_turn = false;
    int i = 0;
#pragma unroll 1
    for (auto item = first_of_block(p_); exists(p_, item); item = next_of_block(p_, item, ++item_)) {
      take_item();
      if (kTakesTurns && !has_turn) wait_for_turn();
      begin_ = i;
      const int end = i + steps_of(p_, backward_item(p_, item).tile, kQueries);
      if (sees_half(i)) {
        if constexpr (kHalvesQueries) advance_by_half(i++);
        if constexpr (!kHalvesQueries) skip(i++);
      }
#pragma unroll 1
      for (; i < end; ++i) advance(i);
      // The warpgroup keeps its turn from one work tile to the next: if it passed the turn on, it would get it back
      // half a step later. After a work tile of one step it passes the turn on, because the other warpgroup may need it
      // to release the K whose stage the next work tile's K takes.
      has_turn = end - begin_ > 1;
      store_gradients();
      if (injected(InjectedFault::kBackwardKept)) release(Shared::kKeysEmpty + kept());
      if (kTakesTurns && !has_turn) pass_turn();
    }
    if (kTakesTurns && has_turn) pass_turn();
    begin_ = i;
    float dq[kQueryGradients];
    LateSums sums;
    const bool adds = load_late_sums(sums, i);
    wait_for_scores(i - 1);
    start_from(dq, sums);
    wgmma_fence();
    multiply_query_gradient(dq, i, adds);
    wgmma_commit_group();
    wgmma_wait_group<0>(dq);
    take_query_gradient(dq, i);
    if (kTakesTurns && group_ == 0) wait_for_turn();  // completes the phase: no barrier may keep part of its arrivals
  }

 private:
  __device__ __forceinline__ void take_item() {
    const std::uint32_t parity = item_ / kKeptStages % 2;
    mbarrier_wait(shared_.barrier(Shared::kKeysFull + kept()), parity);
    mbarrier_wait(shared_.barrier(Shared::kValuesFull + kept()), parity);
    if constexpr (kKeepsValues) load_values();
  }

  __device__ __forceinline__ void store_gradients() const {
    if (Scores::has_part_of_heads()) {
      const int first_key = of_item(Shared::kFirstKey) + group_ * kWgmmaM;
      Scores::store_part_of_gradients(keys_, values_, of_item(Shared::kHeadOfAll), first_key);
    } else {
      store_gradient(p_.dv, values_, 1.0f);
      store_gradient(p_.dk, keys_, injected(InjectedFault::kDkScale) ? 1.0f : p_.scale);
    }
    // Also needed if V is loaded to registers, because a copy may overtake loads in flight.
    release(Shared::kValuesEmpty + kept());
  }

  /// Whether the step is the second warpgroup's first step of a work tile under a mask. The first 64 queries see only
  /// the first warpgroup's keys, so that only half of this step remains, or none of it with 64 queries per step. With
  /// grouped-query attention the same steps of the tile's other heads follow, which are computed in full: they would be
  /// no faster, because the first warpgroup computes them in full, too.
  __device__ __forceinline__ bool sees_half(int i) const {
    return p_.causal && group_ == kBackwardGroups - 1 && begins_item(i);
  }
  /// Whether no earlier step has added to dK and dV.
  __device__ __forceinline__ bool begins_sums(int i) const {
    return begins_item(i) || (!kHalvesQueries && sees_half(i - 1));
  }

  /// Skips a step whose P and dS are zeros, but computes dQ of the previous step.
  __device__ __forceinline__ void skip(int i) {
    mbarrier_wait(shared_.barrier(Shared::kQueriesFull + stage(i)),
                  parity(i));  // without this wait, its stage could be released too early
    mbarrier_wait(shared_.barrier(Shared::kScoresEmpty + stage(i)), parity(i) ^ 1u);
    clear_scores(i);
    show_scores(i);
    if (i > 0) {
      float dq[kQueryGradients];
      LateSums sums;
      const bool adds = load_late_sums(sums, i);
      wait_for_late_scores(i);
      start_from(dq, sums);
      wgmma_fence();
      multiply_query_gradient(dq, i, adds);
      wgmma_commit_group();
      wgmma_wait_group<0>(dq);
      release(Shared::kScoresEmpty + stage(i - 1));
      take_query_gradient(dq, i);
      release_late_keys(i);
    }
    release(Shared::kStageEmpty + stage(i));
  }

  /// Clears dS of the warpgroup for one part of the queries.
  __device__ __forceinline__ void clear_scores(int i) const {
    const std::uint32_t line = shared_.scores(stage(i)) + group_ * Shared::kScoresPanelBytes +
                               static_cast<int>(threadIdx.x) % kWarpGroupThreads * 16;
    constexpr int kBytes = kPartQueries * kPanelRowBytes;
#pragma unroll
    for (int n = 0; n < kBytes / (kWarpGroupThreads * 16); ++n) store_zeros(line + n * kWarpGroupThreads * 16);
  }

  /// Computes only the second half of a work tile's first step.
  __device__ __forceinline__ void advance_by_half(int i) {
    constexpr int kPart = 1, kBytes = kPart * kPartQueries * 4;
    float s[kPartScores], dp[kPartScores];
    mbarrier_wait(shared_.barrier(Shared::kQueriesFull + stage(i)), parity(i));
    spread(s, shared_.lse(stage(i)) + kBytes);
    wait_for_gradients(i);
    spread(dp, shared_.delta(stage(i)) + kBytes);
    wgmma_fence();
    multiply_transposed(s, shared_.k(kept(), group_), shared_.q(stage(i)) + kPart * kPartBytes);
    wgmma_commit_group();
    multiply_probability_gradients(dp, kPart, i);
    wgmma_commit_group();
    if (kTakesTurns) pass_turn();
    wgmma_wait_group<1>(s);
    mask(s, first_query(i) + kPart * kPartQueries);
    exponentiate(s);
    release_too_early(i);
    std::uint32_t p[kScores / 2], ds[kScores / 2];
    mbarrier_wait(shared_.barrier(Shared::kScoresEmpty + stage(i)), parity(i) ^ 1u);
    clear_scores(i);
    wgmma_wait_group<0>(dp);
    differentiate(s, dp, p, ds, kPart, i);
    float dq[kQueryGradients];
    LateSums sums;
    const bool adds = load_late_sums(sums, i);
    wait_for_late_scores(i);
    if (kTakesTurns) wait_for_turn();
    start_from(dq, sums);
    wgmma_fence();
    multiply_query_gradient(dq, i, adds);
    wgmma_commit_group();
    multiply_gradient(values_, p, shared_.grad_o(stage(i)), kPart, false);
    multiply_gradient(keys_, ds, shared_.q(stage(i)), kPart, false);
    wgmma_commit_group();
    finish_step(dq, i);
  }

  __device__ __forceinline__ void wait_for_turn() const { named_barrier_sync<2 * kWarpGroupThreads>(kTurn + group_); }
  __device__ __forceinline__ void pass_turn() const {
    named_barrier_arrive<2 * kWarpGroupThreads>(kTurn + (1 - group_));
  }

  /// Computes one step, and dQ of the previous step. ptxas does not allow a branch around products, so the CTA's first
  /// step also issues a dQ product, of undefined data, and discards the result.
  __device__ __forceinline__ void advance(int i) {
    float s[kScores];
    float dp[kParts][kPartScores];
    start_scores(s, dp[0], i);
    if (kTakesTurns) pass_turn();  // before the wait for dS's buffer, which the other group empties during its turn
    wgmma_wait_group<kTile.early_gradients ? 1 : 0>(s);
    if constexpr (!kTile.early_gradients) start_probability_gradients(dp[0], 0, i);
    mask(s, first_query(i));
    exponentiate(s);
    release_too_early(i);
    std::uint32_t p[kScores / 2], ds[kScores / 2];
    mbarrier_wait(shared_.barrier(Shared::kScoresEmpty + stage(i)), parity(i) ^ 1u);
    wgmma_wait_group<0>(dp[0]);
    differentiate(&s[0], dp[0], p, ds, 0, i);
    if constexpr (kParts > 1) {
      start_probability_gradients(dp[1], 1, i);
      multiply_gradient(values_, p, shared_.grad_o(stage(i)), 0, !begins_sums(i));
      multiply_gradient(keys_, ds, shared_.q(stage(i)), 0, !begins_sums(i));
      wgmma_commit_group();
      wgmma_wait_group<1>(dp[1]);
      differentiate(&s[kPartScores], dp[1], p, ds, 1, i);
    }
    float dq[kQueryGradients];
    LateSums sums;
    const bool adds = load_late_sums(sums, i);
    wait_for_late_scores(i);
    if (kTakesTurns) wait_for_turn();
    start_from(dq, sums);
    wgmma_fence();
    multiply_query_gradient(dq, i, adds);
    wgmma_commit_group();
    multiply_gradient(values_, p, shared_.grad_o(stage(i)), kParts - 1, kParts > 1 || !begins_sums(i));
    multiply_gradient(keys_, ds, shared_.q(stage(i)), kParts - 1, kParts > 1 || !begins_sums(i));
    wgmma_commit_group();
    finish_step(dq, i);
  }

  /// Waits for dS of step i - 1.
  __device__ __forceinline__ void wait_for_late_scores(int i) const {
    if (i == 0) return;
    if (begins_item(i)) delay(InjectedFault::kBackwardKept);
    wait_for_scores(i - 1);
  }
  /// Releases K of the previous work tile, whose dQ is complete.
  __device__ __forceinline__ void release_late_keys(int i) const {
    if (!injected(InjectedFault::kBackwardKept)) release(Shared::kKeysEmpty + late_kept(i));
  }

  /// Completes a step whose products have all been issued.
  __device__ __forceinline__ void finish_step(float (&dq)[kQueryGradients], int i) {
    show_scores(i);  // after the products are issued, because its fence takes as long as a product
    wgmma_wait_group<1>(dq);
    if (i > 0) {
      release(Shared::kScoresEmpty + stage(i - 1));
      take_query_gradient(dq, i);
      if (begins_item(i)) release_late_keys(i);
    }
    wgmma_wait_group<0>(values_);
    wgmma_wait_group<0>(keys_);
    if (!injected(InjectedFault::kBackwardRelease)) release(Shared::kStageEmpty + stage(i));
  }

  /// Issues S^T of a step, with or without dP^T of its first part.
  __device__ __forceinline__ void start_scores(float (&s)[kScores], float (&dp)[kPartScores], int i) const {
    if (!injected(InjectedFault::kBackwardBarrier))
      mbarrier_wait(shared_.barrier(Shared::kQueriesFull + stage(i)), parity(i));
    spread(s, shared_.lse(stage(i)));
    if constexpr (kTile.early_gradients) {
      wait_for_gradients(i);
      spread(dp, shared_.delta(stage(i)));
    }
    wgmma_fence();
    multiply_transposed(s, shared_.k(kept(), group_), shared_.q(stage(i)));
    wgmma_commit_group();
    if constexpr (kTile.early_gradients) {
      multiply_probability_gradients(dp, 0, i);
      wgmma_commit_group();
    } else {
      wait_for_gradients(i);
    }
  }

  __device__ __forceinline__ void start_probability_gradients(float (&dp)[kPartScores], int part, int i) const {
    spread(dp, shared_.delta(stage(i)) + part * kPartQueries * 4);
    wgmma_fence();
    multiply_probability_gradients(dp, part, i);
    wgmma_commit_group();
  }

  /// Issues dP^T - delta for one part of the queries.
  __device__ __forceinline__ void multiply_probability_gradients(float (&dp)[kPartScores], int part, int i) const {
    const std::uint32_t grad_o = shared_.grad_o(stage(i)) + part * kPartBytes;
    if constexpr (kKeepsValues) {
      const SmemDescriptor right = make_smem_descriptor(grad_o);
#pragma unroll
      for (int j = 0; j < kHeadDim / 16; ++j) {
        Products::template from_registers<false>(dp, &kept_values_[4 * j],
                                                 right.at(j / 4 * Shared::kPanelBytes + j % 4 * kInnerBytes), true);
      }
    } else {
      multiply_transposed(dp, shared_.v(kept(), group_), grad_o);
    }
  }

  template <int kCount>
  __device__ __forceinline__ void mask(float (&s)[kCount], int first_query) const {
    Scores::mask(s, first_query, of_item(Shared::kFirstKey));
  }
  __device__ __forceinline__ void differentiate(const float* s, const float (&dp)[kPartScores],
                                                std::uint32_t (&p)[kScores / 2], std::uint32_t (&ds)[kScores / 2],
                                                int part, int i) const {
    Scores::differentiate(s, dp, p, ds, part, i);
    if (injected(InjectedFault::kDvSkipTile) && first_query(i) == 0) Scores::leave_out(p, part);
  }

  /// Loads V as the left operand of dP^T. The first 16 lanes address the rows of the left two of four matrices, the
  /// other lanes the rows of the right two.
  __device__ __forceinline__ void load_values() {
    const int row = warp() * 16 + lane() % 16;
    const std::uint32_t line = shared_.v(kept(), group_) + row * kPanelRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      ldmatrix_x4(&kept_values_[4 * i],
                  line + i / 4 * Shared::kKeptPanelBytes + ((2 * i % 8 + lane() / 16) ^ row % 8) * 16);
    }
  }

  /// Stores dK or dV directly from registers, because the next work tile needs the shared memory of K and V.
  __device__ __forceinline__ void store_gradient(const TensorView& view, const float (&gradient)[kGradients],
                                                 float factor) const {
    const int place = lane() % 4, key = of_item(Shared::kFirstKey) + group_ * kWgmmaM + key_in_group(0);
    Element* const first = static_cast<Element*>(view.data) + of_item(Shared::kBatch) * view.strides[0] +
                           kv_head(p_, of_item(Shared::kHead)) * view.strides[1];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool exists = key + half * 8 < p_.seq_kv;
      store_row(first + (key + half * 8) * view.strides[2], gradient, half, factor, place, exists);
    }
  }

  std::uint32_t kept_values_[kKeepsValues ? kHeadDim / 4 : 1];
  float keys_[kGradients], values_[kGradients];  // sums of dK and dV
};

}  // namespace tbench::kernels::sm90
