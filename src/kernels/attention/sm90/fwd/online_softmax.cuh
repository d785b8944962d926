// What a computing warpgroup of Hopper's forward kernels makes of its scores, in registers: P, and of each row the
// reference that exponents are relative to, and their sum.
#pragma once

#include <cmath>

#include "kernels/attention/common/softmax.cuh"
#include "kernels/attention/sm90/fwd/consumer.cuh"

namespace tbench::kernels::sm90 {

/// @tparam Operands  a thread's left operands, Q and P: exponentiate(s, scale, shift, sums) leaves P, which is
///                   exp2(scale * s - shift), and adds it to the sums; shifts and sums are of a thread's two rows
template <class Parameters, class Shared, class Operands, int kHeadDim>
class OnlineSoftmax : public ConsumerWarpgroup<Parameters, Shared> {
  using Warpgroup = ConsumerWarpgroup<Parameters, Shared>;

 public:
  using Warpgroup::Warpgroup;

 protected:
  using Warpgroup::kTile, Warpgroup::p_, Warpgroup::thread_, Warpgroup::lane_;
  static constexpr int kScores = kTile.cols / 2;  // of a thread: a warp's 16 rows among 32 lanes
  static constexpr int kOutputs = kHeadDim / 2;

  __device__ __forceinline__ void reset() {
    reference_[0] = reference_[1] = -INFINITY;
    sum_[0] = sum_[1] = 0.0f;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) o_[i] = 0.0f;
  }

  /// Of a thread's two rows, eight apart. Its elements come in fours: two columns of the first, the same of the second.
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

  /// Of scores, in exponents to base 2.
  __device__ __forceinline__ float exponent_scale() const {
    return p_.scale * kLog2E * (injected(InjectedFault::kForwardScale) ? 1.05f : 1.0f);
  }

  /// With the references as they are. A row's reference is a maximum of its scores, not the latest; whether it is still
  /// good is seen in the sums, so that a step needs no maximum: none of a thread's elements is above their sum, and
  /// where that is at most 2^8, far from any format's limit, nothing is lost, because references cancel at the end.
  /// @return  false, with P to be made again, where the sum of some thread of the warp is more or no number
  __device__ __forceinline__ bool softmax(const float (&s)[kScores]) {
    constexpr float kLimit = 256.0f;
    float sums[2] = {0.0f, 0.0f};
    operands_.exponentiate(s, exponent_scale(), shift_, sums);
    if (__any_sync(kFullWarp, !(sums[0] + sums[1] <= kLimit))) return false;
    sum_[0] += sums[0];
    sum_[1] += sums[1];
    return true;
  }

  /// With references that are at least the maxima of these scores. O has to be multiplied by rescale_.
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
      // A row that has seen -infinity alone: 0 keeps -infinity - (-infinity) away here, and shift_, which is -infinity,
      // the next step from softmax().
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
  float reference_[2], shift_[2], sum_[2];  // of rows; a thread's share of the sums
  float rescale_[2];
};

}  // namespace tbench::kernels::sm90
