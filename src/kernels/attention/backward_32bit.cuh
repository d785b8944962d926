// Backward pass, float32 storage: the two kinds of blocks and the two ways of backward_16bit.cuh, which see, with the
// products of tf32.cuh. What differs: dQ's share is added to dq itself, which is float32 already, so that no kernel
// converts it, and dS crosses shared memory as [query, key].
#pragma once

#include "plan_32bit.hpp"
#include "planted_fault.cuh"
#include "row_products.cuh"
#include "tf32.cuh"

namespace tbench::kernels {

struct Backward32Parameters {
  Matrix<const float> q, k, v, o, grad_o;
  const float* lse;  // [batch, heads, seq_q]
  float* delta;      // [batch, heads, seq_q]; null: each block computes what it needs
  Matrix<float> dq, dk, dv;
  int heads, seq_q, seq_kv;
  int kv_tiles;  // kSplit: blocks of keys and values, before those of queries
  float scale;
  bool causal;
  bool heads_first;  // block_place()
};

template <bool kExact, int kHeadDim, class Tile, bool kQueriesKept, bool kAtomic>
class Backward32Block {
  static constexpr BackwardTile kTile = Tile::tile(kHeadDim);
  static constexpr int kThreads = kTile.warps * kWarpSize;
  static constexpr int kRowBlocks = kTile.kept_rows / kTile.warps / 16;  // of a warp
  static constexpr int kColBlocks = kTile.cols_at_once / 8;
  static constexpr int kRowBytes = row_bytes<float>(kHeadDim);
  static constexpr int kKeptBytes = kTile.kept_rows * kRowBytes;
  static constexpr int kStreamedBytes = kTile.streamed_rows * kRowBytes;
  static constexpr int kScoreRowBytes = row_bytes<float>(kTile.kept_rows);
  // Where things begin in shared memory, bytes: two kept tiles, two streamed ones a stage, dS, lse and delta.
  static constexpr int kStreamed = 2 * kKeptBytes;
  static constexpr int kScores = kStreamed + 2 * kTile.stages * kStreamedBytes;
  static constexpr int kStatistics = kScores + (kAtomic ? kTile.streamed_rows * kScoreRowBytes : 0);
  static_assert(kTile.kept_rows == kTile.warps * kRowBlocks * 16, "a warp takes a whole number of 16-row blocks");
  static_assert(kTile.streamed_rows % kTile.cols_at_once == 0 && kTile.cols_at_once % 16 == 0, "columns divide evenly");
  static_assert(!kAtomic || !kQueriesKept, "dQ's share comes with the keys' scores");

 public:
  __device__ __forceinline__ Backward32Block(const Backward32Parameters& parameters, char* shared, BlockPlace place)
      : p_{parameters},
        shared_{shared},
        warp_{static_cast<int>(threadIdx.x) / kWarpSize},
        lane_{static_cast<int>(threadIdx.x) % kWarpSize},
        place_{place},
        warp_row_{warp_ * kRowBlocks * 16},
        first_row_{place.tile * kTile.kept_rows} {}

  __device__ __forceinline__ void run() {
    load_kept();
    const Range range = steps();
    if (range.first < range.last) load_step(range.first, 0);
    wait_copies<0>();
    round_kept();
    if constexpr (kQueriesKept) read_row_statistics();
    for (int step = range.first; step < range.last; ++step) {
      const int stage = kTile.stages > 1 ? (step - range.first) % 2 : 0;
      const bool more = step + 1 < range.last;
      wait_copies<0>();
      round_step(stage);
      // The step's tiles have come, and nobody reads the last one's any more.
      if (!planted(PlantedFault::kBackwardBarrier)) __syncthreads();
      if (kTile.stages > 1 && more) load_step(step + 1, stage ^ 1);
      if (needs_mask(step)) {
        advance<true>(step, stage);
      } else {
        advance<false>(step, stage);
      }
      if (kTile.stages == 1 || kAtomic) __syncthreads();  // nobody reads the step's tiles, and every warp's dS is there
      if (kTile.stages == 1 && more) load_step(step + 1, 0);
      if constexpr (kAtomic) {
        if (!(planted(PlantedFault::kDqSkipTile) && first_row_ == 0)) add_query_gradient(step);
      }
    }
    finish();
  }

 private:
  struct Range {
    int first, last;
  };
  using Scores = float[kRowBlocks][kColBlocks][4];
  using Accumulator = float[kRowBlocks][kHeadDim / 8][4];

  __device__ __forceinline__ const Matrix<const float>& kept_matrix(int i) const {
    return kQueriesKept ? (i == 0 ? p_.q : p_.grad_o) : (i == 0 ? p_.k : p_.v);
  }
  __device__ __forceinline__ const Matrix<const float>& streamed_matrix(int i) const {
    return kQueriesKept ? (i == 0 ? p_.k : p_.v) : (i == 0 ? p_.q : p_.grad_o);
  }
  __device__ __forceinline__ int kept_extent() const { return kQueriesKept ? p_.seq_q : p_.seq_kv; }
  __device__ __forceinline__ int streamed_extent() const { return kQueriesKept ? p_.seq_kv : p_.seq_q; }
  __device__ __forceinline__ std::int64_t head_offset() const {
    return (static_cast<std::int64_t>(place_.batch()) * p_.heads + place_.head()) * p_.seq_q;
  }

  /// Steps that hold anything under the mask.
  __device__ __forceinline__ Range steps() const {
    const int end =
        kQueriesKept && p_.causal ? min(streamed_extent(), first_row_ + kTile.kept_rows) : streamed_extent();
    return {!kQueriesKept && p_.causal ? first_row_ / kTile.streamed_rows : 0,
            (end + kTile.streamed_rows - 1) / kTile.streamed_rows};
  }

  /// Whether a step's tile reaches over the diagonal or over the end of the keys. Queries after the end need no mask:
  /// their dO and delta are zero.
  __device__ __forceinline__ bool needs_mask(int step) const {
    const int first_col = step * kTile.streamed_rows, end_col = first_col + kTile.streamed_rows;
    const bool over_end = (kQueriesKept ? end_col : first_row_ + kTile.kept_rows) > p_.seq_kv;
    const bool over_diagonal = kQueriesKept ? end_col > first_row_ : first_col < first_row_ + kTile.kept_rows;
    return over_end || (p_.causal && over_diagonal);
  }

  __device__ __forceinline__ void load_kept() {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const Matrix<const float>& matrix = kept_matrix(i);
      load_tile<float, kTile.kept_rows, kHeadDim, kThreads, true>(
          shared_address(shared_) + i * kKeptBytes, matrix.head(place_.batch(), place_.head()), matrix.row_stride,
          matrix.vectors, first_row_, kept_extent());
    }
    if constexpr (kQueriesKept) load_statistics<kTile.kept_rows>(first_row_, 0);
  }

  __device__ __forceinline__ void load_step(int step, int stage) {
    delay_one_warp(PlantedFault::kBackwardBarrier);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const Matrix<const float>& matrix = streamed_matrix(i);
      load_tile<float, kTile.streamed_rows, kHeadDim, kThreads, true>(
          shared_address(shared_) + kStreamed + (2 * stage + i) * kStreamedBytes,
          matrix.head(place_.batch(), place_.head()), matrix.row_stride, matrix.vectors, step * kTile.streamed_rows,
          streamed_extent());
    }
    if constexpr (!kQueriesKept) load_statistics<kTile.streamed_rows>(step * kTile.streamed_rows, stage);
    commit_copies();
  }

  __device__ __forceinline__ void round_kept() const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      round_own_elements<kExact, kTile.kept_rows, kHeadDim, kThreads>(shared_ + i * kKeptBytes, kept_matrix(i).vectors);
    }
  }

  __device__ __forceinline__ void round_step(int stage) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      round_own_elements<kExact, kTile.streamed_rows, kHeadDim, kThreads>(
          shared_ + kStreamed + (2 * stage + i) * kStreamedBytes, streamed_matrix(i).vectors);
    }
  }

  /// [kRows] float32 of lse, then of delta.
  template <int kRows>
  __device__ __forceinline__ float* statistics(int stage) const {
    return reinterpret_cast<float*>(shared_ + kStatistics) + 2 * stage * kRows;
  }

  /// lse and delta of `kRows` queries, zero after the end.
  template <int kRows>
  __device__ __forceinline__ void load_statistics(int first_query, int stage) const {
    float* const destination = statistics<kRows>(stage);
    for (int i = static_cast<int>(threadIdx.x); i < kRows; i += kThreads) {
      const bool valid = first_query + i < p_.seq_q;
      const std::int64_t source = head_offset() + (valid ? first_query + i : 0);
      copy_4_async(shared_address(destination + i), p_.lse + source, valid);
      if (p_.delta != nullptr) copy_4_async(shared_address(destination + kRows + i), p_.delta + source, valid);
    }
    if (p_.delta == nullptr) {
      row_products<float, kHeadDim, kRows, kThreads>(p_.o, p_.grad_o, first_query, p_.seq_q, destination + kRows);
    }
  }

  /// Queries kept: a thread's rows keep their statistics in registers.
  __device__ __forceinline__ void read_row_statistics() {
    __syncthreads();
    const float* const source = statistics<kTile.kept_rows>(0);
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = warp_row_ + m * 16 + half * 8 + lane_ / 4;
        row_lse_[m][half] = source[row];
        row_delta_[m][half] = source[kTile.kept_rows + row];
      }
    }
  }

  template <bool kMasked>
  __device__ __forceinline__ void advance(int step, int stage) {
    const std::uint32_t kept = shared_address(shared_) + warp_row_ * kRowBytes + left_offset(lane_, kRowBytes);
    const int first = kStreamed + 2 * stage * kStreamedBytes, second = first + kStreamedBytes;
    const float* const col_statistics = statistics<kTile.streamed_rows>(stage);
#pragma unroll 1
    for (int col = 0; col < kTile.streamed_rows; col += kTile.cols_at_once) {
      const int offset = col * kRowBytes;
      const std::uint32_t columns = shared_address(shared_) + offset + right_offset(lane_, kRowBytes);
      const char* const rows = shared_ + offset + rows_offset(lane_, kRowBytes);
      Scores s = {}, dp = {};
      if (!kMasked || holds_anything(step * kTile.streamed_rows + col)) {
        multiply_rows<kExact, kHeadDim>(s, kept, columns + first);
        probabilities<kMasked>(s, step * kTile.streamed_rows + col, col_statistics + col);
        if (!kQueriesKept && !(planted(PlantedFault::kDvSkipTile) && step == 0)) {
          accumulate_rows<kExact, kHeadDim>(values_, s, rows + second);
        }
        multiply_rows<kExact, kHeadDim>(dp, kept + kKeptBytes, columns + second);
        score_gradients(s, dp, col_statistics + kTile.streamed_rows + col);
        if (!(kQueriesKept && planted(PlantedFault::kDqSkipTile) && step == 0)) {
          accumulate_rows<kExact, kHeadDim>(keys_, dp, rows + first);
        }
      }
      if constexpr (kAtomic) store_scores(dp, col);
    }
  }

  /// Whether a warp's rows see any of the columns from `first_col` on.
  __device__ __forceinline__ bool holds_anything(int first_col) const {
    const int row = first_row_ + warp_row_;
    return !p_.causal || (kQueriesKept ? first_col < row + kRowBlocks * 16 : row < first_col + kTile.cols_at_once);
  }

  /// exp(scale * s - lse), zero under the mask.
  template <bool kMasked>
  __device__ __forceinline__ void probabilities(Scores& s, int first_col, const float* col_lse) const {
    const float scale = p_.scale * (planted(PlantedFault::kBackwardScale) ? 1.05f : 1.0f);
#pragma unroll
    for (int n = 0; n < kColBlocks; ++n) {
      const int col = n * 8 + lane_ % 4 * 2;
      float2 lse{};
      if constexpr (!kQueriesKept) lse = *reinterpret_cast<const float2*>(col_lse + col);
#pragma unroll
      for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float shift = kQueriesKept ? row_lse_[m][i / 2] : (i % 2 == 0 ? lse.x : lse.y);
          float& score = s[m][n][i];
          // Subtracting first keeps large scores exact; one multiply-add is what TF32 products leave time for.
          score = exp2_approximate(kExact ? fmaf(score, scale, -shift) * kLog2E
                                          : fmaf(score, scale * kLog2E, -shift * kLog2E));
          if constexpr (kMasked) {
            const int row = first_row_ + warp_row_ + m * 16 + i / 2 * 8 + lane_ / 4;
            const int query = kQueriesKept ? row : first_col + col + i % 2;
            const int key = kQueriesKept ? first_col + col + i % 2 : row;
            const int last = planted(PlantedFault::kBackwardMask) ? query + 1 : query;
            if (key >= p_.seq_kv || (p_.causal && key > last)) score = 0.0f;
          }
        }
      }
    }
  }

  /// dp = p * (dp - delta)
  __device__ __forceinline__ void score_gradients(const Scores& p, Scores& dp, const float* col_delta) const {
#pragma unroll
    for (int n = 0; n < kColBlocks; ++n) {
      float2 delta{};
      if constexpr (!kQueriesKept) delta = *reinterpret_cast<const float2*>(col_delta + n * 8 + lane_ % 4 * 2);
#pragma unroll
      for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          dp[m][n][i] = p[m][n][i] * (dp[m][n][i] - (kQueriesKept ? row_delta_[m][i / 2]
                                                     : i % 2 == 0 ? delta.x
                                                                  : delta.y));
        }
      }
    }
  }

  /// dS to shared memory, [streamed row, kept row], the kept rows of each eight in the order 0 2 4 6 1 3 5 7: read as a
  /// left operand, places l and l + 4 are then rows 2 l and 2 l + 1, which is how load_rows() and the like read K.
  __device__ __forceinline__ void store_scores(const Scores& ds, int first_col) const {
    const int group = lane_ / 4;
    char* const base =
        shared_ + kScores + (first_col + lane_ % 4 * 2) * kScoreRowBytes + (warp_row_ + group / 2 + group % 2 * 4) * 4;
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int n = 0; n < kColBlocks; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          *reinterpret_cast<float*>(base + (n * 8 + i % 2) * kScoreRowBytes + (m * 16 + i / 2 * 8) * 4) =
              kExact ? ds[m][n][i] : __uint_as_float(round_to_tf32(ds[m][n][i]));
        }
      }
    }
  }

  /// Adds scale * dS K of this tile to dq. The warps divide queries and head_dim among them, 16 by 16 a product of two
  /// column blocks: the even and the odd columns, so that a lane holds four neighbours of a row.
  __device__ __forceinline__ void add_query_gradient(int step) const {
    constexpr int kDimWarps = kTile.dq_dim_warps, kRowWarps = kTile.warps / kDimWarps;
    constexpr int kRows = kTile.streamed_rows / kRowWarps / 16, kDims = kHeadDim / 16 / kDimWarps;
    static_assert(kRows * kRowWarps * 16 == kTile.streamed_rows && kDims * kDimWarps * 16 == kHeadDim,
                  "the warps divide dQ's tile in blocks of 16 by 16");
    const int row = warp_ / kDimWarps * kRows * 16, dim = warp_ % kDimWarps * kDims * 16;
    const std::uint32_t a_address =
        shared_address(shared_) + kScores + row * kScoreRowBytes + left_offset(lane_, kScoreRowBytes);
    const char* const keys = shared_ + lane_ % 4 * 2 * kRowBytes + (dim + lane_ / 4 * 2) * 4;
    float dq[kRows][2 * kDims][4] = {};
#pragma unroll(kExact ? 1 : 4)
    for (int inner = 0; inner < kTile.kept_rows / 8; ++inner) {
      Operand32<kExact> a[kRows];
#pragma unroll
      for (int m = 0; m < kRows; ++m) a[m] = load_operand<kExact>(a_address + m * 16 * kScoreRowBytes + inner * 32);
#pragma unroll
      for (int d = 0; d < kDims; ++d) {
        const char* const pairs = keys + inner * 8 * kRowBytes + d * 64;
        const float2 even = *reinterpret_cast<const float2*>(pairs);
        const float2 odd = *reinterpret_cast<const float2*>(pairs + kRowBytes);
        multiply(dq, 2 * d, a, to_operand_from_tile<kExact>(even.x, odd.x, even.y, odd.y));
      }
    }
    float* const head = p_.dq.head(place_.batch(), place_.head()) + dim + lane_ % 4 * 4;
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int query = step * kTile.streamed_rows + row + m * 16 + half * 8 + lane_ / 4;
        if (query >= p_.seq_q) continue;
        float* const line = head + query * p_.dq.row_stride;
#pragma unroll
        for (int d = 0; d < kDims; ++d) add_quad(line + d * 16, dq[m][2 * d], dq[m][2 * d + 1], half);
      }
    }
  }

  __device__ __forceinline__ void add_quad(float* destination, const float (&even)[4], const float (&odd)[4],
                                           int half) const {
    const float quad[4]{even[2 * half] * p_.scale, odd[2 * half] * p_.scale, even[2 * half + 1] * p_.scale,
                        odd[2 * half + 1] * p_.scale};
    if (p_.dq.vectors) return add_4(destination, quad);
#pragma unroll
    for (int i = 0; i < 4; ++i) atomicAdd(destination + i, quad[i]);
  }

  __device__ __forceinline__ void finish() const {
    const bool forgets_scale = !kQueriesKept && planted(PlantedFault::kDkScale);
    const auto scale = [&](int, int) { return forgets_scale ? 1.0f : p_.scale; };
    const auto one = [](int, int) { return 1.0f; };
    store_rows<kHeadDim>(keys_, kQueriesKept ? p_.dq : p_.dk, place_, first_row_ + warp_row_, kept_extent(), lane_,
                         scale);
    if constexpr (!kQueriesKept)
      store_rows<kHeadDim>(values_, p_.dv, place_, first_row_ + warp_row_, kept_extent(), lane_, one);
  }

  const Backward32Parameters& p_;
  char* shared_;
  int warp_, lane_;
  BlockPlace place_;
  int warp_row_, first_row_;  // of the warp in the block; of the block
  Accumulator keys_ = {};     // or of the queries
  Accumulator values_ = {};
  float row_lse_[kRowBlocks][2], row_delta_[kRowBlocks][2];
};

}  // namespace tbench::kernels
