// Shared memory of a 16-bit backward CTA: parameters, the stationary and streamed tiles with the statistics of their
// queries, and the gradients before they are stored.
#pragma once

#include "kernels/attention/common/delta.cuh"
#include "kernels/attention/sm80/bwd/softmax_grad.cuh"
#include "kernels/attention/sm80/common/mma_16bit.cuh"
#include "kernels/attention/sm80/common/tile_scheduler.cuh"

namespace tbench::kernels::sm80 {

template <class Element>
struct BwdParams {
  GlobalMatrix<const Element> q, k, v, o, grad_o;
  const float* lse;    // [batch, heads, seq_q]; kAtomicDq: to base 2, as computed by the preprocess kernel
  const float* delta;  // [batch, heads, seq_q]; null: each CTA computes delta itself
  GlobalMatrix<Element> dq, dk, dv;
  float* delta_out;       // same as `delta`, for the kernel that writes it
  float* base_2_lse_out;  // kAtomicDq: lse * log2(e), written by the preprocess kernel
  float* dq_sums;  // kAtomicDq: [batch, heads, query blocks of 16, head_dim / 8, lane, 4], see add_query_gradient()
  int heads, seq_q, seq_kv;
  int query_blocks;  // 16-query blocks per head in dq_sums
  int kv_tiles;      // kSplit: number of CTAs per head with K/V tiles; the CTAs with Q tiles follow them
  float scale;
  bool causal;
  bool heads_first;  // kSplit: parameter of schedule_tile()
};

/// Addresses of a CTA's tiles, and the loads into them. Base of the main loop.
template <class Geometry>
class BwdSmem : public BwdOperands<Geometry, BwdParams<typename Geometry::Element>> {
  using Element = typename Geometry::Element;
  using Sides = BwdOperands<Geometry, BwdParams<Element>>;
  static constexpr BwdConfig kTile = Geometry::kTile;
  static constexpr bool kQueriesKept = Geometry::kQueriesKept;

 public:
  /// First row of the warp's m-th block of 16 rows, as a row of the whole matrix.
  __device__ __forceinline__ int row(int m) const {
    return place_.first_row + (Geometry::row_block(place_.warp) + m) * 16;
  }

  /// Addresses of the first (K or Q) or second stationary tile and, below, of the step's dS.
  __device__ __forceinline__ std::uint32_t kept(int i) const { return kept_ + i * Geometry::kKeptBytes; }
  __device__ __forceinline__ std::uint32_t scores() const { return scores_ + score_stage_; }
  __device__ __forceinline__ char* scores_pointer() const { return shared_ + (scores_ - kept_) + score_stage_; }
  /// Address to which a warp that shares its rows stores the step's P.
  __device__ __forceinline__ char* probabilities_pointer(int warp) const {
    return shared_ + Geometry::kProbabilities + warp * Geometry::kProbabilityBytes;
  }

 protected:
  using Sides::kept_extent;
  using Sides::kept_matrix;
  using Sides::p_;
  using Sides::place_;
  using Sides::streamed_extent;
  using Sides::streamed_matrix;

  __device__ __forceinline__ BwdSmem(const BwdParams<Element>& parameters, char* shared, TileScheduler block)
      : Sides{parameters, block.tile},
        block_{block},
        shared_{shared},
        kept_{shared_address(shared)},
        streamed_{kept_ + Geometry::kStreamed},
        scores_{kept_ + Geometry::kScores},
        statistics_{reinterpret_cast<float*>(shared + Geometry::kStatistics)},
        head_offset_{(batch() * p_.heads + head()) * p_.seq_q} {}

  /// Batch and head of the CTA. CTAs of kAtomicDq read them from the grid, without a register.
  __device__ __forceinline__ std::int64_t batch() const { return Geometry::kAtomic ? blockIdx.z : block_.batch(); }
  __device__ __forceinline__ std::int64_t head() const { return Geometry::kAtomic ? blockIdx.y : block_.head(); }

  /// Address of the first tile (Q or K) of a stage; the second tile follows it.
  __device__ __forceinline__ std::uint32_t streamed(int stage) const {
    return streamed_ + 2 * stage * Geometry::kStreamedBytes;
  }
  /// Switches to the other buffer of dS for the next step.
  __device__ __forceinline__ void next_scores() { score_stage_ = Geometry::kScoreBytes - score_stage_; }

  /// With stationary keys: lse, then delta, of a step's queries.
  __device__ __forceinline__ const float* statistics(int stage) const {
    return statistics_ + 2 * stage * kTile.streamed_rows;
  }

  __device__ __forceinline__ void load_kept() {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const GlobalMatrix<const Element>& matrix = kept_matrix(i);
      load_tile<Element, kTile.kept_rows, Geometry::kHeadDim, Geometry::kThreads, true>(
          kept(i), matrix.head(batch(), head()), matrix.row_stride, matrix.vectors, place_.first_row, kept_extent());
    }
    if constexpr (kQueriesKept) load_statistics<kTile.kept_rows>(place_.first_row, statistics_);
  }

  __device__ __forceinline__ void load_step(int step, int stage) {
    delay_one_warp(InjectedFault::kBackwardBarrier);
    if ((step + 1) * kTile.streamed_rows <= streamed_extent()) {
      load_streamed<false>(step, stage);
    } else {
      load_streamed<true>(step, stage);
    }
    if constexpr (!kQueriesKept) {
      load_statistics<kTile.streamed_rows>(step * kTile.streamed_rows, statistics_ + 2 * stage * kTile.streamed_rows);
    }
    cp_async_commit_group();
  }

  /// With stationary queries: loads the statistics of the thread's rows to registers, lse to base 2.
  __device__ __forceinline__ void read_row_statistics(RowStats<Geometry>& rows) const {
    cp_async_wait_group<0>();
    __syncthreads();
#pragma unroll
    for (int m = 0; m < Geometry::kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = (Geometry::row_block(place_.warp) + m) * 16 + half * 8 + place_.lane / 4;
        rows.lse[m][half] = statistics_[row] * kLog2E;
        rows.delta[m][half] = statistics_[kTile.kept_rows + row];
      }
    }
  }

  /// Byte offset of the warp's share of the gradients' columns in a row.
  __device__ __forceinline__ int gradient_offset() const {
    return Geometry::part(place_.warp) * Geometry::kGradientBlocks * 16;
  }

  /// Writes a warp's sums times `factor` to the memory of the i-th stationary tile, which is no longer needed.
  __device__ __forceinline__ void write_gradient(int i, const typename Geometry::Accumulator& sums,
                                                 float factor) const {
#pragma unroll
    for (int m = 0; m < Geometry::kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = (Geometry::row_block(place_.warp) + m) * 16 + half * 8 + place_.lane / 4;
        char* const line =
            shared_ + i * Geometry::kKeptBytes + row * Geometry::kRowBytes + gradient_offset() + place_.lane % 4 * 4;
#pragma unroll
        for (int d = 0; d < Geometry::kGradientBlocks; ++d) {
          *reinterpret_cast<std::uint32_t*>(line + d * 16) =
              pack<Element>(sums[m][d][2 * half] * factor, sums[m][d][2 * half + 1] * factor);
        }
      }
    }
  }

  /// Stores the gradient that the warps wrote with write_gradient() to global memory.
  __device__ __forceinline__ void store_gradient(int i, const GlobalMatrix<Element>& gradient) const {
    store_tile<Element, kTile.kept_rows, Geometry::kHeadDim, Geometry::kThreads>(
        shared_ + i * Geometry::kKeptBytes, gradient.head(batch(), head()), gradient.row_stride, gradient.vectors,
        place_.first_row, kept_extent());
  }

 private:
  template <bool kChecked>
  __device__ __forceinline__ void load_streamed(int step, int stage) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const GlobalMatrix<const Element>& matrix = streamed_matrix(i);
      load_tile<Element, kTile.streamed_rows, Geometry::kHeadDim, Geometry::kThreads, kChecked>(
          streamed_ + (2 * stage + i) * Geometry::kStreamedBytes, matrix.head(batch(), head()), matrix.row_stride,
          matrix.vectors, step * kTile.streamed_rows, streamed_extent());
    }
  }

  /// Loads lse and delta of `kRows` queries, zeros from seq_q on.
  template <int kRows>
  __device__ __forceinline__ void load_statistics(int first_query, float* destination) const {
    for (int i = static_cast<int>(threadIdx.x); i < kRows; i += Geometry::kThreads) {
      const bool valid = first_query + i < p_.seq_q;
      const std::int64_t source = head_offset_ + (valid ? first_query + i : 0);
      cp_async_4(shared_address(destination + i), p_.lse + source, valid);
      if (p_.delta != nullptr) cp_async_4(shared_address(destination + kRows + i), p_.delta + source, valid);
    }
    if constexpr (!Geometry::kAtomic) {
      if (p_.delta == nullptr) {
        row_dot<Element, Geometry::kHeadDim, kRows, Geometry::kThreads>(p_.o, p_.grad_o, batch(), head(), first_query,
                                                                        p_.seq_q, destination + kRows);
      }
    }
  }

  TileScheduler block_;
  int score_stage_ = 0;  // offset of this step's dS from the first buffer
  char* shared_;
  std::uint32_t kept_, streamed_, scores_;
  float* statistics_;
  std::int64_t head_offset_;  // offset of the head's first query in lse and delta
};

}  // namespace tbench::kernels::sm80
