// Main loop of a consumer warpgroup of the one-tile-per-CTA sm90 backward kernel: its 64 keys and the queries that see
// them, 64 per step. A step's dQ is computed at the end of the next step. The warpgroups can therefore be half a step
// apart, so that the products of one overlap the exponentials of the other, and neither waits for the other's dS.
#pragma once

#include "kernels/attention/sm90/bwd_common/softmax_grad.cuh"
#include "kernels/attention/sm90/bwd_tile/smem.cuh"

namespace tbench::kernels::sm90 {

template <class Element, int kHeadDim, class Parameters>
class TileDkDvMainloop : SoftmaxGrad<Element, Parameters, TileSmem<kHeadDim>> {
  using Scores = SoftmaxGrad<Element, Parameters, TileSmem<kHeadDim>>;
  using Scores::kTile, Scores::kQueries, Scores::kScores, Scores::kGradients, Scores::kQueryGradients;
  using Scores::p_, Scores::shared_, Scores::group_;
  using Scores::warp, Scores::lane, Scores::stage, Scores::parity, Scores::release;
  using typename Scores::Shared;
  static_assert(Scores::kParts == 1 && !kTile.early_gradients, "see BackwardKeys for these");

  // Numbers of the named barriers, of which 16 exist; number 0 serves __syncthreads(). kStaging belongs to the first
  // warpgroup, kStaging + 1 to the second.
  enum NamedBarrier { kAllGroups = 1, kStaging = 4 };

 public:
  __device__ __forceinline__ TileDkDvMainloop(const Parameters& parameters, Shared shared,
                                              const TileCoordOf<Parameters>& place, int group)
      : Scores{parameters, shared, group}, place_{place} {}

  __device__ __forceinline__ void run() {
    mbarrier_wait(shared_.barrier(Shared::kKeysFull), 0);
    mbarrier_wait(shared_.barrier(Shared::kValuesFull), 0);
    advance<true>(0);
#pragma unroll 1
    for (int i = 1; i < place_.steps; ++i) advance<false>(i);
    const int last = place_.steps - 1;
    float dq[kQueryGradients];
    wgmma_wait_group<0>(keys_);
    Scores::wait_for_scores(last);
    wgmma_fence();
    multiply_query_gradient(dq, last);
    wgmma_commit_group();
    wgmma_wait_group<0>(dq);
    add_query_gradient(dq, last);
    finish();
  }

 private:
  __device__ __forceinline__ int first_query(int i) const { return one_item_query(p_, place_, i, kQueries); }

  /// Computes one step, and dQ of the previous step.
  template <bool kFirst>
  __device__ __forceinline__ void advance(int i) {
    float s[kScores], dp[kScores];
    multiply_scores_and_wait(s, i);
    start_probability_gradients(dp, i);
    Scores::mask(s, first_query(i), place_.first_key);
    Scores::exponentiate(s);
    Scores::release_too_early(i);
    std::uint32_t p[kScores / 2], ds[kScores / 2];
    mbarrier_wait(shared_.barrier(Shared::kScoresEmpty + stage(i)), parity(i) ^ 1u);
    wgmma_wait_group<0>(dp);
    Scores::differentiate(s, dp, p, ds, 0, i);
    if (injected(InjectedFault::kDvSkipTile) && first_query(i) == 0) Scores::leave_out(p, 0);
    float dq[kQueryGradients];
    if constexpr (!kFirst) Scores::wait_for_scores(i - 1);
    wgmma_fence();
    if constexpr (!kFirst) {
      multiply_query_gradient(dq, i - 1);
      wgmma_commit_group();
    }
    Scores::multiply_gradient(values_, p, shared_.grad_o(stage(i)), 0, !kFirst);
    Scores::multiply_gradient(keys_, ds, shared_.q(stage(i)), 0, !kFirst);
    wgmma_commit_group();
    Scores::show_scores(i);  // after the products are issued, because its fence takes as long as a product
    if constexpr (!kFirst) {
      wgmma_wait_group<1>(dq);
      release(Shared::kScoresEmpty + stage(i - 1));
      add_query_gradient(dq, i - 1);
    }
    wgmma_wait_group<0>(values_);
    wgmma_wait_group<0>(keys_);
    if (!injected(InjectedFault::kBackwardRelease)) release(Shared::kStageEmpty + stage(i));
  }

  /// Computes S^T - lse / scale and waits for it.
  __device__ __forceinline__ void multiply_scores_and_wait(float (&s)[kScores], int i) const {
    if (!injected(InjectedFault::kBackwardBarrier))
      mbarrier_wait(shared_.barrier(Shared::kQueriesFull + stage(i)), parity(i));
    Scores::spread(s, shared_.lse(stage(i)));
    wgmma_fence();
    Scores::multiply_transposed(s, shared_.k(group_), shared_.q(stage(i)));
    wgmma_commit_group();
    Scores::wait_for_gradients(i);
    wgmma_wait_group<0>(s);
  }

  /// Issues dP^T - delta.
  __device__ __forceinline__ void start_probability_gradients(float (&dp)[kScores], int i) const {
    Scores::spread(dp, shared_.delta(stage(i)));
    wgmma_fence();
    Scores::multiply_transposed(dp, shared_.v(group_), shared_.grad_o(stage(i)));
    wgmma_commit_group();
  }

  /// Issues dQ of the i-th step.
  __device__ __forceinline__ void multiply_query_gradient(float (&dq)[kQueryGradients], int i) const {
    const SmemDescriptor scores = Scores::scores_operand(i), keys = Scores::keys_operand(shared_.k(0));
    Scores::multiply_query_gradient(dq, scores, keys);
  }
  __device__ __forceinline__ void add_query_gradient(const float (&dq)[kQueryGradients], int i) const {
    if (injected(InjectedFault::kDqSkipTile) && place_.first_key == 0) return;
    Scores::add_query_gradient(dq, first_query(i), one_item_head<InjectedFault::kGqaDq>(p_, place_, i, kQueries),
                               [](float* sums, const float* four) { red_add_v4(sums, four); });
  }

  /// Stores dK and dV through the shared memory of K and V, which are no longer needed.
  __device__ __forceinline__ void finish() const {
    const int first_key = place_.first_key + group_ * kWgmmaM;
    if (Scores::has_part_of_heads()) {
      return Scores::store_part_of_gradients(keys_, values_, place_.head, first_key);
    }
    Scores::stage_gradient(shared_.v(group_), values_, 1.0f);
    named_barrier_sync<kBackwardGroups * kWarpGroupThreads>(
        kAllGroups);  // now the other warpgroup's dQ product has read this warpgroup's K
    Scores::stage_gradient(shared_.k(group_), keys_, injected(InjectedFault::kDkScale) ? 1.0f : p_.scale);
    fence_proxy_async();
    named_barrier_sync<kWarpGroupThreads>(kStaging + group_);
    if (threadIdx.x % kWarpGroupThreads != 0 || first_key >= p_.seq_kv) return;
    const TmaCoord place{first_key, kv_head(p_, place_.head % p_.heads), place_.head / p_.heads};
    tma_store_tile<kHeadDim>(p_.dv, place, shared_.v(group_), Shared::kKeptPanelBytes);
    tma_store_tile<kHeadDim>(p_.dk, place, shared_.k(group_), Shared::kKeptPanelBytes);
    bulk_wait_group_read();
  }

  const TileCoordOf<Parameters>& place_;
  float keys_[kGradients], values_[kGradients];  // sums of dK and dV
};

}  // namespace tbench::kernels::sm90
