// Fused row statistics of the sm90 split backward kernel. A warp of the producer warpgroup provides lse and delta for a
// consumer group: for the queries of every step or, with stationary queries, once in a work tile's first step. It reads
// dO and O in shared memory. S and dP start from zero; lse is subtracted in the exponent and delta when dS is computed,
// so that no product waits for lse or delta.
#pragma once

#include <bit>
#include <cmath>

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/sm90/bwd_split/smem.cuh"

namespace tbench::kernels::sm90 {

/// Whether the i-th step has queries whose delta is not computed yet.
__device__ __forceinline__ bool makes_delta(const SplitTileCoord& place, int i) {
  return place.kept == Stationary::kKv || i == 0;
}

/// Computes the row statistics, in one whole warp. The consumer group's warps wait for the statistics before they
/// release a step's stage, so this warp need not release stages.
template <class Element, class Tiles>
class RowStatsWarp {
  using Shared = Tiles;
  using Part = typename Shared::Part;
  static constexpr int kBlockRows = 16;  // rows per product
  static constexpr int kTogether = 2;    // blocks whose products do not depend on each other
  static constexpr int kLaneRows = kWgmmaM / kWarpSize;

 public:
  __device__ __forceinline__ RowStatsWarp(const SplitParams& parameters, Shared shared)
      : p_{parameters}, shared_{shared} {}

  __device__ __forceinline__ void make(const SplitTileCoord& place) {
    float lse[kLaneRows];
    load_lse(lse, place, 0);
#pragma unroll 1
    for (int i = 0; i < place.steps; ++i) {
      const bool makes = makes_delta(place, i);
      // This stage's previous statistics are no longer read, so they may be overwritten.
      mbarrier_wait(shared_.full(Shared::kForScores, stage(i)), parity(i));
      if (makes) store_lse(lse, shared_.statistics(Shared::kForScores, stage(i)));
      show(Shared::kForScores, i);
      if (i + 1 < place.steps && makes_delta(place, i + 1)) load_lse(lse, place, i + 1);
      mbarrier_wait(shared_.full(Shared::kForGradients, stage(i)), parity(i));
      if (makes) make_delta(place, i);
      show(Shared::kForGradients, i);
    }
    ++nth_;
    begin_ += place.steps;
  }

 private:
  __device__ __forceinline__ std::uint32_t stage(int i) const { return Shared::stage(begin_ + i); }
  __device__ __forceinline__ std::uint32_t parity(int i) const { return Shared::parity(begin_ + i); }
  __device__ __forceinline__ static int lane() { return read_lane(); }

  __device__ __forceinline__ void show(Part part, int i) const {
    delay(InjectedFault::kBackwardStatistics);
    __syncwarp();
    if (lane() == 0) mbarrier_arrive(shared_.statistics_full(part, stage(i)));
  }

  /// Loads lse, converted to base 2. Rows past the end get infinity, so that their P is zero.
  __device__ __forceinline__ void load_lse(float (&lse)[kLaneRows], const SplitTileCoord& place, int i) const {
    const int first = place.kept == Stationary::kKv ? place.streamed(i) : place.first_row;
    const float* const head = p_.lse + static_cast<std::int64_t>(place.all_head) * p_.seq_q;
#pragma unroll
    for (int j = 0; j < kLaneRows; ++j) {
      const int row = first + j * kWarpSize + lane();
      lse[j] = row < p_.seq_q ? head[row] : INFINITY;
    }
  }
  __device__ __forceinline__ static void store_lse(const float (&lse)[kLaneRows], std::uint32_t destination) {
#pragma unroll
    for (int j = 0; j < kLaneRows; ++j) store(destination, j * kWarpSize + lane(), lse[j] * kLog2E);
  }
  __device__ __forceinline__ static void store(std::uint32_t destination, int row, float value) {
    store_shared(destination + row * 4, std::bit_cast<int>(value));
  }

  __device__ __forceinline__ void make_delta(const SplitTileCoord& place, int i) const {
    const std::uint32_t kept = Shared::kept_stage(nth_);
    if (place.kept == Stationary::kQ) {
      mbarrier_wait(shared_.kept_full(Shared::kForGradients, kept), Shared::kept_parity(nth_));
    }
    multiply_rows(place.kept == Stationary::kKv ? shared_.tile(Shared::kForGradients, stage(i))
                                                : shared_.kept(Shared::kForGradients, kept),
                  shared_.outputs(stage(i)), shared_.statistics(Shared::kForGradients, stage(i)));
    fence_proxy_async();  // without it, the next copy might overtake loads in flight
  }

  /// Computes delta = rowsum(dO * O) as the diagonals of products of 16 rows of dO with the same 16 rows of O. The
  /// tensor cores compute 16 times as many elements as needed, but in a sixth of the instructions.
  __device__ __forceinline__ static void multiply_rows(std::uint32_t grad_o, std::uint32_t o,
                                                       std::uint32_t destination) {
    const int lane = read_lane(), row = lane / 4;
    // The first 16 lanes address the rows of the left two of four matrices [8, 8], as in
    // SplitSoftmaxGrad::load_operand().
    const int line = lane % 16 * kPanelRowBytes, vector = (lane / 16 ^ lane % 8) * 16;
#pragma unroll 1
    for (int first = 0; first < kWgmmaM; first += kTogether * kBlockRows) {
      float upper[kTogether][4]{},
          lower[kTogether][4]{};  // products with the block's first eight rows and with its last eight rows
#pragma unroll
      for (int i = 0; i < Shared::kHeadDim / 16; ++i) {
#pragma unroll
        for (int j = 0; j < kTogether; ++j) {
          const int offset = (first + j * kBlockRows) * kPanelRowBytes + line + (vector ^ i % 4 * 32);
          std::uint32_t left[4], right[4];
          ldmatrix_x4(left, o + offset);
          ldmatrix_x4(right, grad_o + offset);
          mma_m16n8k16<Element>(upper[j], left, right[0], right[2]);
          mma_m16n8k16<Element>(lower[j], left, right[1], right[3]);
        }
      }
      if (lane % 4 != row / 2) continue;
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        store(destination, first + j * kBlockRows + row, row % 2 == 0 ? upper[j][0] : upper[j][1]);
        store(destination, first + j * kBlockRows + row + 8, row % 2 == 0 ? lower[j][2] : lower[j][3]);
      }
    }
  }

  const SplitParams& p_;
  Shared shared_;
  int nth_ = 0, begin_ = 0;  // number of work tiles of the consumer group so far; number of their steps
};

/// Computes the row statistics of all work tiles of the consumer group.
template <class Element, class Tiles>
__device__ __forceinline__ void make_statistics(const SplitParams& parameters, Tiles shared, int team) {
  RowStatsWarp<Element, Tiles> statistics{parameters, shared};
  griddep_wait();
  int nth = 0;
#pragma unroll 1
  for (int item = first_tile<kKindsTeams>(team); item < parameters.order.items;
       item = snake_tile<kKindsTeams>(++nth, team)) {
    statistics.make(kinds_place(parameters, item));
  }
}

}  // namespace tbench::kernels::sm90
