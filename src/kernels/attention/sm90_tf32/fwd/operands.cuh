// Operands of a consumer warpgroup of the sm90 TF32 forward kernel for the steps of sm90/fwd/mainloop.cuh, and its
// store of O. Q is rounded once, when it is loaded to registers, and P when it is computed. P's registers are directly
// the left operand of the product with V^T's tiles, whose keys have the matching order
// (sm90_tf32/common/transpose.cuh).
#pragma once

#include "kernels/attention/common/softmax.cuh"
#include "kernels/attention/common/warp_reduce.cuh"
#include "kernels/attention/sm90/fwd/mainloop.cuh"
#include "kernels/attention/sm90_tf32/common/wgmma.cuh"
#include "kernels/attention/sm90_tf32/fwd/smem.cuh"

namespace tbench::kernels::sm90_tf32 {

/// Left operands of a thread: Q and P. An operand's four words of P are the even columns of two rows, then the odd
/// columns of these rows.
template <int kHeadDim>
struct Tf32Fragments {
  std::uint32_t queries[kHeadDim / 2];
  std::uint32_t probabilities[FwdSmem<kHeadDim>::kTile.cols / 2];

  /// Stores P = exp2(scale * s - shift) and adds P to the sums.
  template <int kScores>
  __device__ __forceinline__ void exponentiate(const float (&s)[kScores], float scale, const float (&shift)[2],
                                               float (&sums)[2]) {
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      const int half = i / 2 % 2;
      const float p = exp2_approximate(fmaf(s[i], scale, -shift[half]));
      probabilities[i / 4 * 4 + i % 2 * 2 + half] = round_to_tf32(p);
      sums[half] += p;
    }
  }
};

template <int kHeadDim>
class FwdTf32Operands
    : public FwdMainloop<FwdTf32Operands<kHeadDim>, FwdParams, FwdSmem<kHeadDim>, Tf32Fragments<kHeadDim>, kHeadDim> {
  using Tiles = FwdSmem<kHeadDim>;
  using Steps = typename FwdTf32Operands::FwdMainloop;
  friend Steps;
  using Steps::kTile, Steps::kScores, Steps::kOutputs, Steps::row_in_group;
  using Steps::operands_, Steps::o_, Steps::reference_, Steps::sum_;
  using Steps::p_, Steps::shared_, Steps::group_, Steps::thread_, Steps::lane_, Steps::keys_, Steps::values_;
  static constexpr int kInner = 8;  // inner extent of a product; a panel's row has four such extents
  static constexpr int kInnerBytes = kInner * 4;
  static_assert(kTile.queries_in_registers);

 public:
  using Steps::Steps;

 private:
  /// Loads Q. The four matrices [8, 4] of a load cover 16 rows and 32 bytes of each row. The swizzle permutes vectors.
  __device__ __forceinline__ void load_queries() {
    const int row = thread_ / kWarpSize * 16 + lane_ % 16;
    const std::uint32_t line = shared_.q(group_) + row * kPanelRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / kInner; ++i) {
      const int vector = (2 * i % 8 + lane_ / 16) ^ row % 8;
      ldmatrix_x4(&operands_.queries[4 * i], line + i / 4 * Tiles::kGroupPanelBytes + vector * 16);
#pragma unroll
      for (int j = 4 * i; j < 4 * i + 4; ++j) {
        operands_.queries[j] = round_to_tf32(__uint_as_float(operands_.queries[j]));
      }
    }
  }

  /// Issues S = Q K^T.
  __device__ __forceinline__ void multiply_scores(float (&s)[kScores]) const {
    const SmemDescriptor k = make_smem_descriptor(shared_.k(keys_.stage));
#pragma unroll
    for (int i = 0; i < kHeadDim / kInner; ++i) {
      Wgmma::from_registers(s, &operands_.queries[4 * i], k.at(i / 4 * Tiles::kPanelBytes + i % 4 * kInnerBytes),
                            i > 0);
    }
  }

  /// Issues O += P V.
  __device__ __forceinline__ void multiply_values() {
    const SmemDescriptor v = make_smem_descriptor(shared_.v(values_.stage));
#pragma unroll
    for (int i = 0; i < kTile.cols / kInner; ++i) {
      Wgmma::from_registers(o_, &operands_.probabilities[4 * i],
                            v.at(i / 4 * kValuePanelBytes<kHeadDim> + i % 4 * kInnerBytes), true);
    }
  }

  /// Stores O divided by the sum, and lse. A quad stores 32 bytes of a row.
  __device__ __forceinline__ void finish(const FwdTileCoord& place) const {
    const int first_row = place.first_row + group_ * kWgmmaM;
    float* const lse = p_.lse + (static_cast<std::int64_t>(place.batch) * p_.heads + place.head) * p_.seq_q;
    float* const o =
        static_cast<float*>(p_.o.data) + place.batch * p_.o.strides[0] + place.head * p_.o.strides[1] + lane_ % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = quad_sum(sum_[half]), inverse = 1.0f / sum;
      const int row = first_row + row_in_group(half);
      if (row >= p_.seq_q) continue;
      if (lane_ % 4 == 0) lse[row] = reference_[half] * p_.scale + logarithm(sum);
      float* const stored = o + row * p_.o.strides[2];
#pragma unroll
      for (int n = 0; n < kOutputs / 4; ++n) {
        const float* const pair = &o_[4 * n + 2 * half];
        *reinterpret_cast<float2*>(stored + n * 8) = {pair[0] * inverse, pair[1] * inverse};
      }
    }
  }
};

}  // namespace tbench::kernels::sm90_tf32
