// Online softmax of a consumer warpgroup of the sm90 forward kernels, in registers: it computes P and, for each row, a
// lazily updated maximum and the sum of exponentials.
#pragma once

#include <cmath>

#include "kernels/attention/common/softmax.cuh"
#include "kernels/attention/sm90/fwd/consumer.cuh"

namespace tbench::kernels::sm90 {

/// @tparam Operands  left operands of a thread, Q and P. Its exponentiate(s, scale, shift, sums) stores P = exp2(scale
/// * s - shift) and adds P to `sums`; `shift` and `sums` have one entry for each of a thread's two rows
template <class Parameters, class Shared, class Operands, int kHeadDim>
class OnlineSoftmax : public ConsumerWarpgroup<Parameters, Shared> {
  using Warpgroup = ConsumerWarpgroup<Parameters, Shared>;

 public:
  using Warpgroup::Warpgroup;

 protected:
  using Warpgroup::kTile, Warpgroup::p_, Warpgroup::thread_, Warpgroup::lane_;
  static constexpr int kScores = kTile.cols / 2;  // scores per thread: the 32 lanes of a warp share 16 rows
  static constexpr int kOutputs = kHeadDim / 2;

  __device__ __forceinline__ void reset() {
    reference_[0] = reference_[1] = -INFINITY;
    sum_[0] = sum_[1] = 0.0f;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) o_[i] = 0.0f;
  }

  /// Row of a thread in its warpgroup. A thread has two rows, eight apart; its elements are groups of four: two columns
  /// of the first row, then the same two columns of the second row.
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

  /// Factor that converts a score to an exponent to base 2.
  __device__ __forceinline__ float exponent_scale() const {
    return p_.scale * kLog2E * (injected(InjectedFault::kForwardScale) ? 1.05f : 1.0f);
  }

  /// Computes P with each row's stored maximum, which may be outdated. A step needs no new maximum as long as the
  /// thread's sums are at most 2^8: no element of P exceeds its thread's sum, 2^8 is far below the largest number of
  /// every format, and the maximum cancels at the end.
  /// @return  false if the sum of a thread of the warp is larger or NaN; P then has to be computed again
  __device__ __forceinline__ bool softmax(const float (&s)[kScores]) {
    constexpr float kLimit = 256.0f;
    float sums[2] = {0.0f, 0.0f};
    operands_.exponentiate(s, exponent_scale(), shift_, sums);
    if (__any_sync(kFullWarp, !(sums[0] + sums[1] <= kLimit))) return false;
    sum_[0] += sums[0];
    sum_[1] += sums[1];
    return true;
  }

  /// Computes P with maxima that include these scores. The caller multiplies O by rescale_.
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
      // If a row has seen only -infinity, the shift of 0 avoids -infinity - (-infinity) here, and shift_, which is
      // -infinity, makes the next softmax() call return false.
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
