// Shared memory of the sm90 backward kernels for the steps of a work tile, and the initialisation of a CTA.
#pragma once

#include "kernels/attention/common/ptx.cuh"
#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90/common/ptx.cuh"

namespace tbench::kernels::sm90 {

/// Holds Q and dO [stage, panel, queries, panel columns], dS [buffer, 64 keys, queries, 64], lse and delta [stage,
/// queries], and barriers: first `kOthers` barriers of the deriving struct, then the barriers declared here.
template <int kColumns, BwdSchedule kBlocks, int kOthers>
struct BwdSmem {
  static constexpr int kHeadDim = kColumns;
  static constexpr BwdConfig kTile = backward_tile(kHeadDim);
  static constexpr int kQueries = kTile.queries;
  static constexpr BwdSmemLayout kPlan = backward_shared(kHeadDim, kBlocks);
  static constexpr int kKeyGroups = backward_key_groups(kHeadDim), kKeys = backward_keys(kHeadDim);
  static constexpr int kPanelColumns = backward_panel_columns(kHeadDim), kPanels = kHeadDim / kPanelColumns;
  static constexpr int kRowBytes = kPanelColumns * 2;  // bytes per panel row
  static constexpr int kKeptPanelBytes = kWgmmaM * kRowBytes;
  static constexpr int kKeptBytes = kPanels * kKeptPanelBytes;  // K or V of 64 keys
  static constexpr int kPanelBytes = kQueries * kRowBytes;
  static constexpr int kStageBytes = kPanels * kPanelBytes;
  static constexpr int kScoresPanelBytes = kQueries * kPanelRowBytes;  // dS of 64 keys
  static constexpr int kScoresBytes = kKeyGroups * kScoresPanelBytes;
  static constexpr int kStatisticsBytes = kQueries * 4;  // lse or delta of one stage
  static constexpr int kWarps = kBackwardGroups * kWarpGroupWarps;
  static constexpr int kBarrierSize = 8;

  enum Barrier {
    kQueriesFull = kOthers,                        // for Q and lse
    kGradientsFull = kQueriesFull + kTile.stages,  // for dO and delta
    kStageEmpty = kGradientsFull + kTile.stages,
    kScoresFull = kStageEmpty + kTile.stages,
    kScoresEmpty = kScoresFull + 2,
    kBarriers = kScoresEmpty + 2,
  };
  static_assert(kBarriers * kBarrierSize <= kBarrierBytes, "barriers have their room");

  std::uint32_t base;

  __device__ __forceinline__ std::uint32_t q(std::uint32_t stage) const { return base + kPlan.q + stage * kStageBytes; }
  __device__ __forceinline__ std::uint32_t grad_o(std::uint32_t stage) const {
    return base + kPlan.grad_o + stage * kStageBytes;
  }
  __device__ __forceinline__ std::uint32_t scores(std::uint32_t buffer) const {
    return base + kPlan.scores + buffer * kScoresBytes;
  }
  __device__ __forceinline__ std::uint32_t lse(std::uint32_t stage) const {
    return base + kPlan.lse + stage * kStatisticsBytes;
  }
  __device__ __forceinline__ std::uint32_t delta(std::uint32_t stage) const {
    return base + kPlan.delta + stage * kStatisticsBytes;
  }
  __device__ __forceinline__ std::uint32_t barrier(std::uint32_t number) const {
    return base + kPlan.barriers + number * kBarrierSize;
  }

  /// Initialises the barriers of the steps. One thread calls it, after it has initialised the deriving struct's
  /// barriers. The producer arrives at the barriers of loads, warps at the other barriers.
  __device__ __forceinline__ void make_step_barriers() const {
    for (int stage = 0; stage < kTile.stages; ++stage) {
      mbarrier_init(barrier(kQueriesFull + stage), 1);
      mbarrier_init(barrier(kGradientsFull + stage), 1);
      mbarrier_init(barrier(kStageEmpty + stage), kWarps);
    }
    for (int buffer = 0; buffer < 2; ++buffer) {
      mbarrier_init(barrier(kScoresFull + buffer), kKeyGroups * kWarpGroupWarps);
      mbarrier_init(barrier(kScoresEmpty + buffer), kWarps);
    }
    fence_mbarrier_init();
  }
};

/// Initialises the barriers and lets the next kernel start.
template <class Parameters, class Shared>
__device__ __forceinline__ void begin_backward_block(const Parameters& parameters, const Shared& shared) {
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&parameters.q, &parameters.k, &parameters.v, &parameters.grad_o}) prefetch(*map);
    shared.make_barriers();
  }
  __syncthreads();
  griddep_launch_dependents();
}

}  // namespace tbench::kernels::sm90
