// Parameters of the sm90 split backward kernel, a consumer group's work tile, and the contents of its shared memory.
#pragma once

#include "kernels/attention/common/ptx.cuh"
#include "kernels/attention/sm90/bwd_split/config.hpp"
#include "kernels/attention/sm90/common/ptx.cuh"
#include "kernels/attention/sm90/common/static_scheduler.cuh"
#include "kernels/attention/sm90/common/wgmma.cuh"

namespace tbench::kernels::sm90 {

struct SplitParams {
  CUtensorMap q, k, v, grad_o;  // boxes of kWgmmaM rows
  CUtensorMap o;                // with makes_statistics
  TensorView dq, dk, dv;        // every row starts on a 16-byte boundary
  // [batch * heads, rows]: -lse / scale and -delta, see BwdWorkspace. With makes_statistics, lse is the forward pass's
  // result [batch * heads, seq_q], and delta is not used.
  const float *lse, *delta;
  int seq_q, seq_kv;
  int rows;  // per head in lse and delta
  float scale;
  bool causal;
  SplitOrder order;
};

/// A work tile: its stationary rows, and its steps over the streamed rows.
struct SplitTileCoord {
  Stationary kept;
  int first_row;
  int head, batch;
  int all_head;  // index among the heads of all batches
  int steps;
  int last_tile;  // last streamed tile; with stationary queries steps start there and go down to tile 0

  /// First streamed row of the i-th step.
  __device__ __forceinline__ int streamed(int i) const {
    return (kept == Stationary::kKv ? last_tile - steps + 1 + i : last_tile - i) * kWgmmaM;
  }
};

__device__ __forceinline__ SplitTileCoord kinds_place(const SplitParams& p, int item) {
  const auto [kept, tile, all_head] = kinds_item(p.order, p.causal, item);
  const int batch = divide(all_head, p.order.heads);
  SplitTileCoord place{.kept = kept,
                       .first_row = tile * kWgmmaM,
                       .head = all_head - batch * p.order.heads.value,
                       .batch = batch,
                       .all_head = all_head};
  if (kept == Stationary::kKv) {
    place.last_tile = p.order.query_tiles - 1;
    place.steps = p.order.query_tiles - (p.causal ? tile : 0);
  } else {
    place.last_tile = p.order.key_tiles - 1;
    if (p.causal) place.last_tile = min(place.last_tile, tile);
    place.steps = place.last_tile + 1;
  }
  return place;
}

template <class Tile>
struct SplitSmem {
  static constexpr int kHeadDim = kKindsHeadDim;
  static constexpr SplitConfig kTile = Tile::tile();
  static constexpr SplitSmemLayout kPlan = kinds_shared(kTile);
  static constexpr int kTileBytes = kKindsTileBytes;  // one panel
  static constexpr int kStatisticsBytes = kWgmmaM * 4;
  static constexpr int kBarrierSize = 8;

  /// Streamed or stationary operand of S (K or Q) or of dP (V or dO).
  enum Part { kForScores, kForGradients, kParts };

  static constexpr int kMade = kTile.makes_statistics ? kTile.stages * kParts : 0;
  enum Barrier {
    kKeptFull,                                            // [stage, part]
    kKeptEmpty = kKeptFull + kTile.kept_stages * kParts,  // [stage]
    kFull = kKeptEmpty + kTile.kept_stages,               // [stage, part]
    kEmpty = kFull + kTile.stages * kParts,               // [stage]
    kStatistics = kEmpty + kTile.stages,                  // [stage, part]
    kBarriers = kStatistics + kMade,
  };
  static_assert(kBarriers * kBarrierSize <= kBarrierBytes, "barriers have their room");

  std::uint32_t base;

  __device__ __forceinline__ std::uint32_t kept(Part part, std::uint32_t stage) const {
    return base + kPlan.kept + (stage * kParts + part) * kTileBytes;
  }
  __device__ __forceinline__ std::uint32_t tile(Part part, std::uint32_t stage) const {
    return base + kPlan.stages + (stage * stage_tiles(kTile) + part) * kTileBytes;
  }
  /// Address of a stage's O tile: O of the step's queries or, in a work tile's first step, of the stationary queries.
  __device__ __forceinline__ std::uint32_t outputs(std::uint32_t stage) const {
    return base + kPlan.stages + (stage * stage_tiles(kTile) + kParts) * kTileBytes;
  }
  __device__ __forceinline__ std::uint32_t kept_statistics(Part part, std::uint32_t stage) const {
    return base + kPlan.kept_statistics + (stage * kParts + part) * kStatisticsBytes;
  }
  __device__ __forceinline__ std::uint32_t statistics(Part part, std::uint32_t stage) const {
    return base + kPlan.statistics + (stage * kParts + part) * kStatisticsBytes;
  }
  __device__ __forceinline__ std::uint32_t barrier(std::uint32_t number) const {
    return base + kPlan.barriers + number * kBarrierSize;
  }
  __device__ __forceinline__ std::uint32_t kept_full(Part part, std::uint32_t stage) const {
    return barrier(kKeptFull + stage * kParts + part);
  }
  __device__ __forceinline__ std::uint32_t full(Part part, std::uint32_t stage) const {
    return barrier(kFull + stage * kParts + part);
  }
  __device__ __forceinline__ std::uint32_t statistics_full(Part part, std::uint32_t stage) const {
    return barrier(kStatistics + stage * kParts + part);
  }

  /// Stage of a consumer group's n-th step or work tile and, below, the parity of its phase. They are computed from n,
  /// so that no register has to keep them.
  template <int kStages>
  __device__ __forceinline__ static std::uint32_t place_in(int n) {
    return static_cast<std::uint32_t>(n) % kStages;
  }
  template <int kStages>
  __device__ __forceinline__ static std::uint32_t parity_in(int n) {
    return static_cast<std::uint32_t>(n) / kStages % 2;
  }
  __device__ __forceinline__ static std::uint32_t stage(int n) { return place_in<kTile.stages>(n); }
  __device__ __forceinline__ static std::uint32_t parity(int n) { return parity_in<kTile.stages>(n); }
  __device__ __forceinline__ static std::uint32_t kept_stage(int nth) { return place_in<kTile.kept_stages>(nth); }
  __device__ __forceinline__ static std::uint32_t kept_parity(int nth) { return parity_in<kTile.kept_stages>(nth); }

  /// Initialises the barriers; one thread calls it. The producer arrives at full barriers, the reading warps at empty
  /// barriers.
  __device__ __forceinline__ void make_barriers() const {
    for (int i = kKeptFull; i < kKeptEmpty; ++i) mbarrier_init(barrier(i), 1);
    for (int i = kKeptEmpty; i < kFull; ++i) mbarrier_init(barrier(i), kWarpGroupWarps);
    for (int i = kFull; i < kEmpty; ++i) mbarrier_init(barrier(i), 1);
    for (int i = kEmpty; i < kStatistics; ++i) mbarrier_init(barrier(i), kWarpGroupWarps);
    for (int i = kStatistics; i < kBarriers; ++i) mbarrier_init(barrier(i), 1);
    fence_mbarrier_init();
  }
};

}  // namespace tbench::kernels::sm90
