// The scores of a consumer warpgroup of the sm90 TF32 backward kernels: its 64 stationary rows, keys or queries, times
// the streamed rows of a step. Stationary keys yield S^T = K Q^T and dP^T = V dO^T, stationary queries S = Q K^T and dP
// = dO V^T. P and dS are already in the register layout of left operands of dV += P^T dO and dK += dS^T Q, or of dQ +=
// dS K.
#pragma once

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/sm90/bwd_common/mask.cuh"
#include "kernels/attention/sm90_tf32/bwd/smem.cuh"
#include "kernels/attention/sm90_tf32/common/wgmma.cuh"

namespace tbench::kernels::sm90_tf32 {

/// A thread's words of a stationary left operand; empty if the operand stays in shared memory.
template <int kCount>
struct StationaryFragment {
  std::uint32_t words[kCount];
};
template <>
struct StationaryFragment<0> {};

template <class Tiles>
class SoftmaxGrad {
 protected:
  using Shared = Tiles;
  static constexpr int kHeadDim = Shared::kHeadDim;
  static constexpr bool kKeepsKeys = Shared::kKeepsKeys;
  static constexpr BwdConfig kTile = Shared::kTile;
  static constexpr int kScores = kTile.rows / 2;  // per thread
  static constexpr int kGradients = kHeadDim / 2;
  static constexpr int kInner = 8;  // inner extent of a product; a panel's row has four such extents
  static constexpr int kInnerBytes = kInner * 4;
  static constexpr int kOperandWords = kHeadDim / 2;
  using Scores = float[kScores];
  using Operands = std::uint32_t[kScores];
  using Gradient = float[kGradients];

  __device__ __forceinline__ SoftmaxGrad(const BwdParams& parameters, Shared shared, const BwdTileCoord& place,
                                         int group)
      : p_{parameters}, shared_{shared}, place_{place}, group_{group} {}

  __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x) % kWarpSize; }
  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x) / kWarpSize % kWarpGroupWarps; }
  /// Index of a thread's row in the warpgroup. A thread has two rows, eight apart.
  __device__ __forceinline__ static int row_in_group(int half) { return warp() * 16 + half * 8 + lane() / 4; }
  __device__ __forceinline__ int first_row() const { return place_.first_row + group_ * kWgmmaM; }
  __device__ __forceinline__ int extent() const { return kKeepsKeys ? p_.seq_kv : p_.seq_q; }
  /// First streamed row of a step.
  __device__ __forceinline__ int first_streamed(int i) const {
    return first_streamed_row<Shared::kKept>(place_, i, kTile.rows);
  }

  /// Loads a left operand. The four matrices [8, 4] of a load cover 16 rows and 32 bytes of each row. The swizzle
  /// permutes vectors.
  __device__ __forceinline__ static void load_operand(std::uint32_t (&words)[kOperandWords], std::uint32_t tile) {
    const int row = warp() * 16 + lane() % 16;
    const std::uint32_t line = tile + row * kPanelRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / kInner; ++i) {
      const int vector = (2 * i % 8 + lane() / 16) ^ row % 8;
      ldmatrix_x4(&words[4 * i], line + i / 4 * Shared::kKeptPanelBytes + vector * 16);
    }
  }

  /// Issues result += stationary rows times streamed rows.
  template <bool kInRegisters, class Stationary>
  __device__ __forceinline__ static void multiply_rows(Scores& result, const Stationary& kept, std::uint32_t kept_tile,
                                                       std::uint32_t streamed) {
    const SmemDescriptor left = make_smem_descriptor(kept_tile), right = make_smem_descriptor(streamed);
#pragma unroll
    for (int i = 0; i < kHeadDim / kInner; ++i) {
      const int panel = i / 4, offset = i % 4 * kInnerBytes;
      const SmemDescriptor of_streamed = right.at(panel * Shared::kPanelBytes + offset);
      if constexpr (kInRegisters) {
        Wgmma::from_registers(result, &kept.words[4 * i], of_streamed, true);
      } else {
        Wgmma::from_shared(result, left.at(panel * Shared::kKeptPanelBytes + offset), of_streamed, true);
      }
    }
  }

  /// Issues gradient += scores times the tile's rows. The tile in shared memory holds the transpose of these rows.
  __device__ __forceinline__ static void multiply_gradient(Gradient& gradient, const Operands& scores,
                                                           std::uint32_t transposed) {
    const SmemDescriptor right = make_smem_descriptor(transposed);
#pragma unroll
    for (int i = 0; i < kTile.rows / kInner; ++i) {
      Wgmma::from_registers(gradient, &scores[4 * i],
                            right.at(i / 4 * Shared::kTransposedPanelBytes + i % 4 * kInnerBytes), true);
    }
  }

  /// Initialises the accumulators with lse or delta of their queries.
  __device__ __forceinline__ void spread(Scores& sums, int n, const float* statistics) const {
    if constexpr (kKeepsKeys) {
#pragma unroll
      for (int i = 0; i < kScores / 4; ++i) {
        const float2 pair = load_shared_pair(shared_.statistics(n) + lane() % 4 * 8 + i * 32);
        sums[4 * i] = pair.x;
        sums[4 * i + 1] = pair.y;
        sums[4 * i + 2] = opaque(pair.x);
        sums[4 * i + 3] = opaque(pair.y);
      }
    } else {
      const std::int64_t row = static_cast<std::int64_t>(place_.all_head) * p_.queries + first_row();
      const float of_row[2]{statistics[row + row_in_group(0)], statistics[row + row_in_group(1)]};
#pragma unroll
      for (int i = 0; i < kScores; ++i) sums[i] = opaque(of_row[i / 2 % 2]);
    }
  }

  /// Masks scores, also of rows past the last streamed one: unmasked, their zeros times Inf would be NaN.
  __device__ __forceinline__ void mask(int streamed) {
    const int diagonal =
        kKeepsKeys ? streamed + 1 - (first_row() + kWgmmaM) : first_row() + 1 - (streamed + kTile.rows);
    const int streamed_extent = kKeepsKeys ? p_.seq_q : p_.seq_kv;
    if ((!p_.causal || diagonal >= 0) && streamed + kTile.rows <= streamed_extent) return;
    hide_scores<kKeepsKeys>(
        scores_, [&](int half) { return first_row() + row_in_group(half); }, streamed + lane() % 4 * 2, streamed_extent,
        p_.causal);
  }

  /// Computes P = exp(scale * (S - lse / scale)).
  __device__ __forceinline__ void exponentiate() {
    const float scale = p_.scale * kLog2E * (injected(InjectedFault::kBackwardScale) ? 1.05f : 1.0f);
#pragma unroll
    for (int i = 0; i < kScores; ++i) scores_[i] = exp2_approximate(scores_[i] * scale);
  }

  /// Computes dS = P (dP - delta).
  __device__ __forceinline__ void differentiate() {
#pragma unroll
    for (int i = 0; i < kScores; ++i) gradients_[i] *= scores_[i];
  }

  /// Rounds scores to operands. An operand's four words are the even columns of two rows, then the odd columns of these
  /// rows.
  __device__ __forceinline__ static void to_operands(Operands& operands, const Scores& values) {
#pragma unroll
    for (int i = 0; i < kScores; ++i) operands[i / 4 * 4 + i % 2 * 2 + i / 2 % 2] = round_to_tf32(values[i]);
  }

  /// An injected fault: drops one step's scores from a gradient.
  __device__ __forceinline__ static void leave_out(Operands& operands) {
#pragma unroll
    for (int i = 0; i < kScores; ++i) operands[i] = 0;
  }

  __device__ __forceinline__ static void clear(Gradient& gradient) {
#pragma unroll
    for (int i = 0; i < kGradients; ++i) gradient[i] = 0.0f;
  }

  /// Stores a gradient; a quad stores 32 bytes of a row.
  __device__ __forceinline__ void store(const GlobalMatrix<float>& matrix, const Gradient& gradient,
                                        float factor) const {
    float* const head = matrix.head(place_.batch, place_.head) + lane() % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row() + row_in_group(half);
      if (row >= extent()) continue;
      float* const stored = head + row * matrix.row_stride;
#pragma unroll
      for (int n = 0; n < kGradients / 4; ++n) {
        const float* const pair = &gradient[4 * n + 2 * half];
        *reinterpret_cast<float2*>(stored + n * 8) = {pair[0] * factor, pair[1] * factor};
      }
    }
  }

  const BwdParams& p_;
  Shared shared_;
  const BwdTileCoord& place_;
  int group_;
  Scores scores_;     // first S, then P
  Scores gradients_;  // first dP, then dS
};

}  // namespace tbench::kernels::sm90_tf32
