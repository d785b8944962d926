// Parameters of the sm90 forward kernels, the coordinates of a work tile, and the contents of shared memory.
#pragma once

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/common/ptx.cuh"
#include "kernels/attention/sm90/common/ptx.cuh"
#include "kernels/attention/sm90/common/static_scheduler.cuh"
#include "kernels/attention/sm90/common/wgmma.cuh"
#include "kernels/attention/sm90/fwd/config.hpp"

namespace tbench::kernels::sm90 {

struct FwdParams {
  CUtensorMap q, k, v, o;
  float* lse;  // [batch, heads, seq_q]
  int heads, seq_q, seq_kv;
  float scale;
  bool causal;
  TileOrder order;
  TileDivmods divisors;
  unsigned* counter;    // number of work tiles taken in addition to each group's first; null: static schedule
  TensorView stored_o;  // o, whose rows start on 16-byte boundaries, for configs that store it from registers
};

/// Parameters for grouped-query attention: `group` heads of Q share a head of K and V.
struct GqaFwdParams : FwdParams {
  FastDivmod group;
};

/// Returns the head of K and V that a head of Q reads.
__device__ __forceinline__ int kv_head(const FwdParams& /*parameters*/, int head) { return head; }
__device__ __forceinline__ int kv_head(const GqaFwdParams& parameters, int head) {
  if (injected(InjectedFault::kGqaHead)) return head % divide(parameters.heads, parameters.group);
  return divide(head, parameters.group);
}

struct FwdTileCoord {
  int first_row, head, batch;
};

template <class Parameters>
__device__ __forceinline__ FwdTileCoord forward_place(const Parameters& p, int item, int rows) {
  const auto [tile, head, batch] = forward_item(p.order, p.divisors, p.heads, p.causal, item);
  return {tile * rows, head, batch};
}

/// Number of K/V tiles, of `cols` keys each, that the queries before `end_row` see.
template <class Parameters>
__device__ __forceinline__ int forward_steps(const Parameters& p, int end_row, int cols) {
  return ((p.causal ? min(p.seq_kv, end_row) : p.seq_kv) + cols - 1) / cols;
}

/// Index of the next stage, and the parity of the barrier phase in which it is filled.
template <int kStages>
struct PipelineState {
  std::uint32_t stage = 0, parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1u;
    }
  }
};

/// Shared memory of a consumer group: Q [stage, warpgroup, panel, 64, columns of a panel]; O [warpgroup, panel, 64,
/// columns of a panel], unless it is stored from registers; K and V [stage, panel, cols, columns of a panel]; the
/// barriers; and the next work tile.
template <int kHeadDim, class Tile>
struct FwdSmem {
  static constexpr FwdConfig kTile = Tile::tile();
  static constexpr int kColumns = kHeadDim;  // 16-bit
  static constexpr int kRows = rows(kTile);
  static constexpr FwdSmemLayout kPlan = forward_shared(kTile, kHeadDim);
  static constexpr int kPanels = panels(kHeadDim);
  static constexpr int kRowBytes = panel_columns(kHeadDim) * 2;  // bytes per panel row
  static constexpr int kGroupPanelBytes = kWgmmaM * kRowBytes;
  static constexpr int kGroupBytes = kPanels * kGroupPanelBytes;
  static constexpr int kPanelBytes = kTile.cols * kRowBytes;
  static constexpr int kStageBytes = kPanels * kPanelBytes;
  static constexpr int kWarps = kTile.warp_groups * kWarpGroupWarps;
  static constexpr int kBarrierSize = 8;

  enum Barrier {
    kKeysFull,
    kKeysEmpty = kKeysFull + kTile.stages,
    kValuesFull = kKeysEmpty + kTile.stages,
    kValuesEmpty = kValuesFull + kTile.stages,
    kQueriesFull = kValuesEmpty + kTile.stages,
    kQueriesEmpty = kQueriesFull + kTile.query_stages,
    kItemFull = kQueriesEmpty + kTile.query_stages,
    kItemEmpty,
    kBarriers,
  };
  static_assert((kBarriers + 1) * kBarrierSize <= kBarrierBytes, "barriers and the next item have their room");

  std::uint32_t base;
  int team = 0;

  /// Returns the shared memory of one consumer group.
  __device__ __forceinline__ static FwdSmem of_team(std::uint32_t first, int team) {
    if constexpr (kTile.teams == 1) return {first};
    return {first + team * team_bytes(kTile, kHeadDim), team};
  }

  __device__ __forceinline__ std::uint32_t q(int group, std::uint32_t stage = 0) const {
    return base + kPlan.q + (stage * kTile.warp_groups + group) * kGroupBytes;
  }
  __device__ __forceinline__ std::uint32_t o(int group) const { return base + kPlan.o + group * kGroupBytes; }
  __device__ __forceinline__ std::uint32_t k(std::uint32_t stage) const { return base + kPlan.k + stage * kStageBytes; }
  __device__ __forceinline__ std::uint32_t v(std::uint32_t stage) const { return base + kPlan.v + stage * kStageBytes; }
  __device__ __forceinline__ std::uint32_t barrier(std::uint32_t number) const {
    return base + kPlan.barriers + number * kBarrierSize;
  }
  __device__ __forceinline__ std::uint32_t item() const { return barrier(kBarriers); }

  /// Initialises the barriers; one thread calls it. The producer arrives at full barriers, the reading warps at empty
  /// barriers.
  __device__ __forceinline__ void make_barriers() const {
    for (int stage = 0; stage < kTile.stages; ++stage) {
      mbarrier_init(barrier(kKeysFull + stage), 1);
      mbarrier_init(barrier(kKeysEmpty + stage), kWarps);
      mbarrier_init(barrier(kValuesFull + stage), 1);
      mbarrier_init(barrier(kValuesEmpty + stage), kWarps);
    }
    for (int stage = 0; stage < kTile.query_stages; ++stage) {
      mbarrier_init(barrier(kQueriesFull + stage), 1);
      mbarrier_init(barrier(kQueriesEmpty + stage), kWarps);
    }
    mbarrier_init(barrier(kItemFull), 1);
    mbarrier_init(barrier(kItemEmpty), kWarps);
    fence_mbarrier_init();
  }
};

}  // namespace tbench::kernels::sm90
