// What lies in shared memory of Hopper's backward kernel of head_dim 256.
#pragma once

#include "kernels/attention/sm90/bwd_tile/smem.cuh"

namespace tbench::kernels::sm90 {

/// As TileSmem, of 64 keys, with P of a step [four columns, thread, 4], as accumulators have it.
template <int kColumns>
struct Hdim256Smem : TileSmem<kColumns, 4> {
  using Kept = TileSmem<kColumns, 4>;
  using Kept::base, Kept::barrier, Kept::kPlan, Kept::kTile;
  static_assert(Kept::kKeyGroups == 1 && kTile.stages == 2);

  enum DeepBarrier {
    kGradientsEmpty = static_cast<int>(Kept::kMoreBarriers),  // dO of a stage; kStageEmpty is Q's
    kProbabilitiesFull = kGradientsEmpty + kTile.stages,
    kProbabilitiesEmpty,
  };
  static constexpr bool kGivesBackApart = true;

  /// Of a thread of either warpgroup: its n-th four of P.
  __device__ __forceinline__ std::uint32_t probabilities(int n) const {
    const int thread = opaque_thread_index() % kWarpGroupThreads;  // anew, see SoftmaxGrad::warp()
    return base + kPlan.probabilities + (n * kWarpGroupThreads + thread) * 16;
  }

  /// Of one thread.
  __device__ __forceinline__ void make_barriers() const {
    for (int stage = 0; stage < kTile.stages; ++stage) mbarrier_init(barrier(kGradientsEmpty + stage), Kept::kWarps);
    mbarrier_init(barrier(kProbabilitiesFull), kWarpGroupWarps);
    mbarrier_init(barrier(kProbabilitiesEmpty), kWarpGroupWarps);
    Kept::make_barriers();
  }
};

}  // namespace tbench::kernels::sm90
