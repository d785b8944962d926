// The scores of a consumer warpgroup of the sm90 split backward kernel: its 64 stationary rows, keys or queries, times
// the streamed rows of a step. Stationary keys yield S^T = K Q^T and dP^T = V dO^T, stationary queries S = Q K^T and dP
// = dO V^T. P and dS are already in the register layout of left operands of dV += P^T dO and dK += dS^T Q, or of dQ +=
// dS K. Each streamed tile serves two products without a transposed copy.
#pragma once

#include <bit>

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/sm90/bwd_common/mask.cuh"
#include "kernels/attention/sm90/bwd_split/smem.cuh"
#include "kernels/attention/sm90/common/store_rows.cuh"

namespace tbench::kernels::sm90 {

template <class Element, class Tiles, Stationary kKept>
class SplitSoftmaxGrad {
 protected:
  using Shared = Tiles;
  using Part = typename Shared::Part;
  using Products = Wgmma<Element>;
  static constexpr int kHeadDim = Shared::kHeadDim;
  static constexpr SplitConfig kTile = Shared::kTile;
  static constexpr bool kKeepsKeys = kKept == Stationary::kKv;
  static constexpr int kScores = kWgmmaM / 2;  // per thread
  static constexpr int kGradients = kHeadDim / 2;
  static constexpr int kInner = 16;  // inner extent of a product; a row has four such extents
  static constexpr int kInnerBytes = kInner * 2;
  static constexpr int kOperandWords = kHeadDim / 4;
  using Scores = float[kScores];
  using Operands = std::uint32_t[kScores / 2];
  using KeptOperand = std::uint32_t[kOperandWords];
  using Gradient = float[kGradients];

  /// @param nth    number of work tiles of the consumer group before this one
  /// @param begin  number of steps of those work tiles
  __device__ __forceinline__ SplitSoftmaxGrad(const SplitParams& parameters, Shared shared, const SplitTileCoord& place,
                                              int nth, int begin)
      : p_{parameters}, shared_{shared}, place_{place}, nth_{nth}, begin_{begin} {}

  // Lane and warp are read again at every use. Otherwise the compiler would keep values computed from them in registers
  // from one work tile to the next.
  __device__ __forceinline__ static int lane() { return read_lane(); }
  __device__ __forceinline__ static int warp() { return opaque_thread_index() / kWarpSize % kWarpGroupWarps; }
  /// Index of a thread's row in the tile. A thread has two rows, eight apart.
  __device__ __forceinline__ static int row_in_tile(int half) { return warp() * 16 + half * 8 + lane() / 4; }
  __device__ __forceinline__ int extent() const { return kKeepsKeys ? p_.seq_kv : p_.seq_q; }
  __device__ __forceinline__ const int& streamed_extent() const { return kKeepsKeys ? p_.seq_q : p_.seq_kv; }
  __device__ __forceinline__ std::uint32_t stage(int i) const { return Shared::stage(begin_ + i); }

  /// Loads a left operand. The first 16 lanes address the rows of the left two of four matrices [8, 8], the other lanes
  /// the rows of the right two. The swizzle permutes vectors.
  __device__ __forceinline__ static void load_operand(std::uint32_t (&words)[kOperandWords], std::uint32_t tile) {
    const int row = warp() * 16 + lane() % 16;
    const std::uint32_t line = tile + row * kPanelRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / kInner; ++i) {
      ldmatrix_x4(&words[4 * i], line + ((2 * i % 8 + lane() / 16) ^ row % 8) * 16);
    }
  }

  /// Issues result += stationary rows times streamed rows, or result = ... if S and dP start from zero.
  __device__ __forceinline__ static void multiply_rows(Scores& result, const KeptOperand& kept,
                                                       std::uint32_t streamed) {
    const SmemDescriptor right = make_smem_descriptor(streamed);
#pragma unroll
    for (int i = 0; i < kHeadDim / kInner; ++i) {
      Products::template from_registers<false>(result, &kept[4 * i], right.at(i * kInnerBytes),
                                               !kTile.makes_statistics || i > 0);
    }
    wgmma_commit_group();
  }

  /// Issues gradient += scores times the tile's rows.
  __device__ __forceinline__ static void multiply_gradient(Gradient& gradient, const Operands& scores,
                                                           std::uint32_t streamed) {
    const SmemDescriptor right = make_smem_descriptor(streamed);
#pragma unroll
    for (int i = 0; i < kWgmmaM / kInner; ++i) {
      Products::template from_registers<true>(gradient, &scores[4 * i], right.at(i * kInner * kPanelRowBytes), true);
    }
  }

  // Each of the following functions issues products of one step as one wgmma group. S starts from -lse / scale and dP
  // from -delta; with makes_statistics, both start from zero.
  __device__ __forceinline__ void multiply_scores(int i) {
    multiply_rows(scores_, scores_operand_, shared_.tile(Shared::kForScores, stage(i)));
  }
  __device__ __forceinline__ void multiply_probability_gradients(int i) {
    multiply_rows(gradients_, gradients_operand_, shared_.tile(Shared::kForGradients, stage(i)));
  }
  __device__ __forceinline__ void multiply_gradients(int i) {
    if constexpr (kKeepsKeys) {
      multiply_gradient(values_, probabilities_, shared_.tile(Shared::kForGradients, stage(i)));
    }
    multiply_gradient(kept_, differentials_, shared_.tile(Shared::kForScores, stage(i)));
    wgmma_commit_group();
  }

  /// Initialises the accumulators with lse or delta of their queries.
  __device__ __forceinline__ void spread(Scores& sums, Part part, int i, const float (&of_rows)[2]) const {
    if constexpr (kKeepsKeys) {
      const std::uint32_t statistics = shared_.statistics(part, stage(i)) + lane() % 4 * 8;
#pragma unroll
      for (int n = 0; n < kScores / 4; ++n) {
        const float2 pair = load_shared_pair(statistics + n * 32);
        sums[4 * n] = pair.x;
        sums[4 * n + 1] = pair.y;
        sums[4 * n + 2] = opaque(pair.x);
        sums[4 * n + 3] = opaque(pair.y);
      }
    } else {
#pragma unroll
      for (int n = 0; n < kScores; ++n) sums[n] = opaque(of_rows[n / 2 % 2]);
    }
  }

  __device__ __forceinline__ void start_from_statistics(int i) {
    if constexpr (!kTile.makes_statistics) {
      spread(scores_, Shared::kForScores, i, lse_);
      spread(gradients_, Shared::kForGradients, i, delta_);
    }
  }

  /// Calls use(j, statistic) for every score j, with lse or delta of the score's query.
  template <class Use>
  __device__ __forceinline__ void for_each_statistic(Part part, int i, const float (&of_rows)[2], const Use& use) {
    const std::uint32_t statistics = shared_.statistics(part, stage(i)) + lane() % 4 * 8;
#pragma unroll
    for (int n = 0; n < kScores / 4; ++n) {
      float2 pair{};
      if constexpr (kKeepsKeys) pair = load_shared_pair(statistics + n * 32);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        use(4 * n + 2 * half, kKeepsKeys ? pair.x : of_rows[half]);
        use(4 * n + 2 * half + 1, kKeepsKeys ? pair.y : of_rows[half]);
      }
    }
  }

  /// Masks scores, also of rows past the last streamed one: unmasked, their zeros times Inf would be NaN.
  __device__ __forceinline__ void mask(int streamed) {
    const bool on_diagonal = p_.causal && streamed == place_.first_row;
    if (!on_diagonal && streamed + kWgmmaM <= streamed_extent()) return;
    const int first_column = streamed + lane() % 4 * 2;
    hide_scores<kKeepsKeys>(
        scores_, [&](int half) { return place_.first_row + row_in_tile(half); }, first_column, streamed_extent(),
        p_.causal);
  }

  /// Computes P = exp(scale * (S - lse / scale)). If S does not include lse, computes exp2(scale * log2(e) * S -
  /// log2(e) * lse).
  __device__ __forceinline__ void exponentiate(int i) {
    const float scale = p_.scale * kLog2E * (injected(InjectedFault::kBackwardScale) ? 1.05f : 1.0f);
    if constexpr (kTile.makes_statistics) {
      for_each_statistic(Shared::kForScores, i, lse_,
                         [&](int j, float lse) { scores_[j] = exp2_approximate(scores_[j] * scale - lse); });
    } else {
#pragma unroll
      for (int j = 0; j < kScores; ++j) scores_[j] = exp2_approximate(scores_[j] * scale);
    }
  }

  /// Computes dS = P (dP - delta), and converts P and dS to operands.
  __device__ __forceinline__ void differentiate(int i) {
    if constexpr (kTile.makes_statistics) {
      for_each_statistic(Shared::kForGradients, i, delta_,
                         [&](int j, float delta) { gradients_[j] = (gradients_[j] - delta) * scores_[j]; });
    } else {
#pragma unroll
      for (int j = 0; j < kScores; ++j) gradients_[j] *= scores_[j];
    }
    to_operands(differentials_, gradients_);
    if constexpr (kKeepsKeys) to_operands(probabilities_, scores_);
    if (kKeepsKeys && injected(InjectedFault::kDvSkipTile) && place_.streamed(i) == 0) leave_out(probabilities_);
    if (!kKeepsKeys && injected(InjectedFault::kDqSkipTile) && place_.streamed(i) == 0) leave_out(differentials_);
  }

  __device__ __forceinline__ static void to_operands(Operands& operands, const Scores& values) {
#pragma unroll
    for (int i = 0; i < kScores / 2; ++i) operands[i] = pack<Element>(values[2 * i], values[2 * i + 1]);
  }

  /// An injected fault: drops one step's scores from a gradient.
  __device__ __forceinline__ static void leave_out(Operands& operands) {
#pragma unroll
    for (int i = 0; i < kScores / 2; ++i) operands[i] = 0;
  }

  __device__ __forceinline__ static void clear(Gradient& gradient) {
#pragma unroll
    for (int i = 0; i < kGradients; ++i) gradient[i] = 0.0f;
  }

  __device__ __forceinline__ void store(const TensorView& view, const Gradient& gradient, float factor) const {
    Element* const head =
        static_cast<Element*>(view.data) + place_.batch * view.strides[0] + place_.head * view.strides[1];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = place_.first_row + row_in_tile(half);
      store_row(head + row * view.strides[2], gradient, half, factor, lane() % 4, row < extent());
    }
  }

  const SplitParams& p_;
  Shared shared_;
  const SplitTileCoord& place_;
  int nth_, begin_;
  KeptOperand scores_operand_, gradients_operand_;  // K and V, or Q and dO
  float lse_[2], delta_[2];                         // for stationary queries
  Scores scores_;                                   // first S, then P
  Scores gradients_;                                // first dP, then dS
  Operands probabilities_;                          // P, with stationary keys
  Operands differentials_;                          // dS
  Gradient values_;                                 // sums of dV
  Gradient kept_;                                   // sums of dK or dQ
};

}  // namespace tbench::kernels::sm90
