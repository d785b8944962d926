// Parameters of the sm90 TF32 backward kernels, a CTA's work tile, and the contents of shared memory.
#pragma once

#include "kernels/attention/common/smem_tile.cuh"
#include "kernels/attention/sm90/common/ptx.cuh"
#include "kernels/attention/sm90/common/wgmma.cuh"
#include "kernels/attention/sm90_tf32/bwd/config.hpp"

namespace tbench::kernels::sm90_tf32 {

struct BwdParams {
  CUtensorMap kept_q, kept_grad_o;  // boxes of a warpgroup's rows, as in the descriptors of K and V
  CUtensorMap q, grad_o;            // boxes of a step's rows
  CUtensorMap k, v;
  const float *q_transposed, *grad_o_transposed, *k_transposed;  // see BwdWorkspace
  const float *lse, *delta;                                      // negative, as described at BwdWorkspace
  GlobalMatrix<float> dq, dk, dv;
  int heads, seq_q, seq_kv;
  int queries, keys;  // per head in the workspace
  int batch_heads;    // batch * heads
  float scale;
  bool causal;
  BwdTileOrder order;
};

/// A work tile: its stationary rows, and its steps over the streamed rows.
struct BwdTileCoord {
  int first_row;
  int head, batch;
  int all_head;  // index among the heads of all batches
  int steps;
  int first_step;  // with stationary keys; with stationary queries the steps go down to streamed tile 0
};

/// Returns the number of steps over the keys that queries below `end_row` see.
__device__ __forceinline__ int steps_of_queries(const BwdParams& p, int end_row, int step_rows) {
  const int keys = p.causal ? min(p.seq_kv, end_row) : p.seq_kv;
  return (keys + step_rows - 1) / step_rows;
}

template <int kHeadDim, Stationary kKept>
__device__ __forceinline__ BwdTileCoord backward_place(const BwdParams& p, int item) {
  constexpr int kStepRows = stream_tile(kHeadDim, kKept).rows;
  const int first_head = item / (p.order.tiles * p.order.heads) * p.order.heads;
  const int heads =
      min(p.order.heads, p.batch_heads - first_head);  // number of heads of this group; the last group may be smaller
  const int in_group = item - p.order.tiles * first_head;
  const int nth = in_group / heads, head = first_head + in_group % heads;
  BwdTileCoord place{.head = head % p.heads, .batch = head / p.heads, .all_head = head};
  // With a causal mask the first keys are seen by the most queries, and the last queries see the most keys.
  if constexpr (kKept == Stationary::kKv) {
    place.first_row = nth * kKeptRows;
    place.first_step = p.causal ? place.first_row / kStepRows : 0;
    place.steps = (p.seq_q + kStepRows - 1) / kStepRows - place.first_step;
  } else {
    place.first_row = (p.order.tiles - 1 - nth) * kKeptRows;
    place.steps = steps_of_queries(p, place.first_row + kKeptRows, kStepRows);
  }
  return place;
}

/// First streamed row of the i-th step.
template <Stationary kKept>
__device__ __forceinline__ int first_streamed_row(const BwdTileCoord& place, int i, int step_rows) {
  return (kKept == Stationary::kKv ? place.first_step + i : place.steps - 1 - i) * step_rows;
}

template <int kColumns, Stationary kWhat>
struct BwdSmem {
  static constexpr int kHeadDim = kColumns;
  static constexpr Stationary kKept = kWhat;
  static constexpr bool kKeepsKeys = kKept == Stationary::kKv;
  static constexpr BwdConfig kTile = stream_tile(kHeadDim, kKept);
  static constexpr BwdSmemLayout kPlan = stream_shared(kHeadDim, kKept);
  static constexpr int kPanels = kHeadDim / kPanelFloats;
  static constexpr int kKeptPanelBytes = kWgmmaM * kPanelRowBytes;
  static constexpr int kKeptBytes = kPanels * kKeptPanelBytes;  // per warpgroup
  static constexpr int kPanelBytes = kTile.rows * kPanelRowBytes;
  static constexpr int kTransposedPanelBytes = kHeadDim * kPanelRowBytes;
  static constexpr int kSlotBytes = slot_bytes(kHeadDim, kKept);
  static constexpr int kStatisticsBytes = kTile.rows * 4;
  static constexpr int kWarps = kBackwardGroups * kWarpGroupWarps;
  static constexpr int kBarrierSize = 8;

  /// Order in which tiles pass through the stages. Stationary operands that are kept in registers come first, first the
  /// operand of S and then the operand of dP, each with one tile per warpgroup. Each step then has its rows for S (Q or
  /// K) and for dP (dO or V), and the transposed rows for dV (dO^T, with stationary keys) and for dK or dQ (Q^T or
  /// K^T).
  enum Tile { kForScores, kForGradients, kForValues, kForKept = kForValues + (kKeepsKeys ? 1 : 0), kTiles };
  static constexpr int kKeptTiles =
      kBackwardGroups * (kTile.scores_operand_in_registers + kTile.gradients_operand_in_registers);
  static_assert(kKeptTiles == 0 || kSlotBytes == kKeptBytes);
  static_assert(kKeptTiles + 2 <= kTile.slots, "what comes first is not waited for");
  static_assert(kTile.slots > kTiles, "a step's transposed tiles and the next one's rows are there at once");

  enum Barrier {
    kScoresOperandFull,
    kGradientsOperandFull,
    kSlotFull,
    kSlotEmpty = kSlotFull + kTile.slots,
    kBarriers = kSlotEmpty + kTile.slots,
  };
  static_assert(kBarriers * kBarrierSize <= kBarrierBytes, "barriers have their room");

  std::uint32_t base;

  __device__ __forceinline__ std::uint32_t scores_operand(int group) const {
    return base + kPlan.scores_operand + group * kKeptBytes;
  }
  __device__ __forceinline__ std::uint32_t gradients_operand(int group) const {
    return base + kPlan.gradients_operand + group * kKeptBytes;
  }
  __device__ __forceinline__ std::uint32_t barrier(std::uint32_t number) const {
    return base + kPlan.barriers + number * kBarrierSize;
  }

  /// Stage and, below, phase parity of the n-th tile that passes through the stages.
  __device__ __forceinline__ static std::uint32_t slot(int n) { return static_cast<std::uint32_t>(n) % kTile.slots; }
  __device__ __forceinline__ static std::uint32_t parity(int n) {
    return static_cast<std::uint32_t>(n) / kTile.slots % 2;
  }
  __device__ __forceinline__ std::uint32_t tile(int n) const { return base + kPlan.slots + slot(n) * kSlotBytes; }
  __device__ __forceinline__ std::uint32_t statistics(int n) const {
    return base + kPlan.statistics + slot(n) * kStatisticsBytes;
  }
  __device__ __forceinline__ std::uint32_t full(int n) const { return barrier(kSlotFull + slot(n)); }
  __device__ __forceinline__ std::uint32_t empty(int n) const { return barrier(kSlotEmpty + slot(n)); }
  __device__ __forceinline__ static int number(int step, int tile) { return kKeptTiles + step * kTiles + tile; }

  /// Initialises the barriers; one thread calls it. The producer arrives at full barriers, the reading warps at empty
  /// barriers.
  __device__ __forceinline__ void make_barriers() const {
    mbarrier_init(barrier(kScoresOperandFull), 1);
    mbarrier_init(barrier(kGradientsOperandFull), 1);
    for (int n = 0; n < kTile.slots; ++n) {
      mbarrier_init(full(n), 1);
      mbarrier_init(empty(n), kWarps);
    }
    fence_mbarrier_init();
  }
};

}  // namespace tbench::kernels::sm90_tf32
