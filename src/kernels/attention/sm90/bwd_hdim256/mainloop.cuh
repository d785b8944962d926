// Main loop of the two consumer warpgroups of the sm90 backward kernel at head_dim 256. Both hold the same 64 keys,
// because dK and dV together exceed a warpgroup's registers. One warpgroup computes S^T, P and dV, the other dP^T, dS
// and dK, and each computes half of dQ's columns. P passes through shared memory as float32, so that dS is computed
// from unrounded P; dS passes through shared memory for dQ.
//
// The first warpgroup runs ahead: its exponentials overlap the other's products. The next S^T and dP^T are issued after
// dV and dK, so that the tensor cores are not idle while P and dS are computed. dQ is computed one step late, as in the
// other kernels.
#pragma once

#include "kernels/attention/sm90/bwd_common/softmax_grad.cuh"
#include "kernels/attention/sm90/bwd_hdim256/smem.cuh"

namespace tbench::kernels::sm90 {

/// The common part of both warpgroups.
template <class Element, int kHeadDim>
class Hdim256Warpgroup : protected SoftmaxGrad<Element, TileParams, Hdim256Smem<kHeadDim>> {
 protected:
  using Scores = SoftmaxGrad<Element, TileParams, Hdim256Smem<kHeadDim>>;
  using Scores::kTile, Scores::kQueries, Scores::kScores, Scores::kGradients, Scores::kQueryGradients;
  using Scores::p_, Scores::shared_, Scores::group_;
  using Scores::stage, Scores::parity, Scores::release;
  using typename Scores::Shared;
  static_assert(Scores::kParts == 1 && !kTile.early_gradients);

  enum Group { kValues, kKeys };
  // Numbers of the named barriers, of which 16 exist; number 0 serves __syncthreads(). kStaging belongs to the first
  // warpgroup, kStaging + 1 to the second.
  enum NamedBarrier { kKeysRead = 1, kStaging = 2 };

  __device__ __forceinline__ Hdim256Warpgroup(const TileParams& parameters, Shared shared, const BwdTileCoord& place,
                                              Group group)
      : Scores{parameters, shared, group}, place_{place} {}

  /// Returns place_.steps - 1. It is computed again at each use, because a register that keeps it would be spilled.
  __device__ __forceinline__ int last_step() const {
    return all_steps(p_, kQueries) - 1 - (p_.causal ? place_.first_step : 0);
  }
  __device__ __forceinline__ int first_query(int i) const { return one_item_query(p_, place_, i, kQueries); }

  /// Calls step.operator()<kFirst, kLast>(i) for every step; the two flags are known at compile time.
  template <class Step>
  __device__ __forceinline__ void walk(Step&& step) const {
    const int last = last_step();
    if (last == 0) return step.template operator()<true, true>(0);
    step.template operator()<true, false>(0);
#pragma unroll 1
    for (int i = 1; i < last; ++i) step.template operator()<false, false>(i);
    step.template operator()<false, true>(last);
  }

  /// Issues dQ of the i-th step.
  __device__ __forceinline__ void start_query_gradient(float (&dq)[kQueryGradients], int i) const {
    const SmemDescriptor scores = Scores::scores_operand(i), keys = Scores::keys_operand(shared_.k(0));
    Scores::multiply_query_gradient(dq, scores, keys);
    wgmma_commit_group();
  }
  __device__ __forceinline__ void add_query_gradient(const float (&dq)[kQueryGradients], int i) const {
    if (injected(InjectedFault::kDqSkipTile) && place_.first_key == 0) return;
    Scores::add_query_gradient(dq, first_query(i), place_.head,
                               [](float* sums, const float* four) { red_add_v4(sums, four); });
  }

  /// Waits for dQ and adds it; one group that was issued after dQ stays in flight.
  __device__ __forceinline__ void finish_query_gradient(float (&dq)[kQueryGradients], int i) const {
    wgmma_wait_group<1>(dq);
    release(Shared::kScoresEmpty + stage(i));
    add_query_gradient(dq, i);
  }

  /// Adds the last dQ, then stores dK or dV through the shared memory of K or V. V is no longer read once the last dS
  /// has arrived, and K once both warpgroups have computed their dQ.
  __device__ __forceinline__ void finish(const CUtensorMap& map, std::uint32_t tile,
                                         const float (&gradient)[kGradients], float factor) const {
    float dq[kQueryGradients];
    const int last = last_step();
    Scores::wait_for_scores(last);
    wgmma_fence();
    start_query_gradient(dq, last);
    wgmma_wait_group<0>(dq);
    add_query_gradient(dq, last);
    // One warpgroup arrives and the other waits: bar.sync in two branches would be two instructions, and all warps have
    // to wait at a barrier with the same instruction.
    if (group_ == kValues) {
      named_barrier_arrive<kBackwardGroups * kWarpGroupThreads>(kKeysRead);
    } else {
      named_barrier_sync<kBackwardGroups * kWarpGroupThreads>(kKeysRead);
    }
    Scores::stage_gradient(tile, gradient, factor);
    fence_proxy_async();
    named_barrier_sync<kWarpGroupThreads>(kStaging + group_);
    if (threadIdx.x % kWarpGroupThreads != 0) return;
    // Computed again, because a register that keeps it would be spilled.
    const BwdTileCoord place = one_item_place(p_, opaque(static_cast<int>(blockIdx.x)), kQueries, Shared::kKeys);
    tma_store_tile<kHeadDim>(map, {place.first_key, place.head % p_.heads, place.head / p_.heads}, tile,
                             Shared::kKeptPanelBytes);
    bulk_wait_group_read();
  }

  const BwdTileCoord& place_;
};

template <class Element, int kHeadDim>
class Hdim256Dv : Hdim256Warpgroup<Element, kHeadDim> {
  using Group = Hdim256Warpgroup<Element, kHeadDim>;
  using Scores = typename Group::Scores;
  using Group::kScores, Group::kGradients, Group::kQueryGradients;
  using Group::p_, Group::shared_, Group::place_;
  using Group::stage, Group::parity, Group::release, Group::first_query;
  using typename Group::Shared;

 public:
  __device__ __forceinline__ Hdim256Dv(const TileParams& parameters, Shared shared, const BwdTileCoord& place)
      : Group{parameters, shared, place, Group::kValues} {}

  __device__ __forceinline__ void run() {
    mbarrier_wait(shared_.barrier(Shared::kKeysFull), 0);
    start_scores(0);
    finish_scores(0);
    Group::walk([this]<bool kFirst, bool kLast>(int i) { advance<kFirst, kLast>(i); });
    Group::finish(p_.dv, shared_.v(0), values_, 1.0f);
  }

 private:
  /// Computes one step, dQ of the previous step and S^T of the next step.
  template <bool kFirst, bool kLast>
  __device__ __forceinline__ void advance(int i) {
    Scores::mask(scores_, first_query(i), place_.first_key);
    Scores::exponentiate(scores_);
    std::uint32_t p[kScores / 2];
    show_probabilities(p, i);
    if (injected(InjectedFault::kDvSkipTile) && first_query(i) == 0) Scores::leave_out(p, 0);
    mbarrier_wait(shared_.barrier(Shared::kGradientsFull + stage(i)), parity(i));
    float dq[kQueryGradients];
    if constexpr (!kFirst) Scores::wait_for_scores(i - 1);
    wgmma_fence();
    if constexpr (!kFirst) Group::start_query_gradient(dq, i - 1);
    Scores::multiply_gradient(values_, p, shared_.grad_o(stage(i)), 0, !kFirst);
    wgmma_commit_group();
    if constexpr (!kFirst) Group::finish_query_gradient(dq, i - 1);
    if constexpr (!kLast) start_scores(i + 1);
    wgmma_wait_group<kLast ? 0 : 1>(values_);
    release(Shared::kGradientsEmpty + stage(i));
    if constexpr (!kLast) finish_scores(i + 1);
  }

  /// Issues S^T - lse / scale.
  __device__ __forceinline__ void start_scores(int i) {
    if (!injected(InjectedFault::kBackwardBarrier))
      mbarrier_wait(shared_.barrier(Shared::kQueriesFull + stage(i)), parity(i));
    Scores::spread(scores_, shared_.lse(stage(i)));
    wgmma_fence();
    Scores::multiply_transposed(scores_, shared_.k(0), shared_.q(stage(i)));
    wgmma_commit_group();
  }
  __device__ __forceinline__ void finish_scores(int i) {
    wgmma_wait_group<0>(scores_);
    release(Shared::kStageEmpty + stage(i));
  }

  /// Publishes P to the other warpgroup as float32, and packs it as an operand.
  __device__ __forceinline__ void show_probabilities(std::uint32_t (&p)[kScores / 2], int i) const {
    const float(&s)[kScores] = scores_;
    mbarrier_wait(shared_.barrier(Shared::kProbabilitiesEmpty), static_cast<std::uint32_t>(i) % 2 ^ 1u);
#pragma unroll
    for (int n = 0; n < kScores / 4; ++n) {
      store_shared_four(shared_.probabilities(n), {s[4 * n], s[4 * n + 1], s[4 * n + 2], s[4 * n + 3]});
    }
    release(Shared::kProbabilitiesFull);
#pragma unroll
    for (int n = 0; n < kScores / 2; ++n) p[n] = pack<Element>(s[2 * n], s[2 * n + 1]);
  }

  float scores_[kScores];     // first S, then P
  float values_[kGradients];  // sums of dV
};

template <class Element, int kHeadDim>
class Hdim256Dk : Hdim256Warpgroup<Element, kHeadDim> {
  using Group = Hdim256Warpgroup<Element, kHeadDim>;
  using Scores = typename Group::Scores;
  using Group::kScores, Group::kGradients, Group::kQueryGradients;
  using Group::p_, Group::shared_, Group::place_;
  using Group::stage, Group::parity, Group::release;
  using typename Group::Shared;

 public:
  __device__ __forceinline__ Hdim256Dk(const TileParams& parameters, Shared shared, const BwdTileCoord& place)
      : Group{parameters, shared, place, Group::kKeys} {}

  __device__ __forceinline__ void run() {
    mbarrier_wait(shared_.barrier(Shared::kKeysFull), 0);
    mbarrier_wait(shared_.barrier(Shared::kValuesFull), 0);
    start_probability_gradients(0);
    finish_probability_gradients(0);
    Group::walk([this]<bool kFirst, bool kLast>(int i) { advance<kFirst, kLast>(i); });
    Group::finish(p_.dk, shared_.k(0), keys_, injected(InjectedFault::kDkScale) ? 1.0f : p_.scale);
  }

 private:
  /// Computes one step, dQ of the previous step and dP^T of the next step.
  template <bool kFirst, bool kLast>
  __device__ __forceinline__ void advance(int i) {
    mbarrier_wait(shared_.barrier(Shared::kQueriesFull + stage(i)), parity(i));
    Scores::release_too_early(i);
    mbarrier_wait(shared_.barrier(Shared::kProbabilitiesFull), static_cast<std::uint32_t>(i) % 2);
    mbarrier_wait(shared_.barrier(Shared::kScoresEmpty + stage(i)), parity(i) ^ 1u);
    std::uint32_t ds[kScores / 2];
    differentiate(ds, i);
    release(Shared::kProbabilitiesEmpty);  // not earlier, because the loads of P must have completed
    float dq[kQueryGradients];
    if constexpr (!kFirst) Scores::wait_for_scores(i - 1);
    wgmma_fence();
    if constexpr (!kFirst) Group::start_query_gradient(dq, i - 1);
    Scores::multiply_gradient(keys_, ds, shared_.q(stage(i)), 0, !kFirst);
    wgmma_commit_group();
    Scores::show_scores(i);  // after the products are issued, because its fence takes as long as a product
    if constexpr (!kFirst) Group::finish_query_gradient(dq, i - 1);
    if constexpr (!kLast) start_probability_gradients(i + 1);
    wgmma_wait_group<kLast ? 0 : 1>(keys_);
    if (!injected(InjectedFault::kBackwardRelease)) release(Shared::kStageEmpty + stage(i));
    if constexpr (!kLast) finish_probability_gradients(i + 1);
  }

  /// Issues dP^T - delta.
  __device__ __forceinline__ void start_probability_gradients(int i) {
    Scores::wait_for_gradients(i);
    Scores::spread(gradients_, shared_.delta(stage(i)));
    wgmma_fence();
    Scores::multiply_transposed(gradients_, shared_.v(0), shared_.grad_o(stage(i)));
    wgmma_commit_group();
  }
  __device__ __forceinline__ void finish_probability_gradients(int i) {
    wgmma_wait_group<0>(gradients_);
    release(Shared::kGradientsEmpty + stage(i));
  }

  /// Computes dS = P (dP - delta) and also stores it to shared memory; see SoftmaxGrad::differentiate(). P is loaded
  /// only a few values ahead, because registers for all of P would be spilled.
  __device__ __forceinline__ void differentiate(std::uint32_t (&ds)[kScores / 2], int i) const {
    constexpr int kFours = kScores / 4, kAhead = 4;
    const std::uint32_t line = Scores::scores_line(i);
    float4 p[kFours];
#pragma unroll
    for (int n = 0; n < kAhead; ++n) p[n] = load_shared_four(shared_.probabilities(n));
#pragma unroll
    for (int n = 0; n < kFours; ++n) {
      if (n + kAhead < kFours) p[n + kAhead] = load_shared_four(shared_.probabilities(n + kAhead));
      const float* const gradient = &gradients_[4 * n];
      ds[2 * n] = pack<Element>(p[n].x * gradient[0], p[n].y * gradient[1]);
      ds[2 * n + 1] = pack<Element>(p[n].z * gradient[2], p[n].w * gradient[3]);
      if (n % 2 == 1) store_transposed(line + n / 2 * 16 * kPanelRowBytes, &ds[2 * (n - 1)]);
    }
  }

  float gradients_[kScores];  // dP
  float keys_[kGradients];    // sums of dK
};

}  // namespace tbench::kernels::sm90
