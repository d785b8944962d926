// Shared memory of the sm90 backward kernel at head_dim 256.
#pragma once

#include "kernels/attention/sm90/bwd_tile/smem.cuh"

namespace tbench::kernels::sm90 {

/// TileSmem with 64 keys, and P of one step [four columns, thread, 4] in the accumulators' layout.
template <int kColumns>
struct Hdim256Smem : TileSmem<kColumns, 4> {
  using Kept = TileSmem<kColumns, 4>;
  using Kept::base, Kept::barrier, Kept::kPlan, Kept::kTile;
  static_assert(Kept::kKeyGroups == 1 && kTile.stages == 2);

  enum DeepBarrier {
    kGradientsEmpty = static_cast<int>(Kept::kMoreBarriers),  // for dO of a stage; kStageEmpty is for its Q
    kProbabilitiesFull = kGradientsEmpty + kTile.stages,
    kProbabilitiesEmpty,
  };
  static constexpr bool kGivesBackApart = true;

  /// Address of a thread's n-th group of four values of P. Threads with the same index in their warpgroup have the same
  /// address.
  __device__ __forceinline__ std::uint32_t probabilities(int n) const {
    const int thread = opaque_thread_index() % kWarpGroupThreads;  // read again, see SoftmaxGrad::warp()
    return base + kPlan.probabilities + (n * kWarpGroupThreads + thread) * 16;
  }

  /// Initialises the barriers; one thread calls it.
  __device__ __forceinline__ void make_barriers() const {
    for (int stage = 0; stage < kTile.stages; ++stage) mbarrier_init(barrier(kGradientsEmpty + stage), Kept::kWarps);
    mbarrier_init(barrier(kProbabilitiesFull), kWarpGroupWarps);
    mbarrier_init(barrier(kProbabilitiesEmpty), kWarpGroupWarps);
    Kept::make_barriers();
  }
};

}  // namespace tbench::kernels::sm90
