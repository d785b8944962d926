// Forward pass, float32 storage, with the same loop as sm80/fwd/kernel_16bit.cuh: one CTA owns a Q tile of one head and
// takes the head's K/V tiles last tile first, with one or two stages of K and V. The products are in
// sm80/common/mma_tf32.cuh.
//
// A warp takes 32 queries if registers allow. A fragment of K or V then serves two products. Shared memory delivers one
// fragment in the time of about two products and therefore does not limit the speed.
#pragma once

#include <cmath>

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/common/softmax.cuh"
#include "kernels/attention/sm80/common/mma_tf32.cuh"
#include "kernels/attention/sm80/common/split_warps.cuh"
#include "kernels/attention/sm80/fwd/params.cuh"

namespace tbench::kernels::sm80 {

template <bool k3xTf32, int kHeadDim, class Tile>
class FwdFp32Mainloop {
  static constexpr FwdConfig kTile = Tile::tile(kHeadDim);
  static constexpr int kThreads = kTile.warps * kWarpSize;
  static constexpr int kRowWarps = kTile.warps / kTile.split_warps;
  static constexpr int kRowBlocks = kTile.rows / kRowWarps / 16;    // blocks of 16 queries per warp
  static constexpr int kWarpCols = kTile.cols / kTile.split_warps;  // keys per step and warp
  static constexpr int kColBlocks = kWarpCols / 8;
  static constexpr int kRowBytes = row_bytes<float>(kHeadDim);
  static_assert(kTile.rows == kRowWarps * kRowBlocks * 16, "a warp takes a whole number of 16-row blocks");
  static_assert(kTile.warps == kRowWarps * kTile.split_warps && kTile.cols == kWarpCols * kTile.split_warps,
                "groups divide warps and keys evenly");
  static_assert(kHeadDim % 16 == 0 && kWarpCols % 16 == 0, "right operands are loaded in pairs of 8 columns");

 public:
  __device__ __forceinline__ FwdFp32Mainloop(const FwdParams<float>& parameters, char* shared)
      : p_{parameters},
        shared_{shared},
        lane_{static_cast<int>(threadIdx.x) % kWarpSize},
        place_{schedule_tile(p_.causal)},
        // The heaviest tiles come first: with a causal mask the last queries see the most keys.
        first_row_{(p_.causal ? static_cast<int>(gridDim.x) - 1 - place_.tile : place_.tile) * kTile.rows},
        warp_row_{row_warp<kTile.warps, kTile.split_warps>(static_cast<int>(threadIdx.x) / kWarpSize) * kRowBlocks *
                  16} {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) row_max_[m][0] = row_max_[m][1] = -INFINITY;
  }

  __device__ __forceinline__ void run() {
    const int last_col = p_.causal ? min(p_.seq_kv, first_row_ + kTile.rows) : p_.seq_kv;
    const int steps = (last_col + kTile.cols - 1) / kTile.cols;
    // First step whose tile crosses the diagonal or the end.
    const int first_masked = (p_.causal ? first_row_ : p_.seq_kv) / kTile.cols;
    load_tile<float, kTile.rows, kHeadDim, kThreads, true>(shared_address(shared_),
                                                           p_.q.head(place_.batch(), place_.head()), p_.q.row_stride,
                                                           p_.q.vectors, first_row_, p_.seq_q);
    load_step<true>(kKeys, p_.k, steps - 1);
    if constexpr (kTile.stages > 1) load_step<true>(kValues, p_.v, steps - 1);
    cp_async_wait_group<kTile.stages - 1>();
    if constexpr (k3xTf32) {
      split_own_elements<kTile.rows, kHeadDim, kThreads>(shared_, shared_ + kSmallQueries, p_.q.vectors);
    } else {
      round_own_elements<kTile.rows, kHeadDim, kThreads>(shared_, p_.q.vectors);
    }
    int step = steps - 1;
    for (; step >= first_masked; --step) advance<true>(step);
    for (; step >= (injected(InjectedFault::kForwardSkipTile) ? 1 : 0); --step) advance<false>(step);
    if constexpr (kTile.split_warps > 1) {
      finish_split_warps();
    } else {
      finish();
    }
  }

 private:
  using Scores = float[kRowBlocks][kColBlocks][4];
  static constexpr bool kRounded = kRoundsStreamedTiles<k3xTf32, kTile.split_warps>;
  static_assert(kTile.query_parts == (k3xTf32 ? 2 : 1), "every step reads the queries: they are split once");
  static constexpr int kSmallQueries = (kTile.query_parts - 1) * kTile.rows * kRowBytes;  // byte offsets of tiles
  static constexpr int kKeys = kTile.query_parts * kTile.rows * kRowBytes;
  static constexpr int kStageBytes = kTile.cols * kRowBytes;
  static constexpr int kValues = kKeys + kTile.stages * kStageBytes;
  // Byte offset of the split warps' row statistics, [groups, rows] pairs of maximum and sum. At the end of the kernel
  // they follow the groups' sums, which start at offset 0.
  static constexpr int kStatistics = kTile.split_warps * kTile.rows * kRowBytes;
  static_assert(kTile.split_warps == 1 ||
                    kStatistics + kTile.split_warps * kTile.rows * static_cast<int>(sizeof(float2)) <=
                        kValues + kTile.stages * kStageBytes,
                "the tiles' memory holds the groups' sums");

  /// Index of the warp's share of a step's keys and, below, the share's first column.
  __device__ __forceinline__ int warp_split() const {
    return split_of_warp<kTile.warps, kTile.split_warps>(static_cast<int>(threadIdx.x) / kWarpSize);
  }
  __device__ __forceinline__ int warp_col() const { return warp_split() * kWarpCols; }

  template <bool kChecked>
  __device__ __forceinline__ void load_step(int tile, const GlobalMatrix<const float>& matrix, int step) {
    delay_one_warp(InjectedFault::kForwardBarrier);
    load_tile<float, kTile.cols, kHeadDim, kThreads, kChecked>(
        shared_address(shared_) + tile, matrix.head(place_.batch(), place_.head()), matrix.row_stride, matrix.vectors,
        step * kTile.cols, p_.seq_kv);
    cp_async_commit_group();
  }

  __device__ __forceinline__ void round_step(int tile, const GlobalMatrix<const float>& matrix) {
    if constexpr (kRounded) round_own_elements<kTile.cols, kHeadDim, kThreads>(shared_ + tile, matrix.vectors);
  }

  template <bool kMasked>
  __device__ __forceinline__ void advance(int step) {
    // If the causal mask hides all of the warp's keys from all of its queries, the warp skips the step's products.
    const bool active =
        !kMasked || !p_.causal || step * kTile.cols + warp_col() < first_row_ + warp_row_ + kRowBlocks * 16;
    cp_async_wait_group<0>();
    round_step(kKeys + stage_, p_.k);
    if constexpr (kTile.stages > 1) round_step(kValues + stage_, p_.v);
    // After this barrier K has arrived, and no warp still reads V of the preceding step.
    if (!injected(InjectedFault::kForwardBarrier)) __syncthreads();
    Scores s = {};
    if constexpr (kTile.stages > 1) {
      if (step > 0) {
        load_step<false>(kKeys + kStageBytes - stage_, p_.k, step - 1);
        load_step<false>(kValues + kStageBytes - stage_, p_.v, step - 1);
      }
      if (active) multiply_scores(s);
    } else {
      load_step<kMasked>(kValues, p_.v, step);
      if (active) multiply_scores(s);
      cp_async_wait_group<0>();
      round_step(kValues, p_.v);
      __syncthreads();  // V has arrived, and no warp still reads K
      if (step > 0) load_step<false>(kKeys, p_.k, step - 1);
    }
    if (active) {
      if constexpr (kMasked) mask(s, step * kTile.cols + warp_col());
      softmax<kMasked>(s);
      accumulate_rows<k3xTf32, kRounded, kHeadDim>(
          o_, s, shared_ + kValues + stage_ + warp_col() * kRowBytes + rows_offset(lane_, kRowBytes));
    }
    if constexpr (kTile.stages > 1) stage_ = kStageBytes - stage_;
  }

  __device__ __forceinline__ void multiply_scores(Scores& s) const {
    const std::uint32_t tiles = shared_address(shared_);
    multiply_rows<k3xTf32, kRounded, kHeadDim, kSmallQueries>(
        s, tiles + warp_row_ * kRowBytes + left_offset(lane_, kRowBytes),
        tiles + kKeys + stage_ + warp_col() * kRowBytes + right_offset(lane_, kRowBytes));
  }

  __device__ __forceinline__ void mask(Scores& s, int first_col) const {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int n = 0; n < kColBlocks; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int col = first_col + n * 8 + lane_ % 4 * 2 + i % 2;
          const int row = first_row_ + warp_row_ + m * 16 + lane_ / 4 + i / 2 * 8;
          const int last = injected(InjectedFault::kForwardMask) ? row + 1 : row;
          if (col >= p_.seq_kv || (p_.causal && col > last)) s[m][n][i] = -INFINITY;
        }
      }
    }
  }

  /// Factor that converts a score to an exponent to base 2.
  __device__ __forceinline__ float exponent_scale() const {
    return p_.scale * kLog2E * (injected(InjectedFault::kForwardScale) ? 1.05f : 1.0f);
  }

  /// Updates maxima and sums, rescales O, and replaces scores by exp2(scale * (s - maximum)).
  template <bool kMasked>
  __device__ __forceinline__ void softmax(Scores& s) {
    const float scale = exponent_scale();
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float maximum = row_max_[m][half];
#pragma unroll
        for (int n = 0; n < kColBlocks; ++n) maximum = fmaxf(maximum, fmaxf(s[m][n][2 * half], s[m][n][2 * half + 1]));
        maximum = fmaxf(maximum, __shfl_xor_sync(kFullWarp, maximum, 1));
        maximum = fmaxf(maximum, __shfl_xor_sync(kFullWarp, maximum, 2));
        // If the row has seen no key yet, any finite shift avoids -infinity - (-infinity).
        const float shift = kMasked && maximum == -INFINITY ? 0.0f : maximum;
        const float rescale = exp2_approximate((row_max_[m][half] - shift) * scale);
        row_max_[m][half] = maximum;
        float sum = 0.0f;
#pragma unroll
        for (int n = 0; n < kColBlocks; ++n) {
#pragma unroll
          for (int i = 2 * half; i < 2 * half + 2; ++i) {
            // Subtracting first keeps large scores exact. With TF32 products there is time for only one multiply-add.
            s[m][n][i] =
                exp2_approximate(k3xTf32 ? (s[m][n][i] - shift) * scale : fmaf(s[m][n][i], scale, -shift * scale));
            sum += s[m][n][i];
          }
        }
        sum_[m][half] = sum_[m][half] * rescale + sum;
#pragma unroll
        for (int d = 0; d < kHeadDim / 8; ++d) {
          o_[m][d][2 * half] *= rescale;
          o_[m][d][2 * half + 1] *= rescale;
        }
      }
    }
  }

  /// Stores lse, and O divided by the sum directly from registers.
  __device__ __forceinline__ void finish() {
    float* const lse = p_.lse + (static_cast<std::int64_t>(place_.batch()) * p_.heads + place_.head()) * p_.seq_q;
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        sum_[m][half] = quad_sum(sum_[m][half]);
        const int row = first_row_ + warp_row_ + m * 16 + half * 8 + lane_ / 4;
        const float log = logarithm(sum_[m][half]);
        if (lane_ % 4 == 0 && row < p_.seq_q) lse[row] = row_max_[m][half] * p_.scale + log;
      }
    }
    store_rows<kHeadDim>(o_, p_.o, place_, first_row_ + warp_row_, p_.seq_q, lane_,
                         [&](int m, int half) { return 1.0f / sum_[m][half]; });
  }

  /// Stores O and lse if split warps have each seen a part of a row's keys, or none of them (a maximum of -infinity,
  /// sums of 0). All shares are rescaled to the common maximum.
  __device__ __forceinline__ void finish_split_warps() {
    float* const lse = p_.lse + (static_cast<std::int64_t>(place_.batch()) * p_.heads + place_.head()) * p_.seq_q;
    float2* const statistics = reinterpret_cast<float2*>(shared_ + kStatistics);
    __syncthreads();  // after this barrier no warp reads the tiles
    float factor[kRowBlocks][2];
    combine_split_warps<kTile.rows, kTile.split_warps>(
        row_max_, sum_, exponent_scale(), warp_split(), warp_row_, lane_, statistics, factor,
        [&](int row, float maximum, float sum) {
          const float log = logarithm(sum);
          if (warp_split() == 0 && lane_ % 4 == 0 && first_row_ + row < p_.seq_q) {
            lse[first_row_ + row] = maximum * p_.scale + log;
          }
        });
    store_split_warps_sums<kHeadDim, kTile.rows, kTile.split_warps, kThreads>(
        o_, shared_, warp_split() * kTile.rows + warp_row_, p_.o, place_, first_row_, p_.seq_q,
        [&](int m, int half) { return factor[m][half]; });
  }

  const FwdParams<float>& p_;
  char* shared_;
  int lane_;
  TileScheduler place_;
  int stage_ = 0;             // offset of this step's K and V from the first stages, in bytes
  int first_row_, warp_row_;  // first row of the CTA; first row of the warp in the CTA
  float o_[kRowBlocks][kHeadDim / 8][4] = {};
  float row_max_[kRowBlocks][2];
  float sum_[kRowBlocks][2] = {};
};

}  // namespace tbench::kernels::sm80
