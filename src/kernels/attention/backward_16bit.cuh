// Backward pass, bf16 and fp16. A block keeps a tile of one pair of matrices and streams the other pair past it:
//
//   gradient of           keeps     streams    scores it computes            accumulates in registers
//   keys and values       K, V      Q, dO      S^T = K Q^T, dP^T = V dO^T    dV += P^T dO, dK += dS^T Q
//   queries               Q, dO     K, V       S = Q K^T, dP = dO V^T        dQ += dS K
//
// with P = exp(scale * S - lse), dS = P * (dP - delta), delta = rowsum(dO * O). Both keep the scores in registers: they
// are the left operand of the next product as they stand, because the kept matrix gives their rows.
//
// Two ways to all three gradients. `kAtomic`: blocks of keys and values also compute dQ's share of their tile, dS
// crossing shared memory, and add it to float32 sums in the workspace; a kernel before sets delta and clears the sums,
// one after converts them. Five products. `kSplit`: blocks of both kinds in one launch, no sums, no atomic additions,
// the same bits every time. Seven products, which short sequences do not feel and launches they do.
#pragma once

#include "plan_16bit.hpp"
#include "planted_fault.cuh"
#include "row_products.cuh"
#include "warp_products_16bit.cuh"

namespace tbench::kernels {

template <class Element>
struct BackwardParameters {
  Matrix<const Element> q, k, v, o, grad_o;
  const float* lse;    // [batch, heads, seq_q]; kAtomic: in base 2, as the kernel before has left it
  const float* delta;  // [batch, heads, seq_q]; null: each block computes what it needs
  Matrix<Element> dq, dk, dv;
  float* delta_out;       // the same, for the kernel that computes it
  float* base_2_lse_out;  // kAtomic: lse * log2(e), from that kernel
  float* dq_sums;  // kAtomic: [batch, heads, query blocks of 16, head_dim / 8, lane, 4], see add_query_gradient()
  int heads, seq_q, seq_kv;
  int query_blocks;  // of 16, of a head, as the sums are allocated
  int kv_tiles;      // kSplit: blocks of keys, before those of queries
  float scale;
  bool causal;
};

enum class Gradient { kKeysAndValues, kKeys, kValues, kQueries };

template <class Element, int kHeadDim, class Tile, Gradient kGradient, bool kAtomic>
class BackwardBlock {
  static constexpr BackwardTile kTile = Tile::tile(kHeadDim);
  static constexpr bool kQueriesKept = kGradient == Gradient::kQueries;
  static constexpr bool kWithValues = kGradient == Gradient::kKeysAndValues || kGradient == Gradient::kValues;
  static constexpr bool kWithKeys = kGradient != Gradient::kValues;  // or queries: the product with dS
  static constexpr int kThreads = kTile.warps * kWarpSize;
  static constexpr int kRowBlocks = kTile.kept_rows / kTile.warps / 16;  // of a warp
  static constexpr int kColBlocks = kTile.cols_at_once / 8;
  static constexpr int kDimBlocks = kHeadDim / 8;
  static constexpr int kRowBytes = row_bytes<Element>(kHeadDim);
  static constexpr int kKeptBytes = kTile.kept_rows * kRowBytes;
  static constexpr int kStreamedBytes = kTile.streamed_rows * kRowBytes;
  static constexpr int kScoreRowBytes = row_bytes<Element>(kTile.streamed_rows);
  // With two buffers of dS its product with K waits for the next step's barrier: one barrier a step instead of two.
  static constexpr bool kDelayed = kAtomic && kTile.score_stages > 1;
  static_assert(kTile.kept_rows == kTile.warps * kRowBlocks * 16, "a warp takes a whole number of 16-row blocks");
  static_assert(kTile.streamed_rows % kTile.cols_at_once == 0 && kTile.cols_at_once % 16 == 0, "columns divide evenly");
  static_assert(!kAtomic || kGradient == Gradient::kKeysAndValues, "dQ's share comes with the keys' scores");

 public:
  __device__ __forceinline__ BackwardBlock(const BackwardParameters<Element>& parameters, char* shared, int tile)
      : p_{parameters},
        shared_{shared},
        kept_{shared_address(shared)},
        streamed_{kept_ + 2 * kKeptBytes},
        scores_{streamed_ + 2 * kTile.stages * kStreamedBytes},
        // [stages, 2, streamed_rows] float32: lse * log2(e) and delta of the queries in shared memory
        statistics_{reinterpret_cast<float*>(shared + 2 * kKeptBytes + 2 * kTile.stages * kStreamedBytes +
                                             (kAtomic ? kTile.score_stages * kTile.kept_rows * kScoreRowBytes : 0))},
        warp_{static_cast<int>(threadIdx.x) / kWarpSize},
        lane_{static_cast<int>(threadIdx.x) % kWarpSize},
        first_row_{tile * kTile.kept_rows},
        head_offset_{(static_cast<std::int64_t>(blockIdx.z) * p_.heads + blockIdx.y) * p_.seq_q} {}

  __device__ __forceinline__ void run() {
    load_kept();
    const Range range = steps();
    if (range.first < range.last) load_step(range.first, 0);
    if constexpr (kQueriesKept) read_row_statistics();
    int stage = 0;
    for (int step = range.first; step < range.last; ++step) {
      wait_copies<0>();
      // The step's tiles have come, and nobody reads the last one's any more.
      if (!planted(PlantedFault::kBackwardBarrier)) __syncthreads();
      if (kTile.stages > 1 && step + 1 < range.last) load_step(step + 1, stage ^ 1);
      if constexpr (kDelayed) {
        if (step > range.first) add_query_gradient(step - 1);
        score_stage_ = kTile.kept_rows * kScoreRowBytes - score_stage_;
      }
      if (needs_mask(step)) {
        advance<true>(step, stage);
      } else {
        advance<false>(step, stage);
      }
      if (kTile.stages > 1) {
        stage ^= 1;
      } else if (step + 1 < range.last) {
        __syncthreads();
        load_step(step + 1, 0);
      }
    }
    if constexpr (kDelayed) {
      __syncthreads();
      add_query_gradient(range.last - 1);
    }
    finish();
  }

 private:
  struct Range {
    int first, last;
  };

  __device__ __forceinline__ const Matrix<const Element>& kept_matrix(int i) const {
    return kQueriesKept ? (i == 0 ? p_.q : p_.grad_o) : (i == 0 ? p_.k : p_.v);
  }
  __device__ __forceinline__ const Matrix<const Element>& streamed_matrix(int i) const {
    return kQueriesKept ? (i == 0 ? p_.k : p_.v) : (i == 0 ? p_.q : p_.grad_o);
  }
  __device__ __forceinline__ int kept_extent() const { return kQueriesKept ? p_.seq_q : p_.seq_kv; }
  __device__ __forceinline__ int streamed_extent() const { return kQueriesKept ? p_.seq_kv : p_.seq_q; }

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
      const Matrix<const Element>& matrix = kept_matrix(i);
      load_tile<Element, kTile.kept_rows, kHeadDim, kThreads, true>(
          kept_ + i * kKeptBytes, matrix.head(blockIdx.z, blockIdx.y), matrix.row_stride, matrix.vectors, first_row_,
          kept_extent());
    }
    if constexpr (kQueriesKept) load_statistics<kTile.kept_rows>(first_row_, statistics_);
  }

  __device__ __forceinline__ void load_step(int step, int stage) {
    delay_one_warp(PlantedFault::kBackwardBarrier);
    if ((step + 1) * kTile.streamed_rows <= streamed_extent()) {
      load_streamed<false>(step, stage);
    } else {
      load_streamed<true>(step, stage);
    }
    if constexpr (!kQueriesKept) {
      load_statistics<kTile.streamed_rows>(step * kTile.streamed_rows, statistics_ + 2 * stage * kTile.streamed_rows);
    }
    commit_copies();
  }

  template <bool kChecked>
  __device__ __forceinline__ void load_streamed(int step, int stage) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const Matrix<const Element>& matrix = streamed_matrix(i);
      load_tile<Element, kTile.streamed_rows, kHeadDim, kThreads, kChecked>(
          streamed_ + (2 * stage + i) * kStreamedBytes, matrix.head(blockIdx.z, blockIdx.y), matrix.row_stride,
          matrix.vectors, step * kTile.streamed_rows, streamed_extent());
    }
  }

  /// lse and delta of `kRows` queries, zero after the end.
  template <int kRows>
  __device__ __forceinline__ void load_statistics(int first_query, float* destination) const {
    for (int i = static_cast<int>(threadIdx.x); i < kRows; i += kThreads) {
      const bool valid = first_query + i < p_.seq_q;
      const std::int64_t source = head_offset_ + (valid ? first_query + i : 0);
      copy_4_async(shared_address(destination + i), p_.lse + source, valid);
      if (p_.delta != nullptr) copy_4_async(shared_address(destination + kRows + i), p_.delta + source, valid);
    }
    if constexpr (!kAtomic) {
      if (p_.delta == nullptr) {
        row_products<Element, kHeadDim, kRows, kThreads>(p_.o, p_.grad_o, first_query, p_.seq_q, destination + kRows);
      }
    }
  }

  /// Queries kept: a thread's rows keep their statistics in registers.
  __device__ __forceinline__ void read_row_statistics() {
    wait_copies<0>();
    __syncthreads();
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = (warp_ * kRowBlocks + m) * 16 + half * 8 + lane_ / 4;
        row_lse_[m][half] = statistics_[row] * kLog2E;
        row_delta_[m][half] = statistics_[kTile.kept_rows + row];
      }
    }
  }

  using Scores = float[kRowBlocks][kColBlocks][4];
  using Operand = std::uint32_t[kRowBlocks][kColBlocks][2];
  using Accumulator = float[kRowBlocks][kDimBlocks][4];

  template <bool kMasked>
  __device__ __forceinline__ void advance(int step, int stage) {
    const std::uint32_t first = streamed_ + 2 * stage * kStreamedBytes, second = first + kStreamedBytes;
    const float* const statistics = statistics_ + 2 * stage * kTile.streamed_rows;
#pragma unroll 1
    for (int col = 0; col < kTile.streamed_rows; col += kTile.cols_at_once) {
      Scores s = {};
      multiply_by_transposed<Element, kHeadDim>(s, lane_, kept_ + warp_ * kRowBlocks * 16 * kRowBytes,
                                                first + col * kRowBytes);
      probabilities<kMasked>(s, step * kTile.streamed_rows + col, statistics + col);
      if constexpr (kWithValues) {
        Operand p;
        pack_scores(s, p);
        if (planted(PlantedFault::kDvSkipTile) && step == 0) clear(p);
        multiply_by<Element, kHeadDim>(values_, lane_, p, second + col * kRowBytes);
      }
      if constexpr (kWithKeys) {
        Scores dp = {};
        multiply_by_transposed<Element, kHeadDim>(dp, lane_, kept_ + kKeptBytes + warp_ * kRowBlocks * 16 * kRowBytes,
                                                  second + col * kRowBytes);
        score_gradients(s, dp, statistics + kTile.streamed_rows + col);
        Operand ds;
        pack_scores(dp, ds);
        if (kQueriesKept && planted(PlantedFault::kDqSkipTile) && step == 0) clear(ds);
        multiply_by<Element, kHeadDim>(keys_, lane_, ds, first + col * kRowBytes);
        if constexpr (kAtomic) store_scores(ds, col);
      }
    }
    if constexpr (kAtomic && !kDelayed) {
      __syncthreads();  // every warp's dS is there
      add_query_gradient(step);
    }
  }

  template <bool kMasked>
  __device__ __forceinline__ void probabilities(Scores& s, int first_col, const float* col_lse) const {
    const float scale = p_.scale * kLog2E * (planted(PlantedFault::kBackwardScale) ? 1.05f : 1.0f);
#pragma unroll
    for (int n = 0; n < kColBlocks; ++n) {
      const int col = n * 8 + lane_ % 4 * 2;
      float2 lse{};
      if constexpr (!kQueriesKept) lse = *reinterpret_cast<const float2*>(col_lse + col);
#pragma unroll
      for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float shift =
              kQueriesKept ? row_lse_[m][i / 2] : (i % 2 == 0 ? lse.x : lse.y) * (kAtomic ? 1.0f : kLog2E);
          float& score = s[m][n][i];
          score = exp2_approximate(fmaf(score, scale, -shift));
          if constexpr (kMasked) {
            const int row = first_row_ + (warp_ * kRowBlocks + m) * 16 + i / 2 * 8 + lane_ / 4;
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

  __device__ __forceinline__ static void clear(Operand& packed) {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int n = 0; n < kColBlocks; ++n) packed[m][n][0] = packed[m][n][1] = 0;
    }
  }

  __device__ __forceinline__ static void pack_scores(const Scores& s, Operand& packed) {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int n = 0; n < kColBlocks; ++n) {
        packed[m][n][0] = pack<Element>(s[m][n][0], s[m][n][1]);
        packed[m][n][1] = pack<Element>(s[m][n][2], s[m][n][3]);
      }
    }
  }

  /// dS^T to shared memory, [kept row, streamed row].
  __device__ __forceinline__ void store_scores(const Operand& ds, int first_col) const {
    char* const base = shared_ + (scores_ - kept_) + score_stage_;
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int n = 0; n < kColBlocks; ++n) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = (warp_ * kRowBlocks + m) * 16 + half * 8 + lane_ / 4;
          const int col = first_col + n * 8 + lane_ % 4 * 2;
          *reinterpret_cast<std::uint32_t*>(base + row * kScoreRowBytes + col * 2) = ds[m][n][half];
        }
      }
    }
  }

  /// Adds dS K of this tile to the sums. The warps divide queries and head_dim among them. A thread's four elements of
  /// an accumulator lie side by side in the sums, so that a warp adds 512 bytes in a row.
  __device__ __forceinline__ void add_query_gradient(int step) const {
    if (planted(PlantedFault::kDqSkipTile) && first_row_ == 0) return;
    constexpr int kDimWarps = kTile.dq_dim_warps, kRowWarps = kTile.warps / kDimWarps;
    constexpr int kRows = kTile.streamed_rows / kRowWarps / 16, kDims = kDimBlocks / kDimWarps;
    static_assert(kRows >= 1 && kDims % 2 == 0, "the warps divide dQ's tile in blocks of 16 by 16");
    const int row_block = warp_ / kDimWarps * kRows, dim_block = warp_ % kDimWarps * kDims;
    // dS^T is stored [key, query]: transposed on its way in it is the left operand, 16 queries by 16 keys.
    const std::uint32_t a_address =
        scores_ + score_stage_ + column_major_offset(lane_, kScoreRowBytes) + row_block * 32;
    const std::uint32_t b_address = kept_ + row_major_offset(lane_, kRowBytes) + dim_block * 16;
    float dq[kRows][kDims][4] = {};
#pragma unroll
    for (int key = 0; key < kTile.kept_rows; key += 16) {
      std::uint32_t a[kRows][4];
#pragma unroll
      for (int m = 0; m < kRows; ++m) load_matrices_transposed(a[m], a_address + key * kScoreRowBytes + m * 32);
#pragma unroll
      for (int d = 0; d < kDims; d += 2) {
        std::uint32_t b[4];
        load_matrices_transposed(b, b_address + key * kRowBytes + d * 16);
#pragma unroll
        for (int m = 0; m < kRows; ++m) {
          multiply_16x8x16<Element>(dq[m][d], a[m], b[0], b[1]);
          multiply_16x8x16<Element>(dq[m][d + 1], a[m], b[2], b[3]);
        }
      }
    }
    const std::int64_t head = static_cast<std::int64_t>(blockIdx.z) * p_.heads + blockIdx.y;
    const std::int64_t block = head * p_.query_blocks + step * (kTile.streamed_rows / 16) + row_block;
    float* const sums = p_.dq_sums + ((block * kDimBlocks + dim_block) * kWarpSize + lane_) * 4;
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
#pragma unroll
      for (int d = 0; d < kDims; ++d) add_4(sums + (m * kDimBlocks + d) * kWarpSize * 4, dq[m][d]);
    }
  }

  /// Gradients through the kept tiles, which nobody reads any more.
  __device__ __forceinline__ void finish() {
    wait_copies<0>();
    __syncthreads();
    if constexpr (kWithKeys) {
      const bool forgets_scale = !kQueriesKept && planted(PlantedFault::kDkScale);
      write_tile(0, keys_, forgets_scale ? 1.0f : p_.scale);
    }
    if constexpr (kWithValues) write_tile(1, values_, 1.0f);
    __syncthreads();
    if constexpr (kWithKeys) store(0, kQueriesKept ? p_.dq : p_.dk);
    if constexpr (kWithValues) store(1, p_.dv);
  }

  __device__ __forceinline__ void write_tile(int i, const Accumulator& sums, float factor) const {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = (warp_ * kRowBlocks + m) * 16 + half * 8 + lane_ / 4;
        char* const line = shared_ + i * kKeptBytes + row * kRowBytes + lane_ % 4 * 4;
#pragma unroll
        for (int d = 0; d < kDimBlocks; ++d) {
          *reinterpret_cast<std::uint32_t*>(line + d * 16) =
              pack<Element>(sums[m][d][2 * half] * factor, sums[m][d][2 * half + 1] * factor);
        }
      }
    }
  }

  __device__ __forceinline__ void store(int i, const Matrix<Element>& gradient) const {
    store_tile<Element, kTile.kept_rows, kHeadDim, kThreads>(shared_ + i * kKeptBytes,
                                                             gradient.head(blockIdx.z, blockIdx.y), gradient.row_stride,
                                                             gradient.vectors, first_row_, kept_extent());
  }

  const BackwardParameters<Element>& p_;
  char* shared_;
  std::uint32_t kept_, streamed_, scores_;
  float* statistics_;
  int warp_, lane_, first_row_;
  int score_stage_ = 0;       // where this step's dS lies behind the first
  std::int64_t head_offset_;  // of the head's first query in lse and delta
  Accumulator keys_ = {};     // or of the queries
  Accumulator values_ = {};
  float row_lse_[kRowBlocks][2], row_delta_[kRowBlocks][2];
};

}  // namespace tbench::kernels
