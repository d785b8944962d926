// Online softmax of a consumer warpgroup of the sm90 forward kernels, in registers: P, and for each row a lazily
// updated maximum and the sum of exponentials.
#pragma once

#include <cmath>

#include "kernels/attention/common/softmax.cuh"
#include "kernels/attention/sm90/fwd/consumer.cuh"

namespace tbench::kernels::sm90 {

/// @tparam Operands  left operands of a thread, Q and P. Its exponentiate(s, scale, shift, sums) leaves P = exp2(scale
///                   * s - shift) and adds it to the sums; shifts and sums are those for a thread's two rows
template <class Parameters, class Shared, class Operands, int kHeadDim>
class OnlineSoftmax : public ConsumerWarpgroup<Parameters, Shared> {
  using Warpgroup = ConsumerWarpgroup<Parameters, Shared>;

 public:
  using Warpgroup::Warpgroup;

 protected:
  using Warpgroup::kTile, Warpgroup::p_, Warpgroup::thread_, Warpgroup::lane_;
  static constexpr int kScores = kTile.cols / 2;  // per thread: a warp's 16 rows among 32 lanes
  static constexpr int kOutputs = kHeadDim / 2;

  __device__ __forceinline__ void reset() {
    reference_[0] = reference_[1] = -INFINITY;
    sum_[0] = sum_[1] = 0.0f;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) o_[i] = 0.0f;
  }

  /// Row of a thread in its warpgroup. A thread has two rows, eight apart; its elements come in fours, two columns of
  /// the first row and the same two of the second.
  __device__ __forceinline__ int row_in_group(int half) const {
    return thread_ / kWarpSize * 16 + half * 8 + lane_ / 4;
  }

  __device__ __forceinline__ void mask(float (&s)[kScores], int first_row, int first_col) const {
    const bool below_diagonal = !p_.causal || first_col + kTile.cols <= first_row + 1;
    if (first_col + kTile.cols <= p_.seq_kv && below_diagonal) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int last = first_row + row_in_group(half) + (injected(InjectedFault::kForwardMask) ? 1 : 0);
      const int end = (p_.causal ? min(p_.seq_kv, last + 1) : p_.seq_kv) - first_col - lane_ % 4 * 2;
#pragma unroll
      for (int n = 0; n < kScores / 4; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (n * 8 + i >= end) s[4 * n + 2 * half + i] = -INFINITY;
        }
      }
    }
  }

  /// Scale of scores as exponents to base 2.
  __device__ __forceinline__ float exponent_scale() const {
    return p_.scale * kLog2E * (injected(InjectedFault::kForwardScale) ? 1.05f : 1.0f);
  }

  /// Makes P with each row's current maximum, which may be an old one. A step needs no new maximum, because the sums
  /// show whether the old one still serves: no element of a thread exceeds the thread's sum. If that is at most 2^8,
  /// far from any format's limit, nothing is lost, since the maximum cancels at the end.
  /// @return  false if the sum of some thread of the warp is larger or not a number; P has to be made again
  __device__ __forceinline__ bool softmax(const float (&s)[kScores]) {
    constexpr float kLimit = 256.0f;
    float sums[2] = {0.0f, 0.0f};
    operands_.exponentiate(s, exponent_scale(), shift_, sums);
    if (__any_sync(kFullWarp, !(sums[0] + sums[1] <= kLimit))) return false;
    sum_[0] += sums[0];
    sum_[1] += sums[1];
    return true;
  }

  /// Makes P with maxima that cover these scores. The caller multiplies O by rescale_.
  __device__ __forceinline__ void softmax_with_new_references(const float (&s)[kScores]) {
    const float scale = exponent_scale();
    float shift[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float raised = reference_[half];
#pragma unroll
      for (int n = 0; n < kScores / 4; ++n) raised = fmaxf(raised, fmaxf(s[4 * n + 2 * half], s[4 * n + 2 * half + 1]));
      raised = fmaxf(raised, __shfl_xor_sync(kFullWarp, raised, 1));
      raised = fmaxf(raised, __shfl_xor_sync(kFullWarp, raised, 2));
      // A row that has seen -infinity alone: the 0 avoids -infinity - (-infinity) here, and shift_, which is -infinity,
      // makes the next softmax() call return false.
      shift_[half] = raised * scale;
      shift[half] = raised == -INFINITY ? 0.0f : shift_[half];
      rescale_[half] = exp2_approximate(fmaf(reference_[half], scale, -shift[half]));
      reference_[half] = raised;
      sum_[half] *= rescale_[half];
    }
    operands_.exponentiate(s, exponent_scale(), shift, sum_);
  }

  Operands operands_;
  float o_[kOutputs];
  float reference_[2], shift_[2], sum_[2];  // per row; sum_ is the thread's share of the row's sum
  float rescale_[2];
};

}  // namespace tbench::kernels::sm90
