// Shared memory of a float32 backward CTA: parameters, and the stationary and streamed tiles with the statistics of
// their queries.
#pragma once

#include "kernels/attention/common/delta.cuh"
#include "kernels/attention/sm80/bwd/softmax_grad.cuh"
#include "kernels/attention/sm80/common/mma_tf32.cuh"
#include "kernels/attention/sm80/common/split_warps.cuh"

namespace tbench::kernels::sm80 {

struct BwdFp32Params {
  GlobalMatrix<const float> q, k, v, o, grad_o;
  const float* lse;  // [batch, heads, seq_q]
  float* delta;      // [batch, heads, seq_q]; null: each CTA computes delta itself
  GlobalMatrix<float> dq, dk, dv;
  int heads, seq_q, seq_kv;
  int kv_tiles;  // kSplit: number of CTAs per head with K/V tiles; the CTAs with Q tiles follow them
  float scale;
  bool causal;
  bool heads_first;  // parameter of schedule_tile()
};

/// Addresses of a CTA's tiles, and the loads into them. Base of the main loop.
template <bool k3xTf32, class Geometry>
class BwdFp32Smem : public BwdOperands<Geometry, BwdFp32Params> {
  using Sides = BwdOperands<Geometry, BwdFp32Params>;
  static constexpr BwdConfig kTile = Geometry::kTile;
  static constexpr int kHeadDim = Geometry::kHeadDim;
  static constexpr int kThreads = Geometry::kThreads;

 public:
  __device__ __forceinline__ char* shared() const { return shared_; }
  __device__ __forceinline__ TileScheduler block() const { return block_; }
  /// First row of the warp's m-th block of 16 rows, as a row of the whole matrix.
  __device__ __forceinline__ int row(int m) const { return place_.first_row + warp_row_ + m * 16; }
  /// Index of the warp's share of the streamed rows.
  __device__ __forceinline__ int warp_split() const {
    return split_of_warp<kTile.warps, kTile.split_warps>(place_.warp);
  }
  /// First of the warp's rows in the CTA's tile.
  __device__ __forceinline__ int warp_row() const { return warp_row_; }

 protected:
  static constexpr bool kRounded = kRoundsStreamedTiles<k3xTf32, kTile.split_warps>;

  using Sides::kept_extent;
  using Sides::kept_matrix;
  using Sides::p_;
  using Sides::place_;
  using Sides::streamed_extent;
  using Sides::streamed_matrix;

  __device__ __forceinline__ BwdFp32Smem(const BwdFp32Params& parameters, char* shared, TileScheduler block)
      : Sides{parameters, block.tile},
        warp_row_{row_warp<kTile.warps, kTile.split_warps>(place_.warp) * Geometry::kRowBlocks * 16},
        shared_{shared},
        block_{block} {}

  __device__ __forceinline__ void load_kept() {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const GlobalMatrix<const float>& matrix = kept_matrix(i);
      load_tile<float, kTile.kept_rows, kHeadDim, kThreads, true>(
          shared_address(shared_) + i * Geometry::kKeptBytes, matrix.head(block_.batch(), block_.head()),
          matrix.row_stride, matrix.vectors, place_.first_row, kept_extent());
    }
    if constexpr (Geometry::kQueriesKept) load_statistics<kTile.kept_rows>(place_.first_row, 0);
  }

  __device__ __forceinline__ void load_step(int step, int stage) {
    delay_one_warp(InjectedFault::kBackwardBarrier);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const GlobalMatrix<const float>& matrix = streamed_matrix(i);
      load_tile<float, kTile.streamed_rows, kHeadDim, kThreads, true>(
          shared_address(shared_) + Geometry::kStreamed + (2 * stage + i) * Geometry::kStreamedBytes,
          matrix.head(block_.batch(), block_.head()), matrix.row_stride, matrix.vectors, step * kTile.streamed_rows,
          streamed_extent());
    }
    if constexpr (!Geometry::kQueriesKept) load_statistics<kTile.streamed_rows>(step * kTile.streamed_rows, stage);
    cp_async_commit_group();
  }

  __device__ __forceinline__ void round_kept() const {
    if constexpr (!k3xTf32) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        round_own_elements<kTile.kept_rows, kHeadDim, kThreads>(shared_ + i * Geometry::kKeptBytes,
                                                                kept_matrix(i).vectors);
      }
    }
  }

  __device__ __forceinline__ void round_step(int stage) const {
    if constexpr (kRounded) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        round_own_elements<kTile.streamed_rows, kHeadDim, kThreads>(
            shared_ + Geometry::kStreamed + (2 * stage + i) * Geometry::kStreamedBytes, streamed_matrix(i).vectors);
      }
    }
  }

  /// Address of lse, kRows floats, which delta, kRows floats, follows.
  template <int kRows>
  __device__ __forceinline__ float* statistics(int stage) const {
    return reinterpret_cast<float*>(shared_ + Geometry::kStatistics) + 2 * stage * kRows;
  }

  /// With stationary queries: loads the statistics of the thread's rows to registers.
  __device__ __forceinline__ void read_row_statistics(RowStats<Geometry>& rows) const {
    __syncthreads();
    const float* const source = statistics<kTile.kept_rows>(0);
#pragma unroll
    for (int m = 0; m < Geometry::kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = warp_row_ + m * 16 + half * 8 + place_.lane / 4;
        rows.lse[m][half] = source[row];
        rows.delta[m][half] = source[kTile.kept_rows + row];
      }
    }
  }

 private:
  /// Loads lse and delta of `kRows` queries, zeros from seq_q on.
  template <int kRows>
  __device__ __forceinline__ void load_statistics(int first_query, int stage) const {
    float* const destination = statistics<kRows>(stage);
    for (int i = static_cast<int>(threadIdx.x); i < kRows; i += kThreads) {
      const bool valid = first_query + i < p_.seq_q;
      const std::int64_t source = head_offset() + (valid ? first_query + i : 0);
      cp_async_4(shared_address(destination + i), p_.lse + source, valid);
      if (p_.delta != nullptr) cp_async_4(shared_address(destination + kRows + i), p_.delta + source, valid);
    }
    if (p_.delta == nullptr) {
      row_dot<float, kHeadDim, kRows, kThreads>(p_.o, p_.grad_o, block_.batch(), block_.head(), first_query, p_.seq_q,
                                                destination + kRows);
    }
  }

  __device__ __forceinline__ std::int64_t head_offset() const {
    return (static_cast<std::int64_t>(block_.batch()) * p_.heads + block_.head()) * p_.seq_q;
  }

  int warp_row_;
  char* shared_;
  TileScheduler block_;
};

}  // namespace tbench::kernels::sm80
