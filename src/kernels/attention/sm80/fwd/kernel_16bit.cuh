// Forward pass, bf16 and fp16. One CTA owns a Q tile of one head and iterates over the head's K/V tiles, or over a part
// of them (sm80/fwd/split_kv_combine.cuh), last tile first: tiles that need a mask come first, and a loop without masks
// follows. Scores never leave the registers: the accumulators of S = Q K^T have the layout of the left operand of O +=
// P V.
//
// With one stage of K and of V, a step's V is loaded during Q K^T, and the next step's K during P V; the SM's second
// CTA computes while this CTA waits. With two stages a step's loads overlap the whole preceding step.
#pragma once

#include <cmath>

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/common/softmax.cuh"
#include "kernels/attention/common/warp_reduce.cuh"
#include "kernels/attention/sm80/common/mma_16bit.cuh"
#include "kernels/attention/sm80/common/split_warps.cuh"
#include "kernels/attention/sm80/fwd/split_kv_combine.cuh"

namespace tbench::kernels::sm80 {

template <class Element, int kHeadDim, class Tile>
class FwdMainloop {
  static constexpr FwdConfig kTile = Tile::tile(kHeadDim);
  static constexpr int kThreads = kTile.warps * kWarpSize;
  static constexpr int kRowWarps = kTile.warps / kTile.split_warps;
  static constexpr int kRowBlocks = kTile.rows / kRowWarps / 16;    // blocks of 16 queries per warp
  static constexpr int kWarpCols = kTile.cols / kTile.split_warps;  // keys per step and warp
  static constexpr int kColBlocks = kWarpCols / 8;
  static constexpr int kDimBlocks = kHeadDim / 8;
  static constexpr int kRowBytes = row_bytes<Element>(kHeadDim);
  static constexpr int kStageBytes = kTile.cols * kRowBytes;
  static_assert(kTile.rows == kRowWarps * kRowBlocks * 16, "a warp takes a whole number of 16-row blocks");
  static_assert(kTile.warps == kRowWarps * kTile.split_warps && kTile.cols == kWarpCols * kTile.split_warps,
                "groups divide warps and keys evenly");
  static_assert(kHeadDim % 16 == 0 && kWarpCols % 16 == 0, "a matrix product takes 16 of the inner extent");
  static_assert(!kTile.split_kv || kTile.split_warps == 1, "keys are divided among blocks or among their warps");

 public:
  __device__ __forceinline__ FwdMainloop(const FwdParams<Element>& parameters, char* shared)
      : p_{parameters},
        q_tile_{shared_address(shared)},
        k_tile_{q_tile_ + kTile.rows * kRowBytes},
        v_tile_{k_tile_ + kTile.stages * kTile.cols * kRowBytes},
        shared_{shared},
        row_warp_{row_warp<kTile.warps, kTile.split_warps>(static_cast<int>(threadIdx.x) / kWarpSize)},
        lane_{static_cast<int>(threadIdx.x) % kWarpSize},
        // The heaviest tiles come first: with a causal mask the last queries see the most keys.
        first_row_{static_cast<int>(p_.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * kTile.rows} {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) row_max_[m][0] = row_max_[m][1] = -INFINITY;
  }

  __device__ __forceinline__ void run() {
    const std::int64_t head = blockIdx.y, batch = kTile.split_kv ? blockIdx.z / p_.splits.num_splits : blockIdx.z;
    const Element* const k = p_.k.head(batch, head);
    const Element* const v = p_.v.head(batch, head);
    int last_col = p_.causal ? min(p_.seq_kv, first_row_ + kTile.rows) : p_.seq_kv;
    if constexpr (kTile.split_kv) {
      if (first_step() * kTile.cols >= last_col) return;  // the mask hides all keys of this CTA's part
      last_col = min(last_col, first_step() * kTile.cols + p_.splits.keys);
    }
    const int steps = (last_col + kTile.cols - 1) / kTile.cols;
    // First step whose tile crosses the diagonal or the end.
    int first_masked = (p_.causal ? first_row_ : p_.seq_kv) / kTile.cols;
    if constexpr (kTile.split_kv) first_masked = max(first_masked, first_step());
    load_tile<Element, kTile.rows, kHeadDim, kThreads, true>(q_tile_, p_.q.head(batch, head), p_.q.row_stride,
                                                             p_.q.vectors, first_row_, p_.seq_q);
    load_step<true>(k_tile_, k, p_.k, steps - 1);
    if constexpr (kTile.stages > 1) load_step<true>(v_tile_, v, p_.v, steps - 1);
    int step = steps - 1;
    for (; step >= first_masked; --step) advance<true>(k, v, step);
    for (; step >= first_step() + (injected(InjectedFault::kForwardSkipTile) ? 1 : 0); --step)
      advance<false>(k, v, step);
    if constexpr (kTile.split_kv) {
      finish_split(batch, head);
    } else if constexpr (kTile.split_warps > 1) {
      finish_split_warps(batch, head);
    } else {
      finish(batch, head);
    }
  }

 private:
  // Byte offset of the split warps' row statistics, [groups, rows] pairs of reference and sum. At the end of the kernel
  // they follow the groups' sums, which start at offset 0.
  static constexpr int kStatistics = kTile.split_warps * kTile.rows * row_bytes<float>(kHeadDim);
  static_assert(kTile.split_warps == 1 ||
                    kStatistics + kTile.split_warps * kTile.rows * static_cast<int>(sizeof(float2)) <=
                        kTile.rows * kRowBytes + 2 * kTile.stages * kStageBytes,
                "the tiles' memory holds the groups' sums");

  /// Index of the warp's share of a step's keys and, below, the share's first column.
  __device__ __forceinline__ int warp_split() const {
    return split_of_warp<kTile.warps, kTile.split_warps>(static_cast<int>(threadIdx.x) / kWarpSize);
  }
  __device__ __forceinline__ int warp_col() const { return warp_split() * kWarpCols; }
  /// Split-KV: index of the CTA's part of the keys and, below, the part's first step.
  __device__ __forceinline__ int split() const { return static_cast<int>(blockIdx.z) % p_.splits.num_splits; }
  __device__ __forceinline__ int first_step() const {
    return kTile.split_kv ? split() * (p_.splits.keys / kTile.cols) : 0;
  }
  /// First of the warp's rows in the CTA.
  __device__ __forceinline__ int warp_row() const { return row_warp_ * kRowBlocks * 16; }

  template <bool kChecked>
  __device__ __forceinline__ void load_step(std::uint32_t tile, const Element* head,
                                            const GlobalMatrix<const Element>& matrix, int step) {
    delay_one_warp(InjectedFault::kForwardBarrier);
    load_tile<Element, kTile.cols, kHeadDim, kThreads, kChecked>(tile, head, matrix.row_stride, matrix.vectors,
                                                                 step * kTile.cols, p_.seq_kv);
    cp_async_commit_group();
  }

  template <bool kMasked>
  __device__ __forceinline__ void advance(const Element* k, const Element* v, int step) {
    cp_async_wait_group<0>();
    // After this barrier K has arrived, and no warp still reads V of the preceding step.
    if (!injected(InjectedFault::kForwardBarrier)) __syncthreads();
    float s[kRowBlocks][kColBlocks][4] = {};
    if constexpr (kTile.stages > 1) {
      const int other = kStageBytes - stage_;
      if (step > first_step()) {
        load_step<false>(k_tile_ + other, k, p_.k, step - 1);
        load_step<false>(v_tile_ + other, v, p_.v, step - 1);
      }
      multiply_scores(s);
    } else {
      load_step<kMasked>(v_tile_, v, p_.v, step);
      multiply_scores(s);
      cp_async_wait_group<0>();
      __syncthreads();  // V has arrived, and no warp still reads K
      if (step > first_step()) load_step<false>(k_tile_, k, p_.k, step - 1);
    }
    if constexpr (kMasked) mask(s, step * kTile.cols + warp_col());
    std::uint32_t probabilities[kRowBlocks][kColBlocks][2];
    softmax<kMasked>(s, probabilities);
    multiply_by<Element, kHeadDim>(o_, lane_, probabilities, v_tile_ + stage_ + warp_col() * kRowBytes);
    if constexpr (kTile.stages > 1) stage_ = kStageBytes - stage_;
  }

  __device__ __forceinline__ void multiply_scores(float (&s)[kRowBlocks][kColBlocks][4]) const {
    multiply_by_transposed<Element, kHeadDim>(s, lane_, q_tile_ + row_warp_ * kRowBlocks * 16 * kRowBytes,
                                              k_tile_ + stage_ + warp_col() * kRowBytes);
  }

  __device__ __forceinline__ void mask(float (&s)[kRowBlocks][kColBlocks][4], int first_col) const {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int n = 0; n < kColBlocks; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int col = first_col + n * 8 + lane_ % 4 * 2 + i % 2;
          const int row = first_row_ + (row_warp_ * kRowBlocks + m) * 16 + lane_ / 4 + i / 2 * 8;
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

  /// Computes exp2(scale * (s - row_max)) as operands and adds them to the sums. A row's row_max_ is an earlier maximum
  /// of its scores, updated lazily: it rises, and O and the sum are rescaled, only if the exponentials of some row of
  /// the warp would exceed 2^kSlack, which is rare after the first steps. Accuracy does not suffer, because row_max_
  /// cancels at the end.
  template <bool kMasked>
  __device__ __forceinline__ void softmax(const float (&s)[kRowBlocks][kColBlocks][4],
                                          std::uint32_t (&probabilities)[kRowBlocks][kColBlocks][2]) {
    constexpr float kSlack = 8.0f;  // 2^8 is far below the largest number of every format
    const float scale = exponent_scale();
    float maximum[kRowBlocks][2];
    bool risen = false;
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float of_row = s[m][0][2 * half];
#pragma unroll
        for (int n = 0; n < kColBlocks; ++n) of_row = fmaxf(of_row, fmaxf(s[m][n][2 * half], s[m][n][2 * half + 1]));
        of_row = fmaxf(of_row, __shfl_xor_sync(kFullWarp, of_row, 1));
        of_row = fmaxf(of_row, __shfl_xor_sync(kFullWarp, of_row, 2));
        maximum[m][half] = of_row;
        risen = risen || (of_row - row_max_[m][half]) * scale > kSlack;
      }
    }
    if (__any_sync(kFullWarp, risen)) raise_row_max(maximum, scale);
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // If the row has seen no key yet, any finite shift avoids -infinity - (-infinity).
        const float shift = (kMasked && row_max_[m][half] == -INFINITY ? 0.0f : row_max_[m][half]) * scale;
#pragma unroll
        for (int n = 0; n < kColBlocks; ++n) {
          const float low = exp2_approximate(fmaf(s[m][n][2 * half], scale, -shift));
          const float high = exp2_approximate(fmaf(s[m][n][2 * half + 1], scale, -shift));
          sum_[m][half] += low + high;
          probabilities[m][n][half] = pack<Element>(low, high);
        }
      }
    }
  }

  __device__ __forceinline__ void raise_row_max(const float (&maximum)[kRowBlocks][2], float scale) {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float raised = fmaxf(row_max_[m][half], maximum[m][half]);
        const float shift = (raised == -INFINITY ? 0.0f : raised) * scale;
        const float rescale = exp2_approximate(fmaf(row_max_[m][half], scale, -shift));
        row_max_[m][half] = raised;
        sum_[m][half] *= rescale;
#pragma unroll
        for (int d = 0; d < kDimBlocks; ++d) {
          o_[m][d][2 * half] *= rescale;
          o_[m][d][2 * half + 1] *= rescale;
        }
      }
    }
  }

  /// Stores lse, and O divided by the sum. O passes through the memory of the Q tile, which is no longer needed.
  __device__ __forceinline__ void finish(std::int64_t batch, std::int64_t head) {
    __syncthreads();
    float* const lse = p_.lse + (batch * p_.heads + head) * p_.seq_q;
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float sum = quad_sum(sum_[m][half]);
        const int row = (row_warp_ * kRowBlocks + m) * 16 + half * 8 + lane_ / 4;
        if (lane_ % 4 == 0 && first_row_ + row < p_.seq_q) {
          lse[first_row_ + row] = row_max_[m][half] * p_.scale + logarithm(sum);
        }
        const float inverse = 1.0f / sum;
        char* const line = shared_ + row * kRowBytes + lane_ % 4 * 4;
#pragma unroll
        for (int d = 0; d < kDimBlocks; ++d) {
          *reinterpret_cast<std::uint32_t*>(line + d * 16) =
              pack<Element>(o_[m][d][2 * half] * inverse, o_[m][d][2 * half + 1] * inverse);
        }
      }
    }
    __syncthreads();
    store_tile<Element, kTile.rows, kHeadDim, kThreads>(shared_, p_.o.head(batch, head), p_.o.row_stride, p_.o.vectors,
                                                        first_row_, p_.seq_q);
  }

  /// Stores O and lse if split warps have each seen a part of a row's keys.
  __device__ __forceinline__ void finish_split_warps(std::int64_t batch, std::int64_t head) {
    float* const lse = p_.lse + (batch * p_.heads + head) * p_.seq_q;
    float2* const statistics = reinterpret_cast<float2*>(shared_ + kStatistics);
    __syncthreads();  // after this barrier no warp reads the tiles
    float factor[kRowBlocks][2];
    combine_split_warps<kTile.rows, kTile.split_warps>(
        row_max_, sum_, exponent_scale(), warp_split(), warp_row(), lane_, statistics, factor,
        [&](int row, float reference, float sum) {
          const float log = logarithm(sum);
          if (warp_split() == 0 && lane_ % 4 == 0 && first_row_ + row < p_.seq_q) {
            lse[first_row_ + row] = reference * p_.scale + log;
          }
        });
    store_split_warps_sums<kHeadDim, kTile.rows, kTile.split_warps, kThreads>(
        o_, shared_, warp_split() * kTile.rows + warp_row(), p_.o, schedule_tile(false), first_row_, p_.seq_q,
        [&](int m, int half) { return factor[m][half]; });
  }

  /// Stores O divided by the sum, and lse, for the CTA's part of the keys, to the workspace.
  __device__ __forceinline__ void finish_split(std::int64_t batch, std::int64_t head) const {
    const std::int64_t first = ((batch * p_.heads + head) * p_.splits.num_splits + split()) * p_.seq_q + first_row_;
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float sum = quad_sum(sum_[m][half]);
        const int row = warp_row() + m * 16 + half * 8 + lane_ / 4;
        if (first_row_ + row >= p_.seq_q) continue;
        if (lane_ % 4 == 0) p_.splits.lse[first + row] = row_max_[m][half] * p_.scale + logf(sum);
        const float inverse = 1.0f / sum;
        float* const line = p_.splits.o + (first + row) * kHeadDim + lane_ % 4 * 2;
#pragma unroll
        for (int d = 0; d < kDimBlocks; ++d) {
          *reinterpret_cast<float2*>(line + d * 8) =
              float2{o_[m][d][2 * half] * inverse, o_[m][d][2 * half + 1] * inverse};
        }
      }
    }
  }

  const FwdParams<Element>& p_;
  std::uint32_t q_tile_, k_tile_, v_tile_;
  char* shared_;
  int row_warp_, lane_;  // row_warp_: index of the warp's share of the CTA's rows
  int first_row_;
  int stage_ = 0;  // offset of this step's K and V from the first stage: 0 or kStageBytes
  float o_[kRowBlocks][kDimBlocks][4] = {};
  float row_max_[kRowBlocks][2];
  float sum_[kRowBlocks][2] = {};
};

template <class Element, int kHeadDim, class Tile>
__global__ void __launch_bounds__(Tile::tile(kHeadDim).warps* kWarpSize, Tile::tile(kHeadDim).blocks_per_multiprocessor)
    attention_fwd_sm80_16bit_kernel(const __grid_constant__ FwdParams<Element> parameters) {
  extern __shared__ __align__(16) char shared[];
  FwdMainloop<Element, kHeadDim, Tile>{parameters, shared}.run();
}

}  // namespace tbench::kernels::sm80
