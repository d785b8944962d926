// Operands of a 16-bit consumer warpgroup of the sm90 forward kernel for the steps of sm90/fwd/mainloop.cuh, and its
// store of O.
#pragma once

#include "kernels/attention/common/softmax.cuh"
#include "kernels/attention/common/warp_reduce.cuh"
#include "kernels/attention/sm90/common/store_rows.cuh"
#include "kernels/attention/sm90/fwd/mainloop.cuh"

namespace tbench::kernels::sm90 {

/// Left operands of a thread: Q, if it stays in registers, and P, two columns per register.
template <class Element, int kHeadDim, class Tile>
struct Packed16BitFragments {
  std::uint32_t queries[Tile::tile().queries_in_registers ? kHeadDim / 4 : 1];
  std::uint32_t probabilities[Tile::tile().cols / 4];

  /// Stores P = exp2(scale * s - shift) and adds P to the sums.
  template <int kScores>
  __device__ __forceinline__ void exponentiate(const float (&s)[kScores], float scale, const float (&shift)[2],
                                               float (&sums)[2]) {
#pragma unroll
    for (int i = 0; i < kScores / 2; ++i) {
      const float low = exp2_approximate(fmaf(s[2 * i], scale, -shift[i % 2]));
      const float high = exp2_approximate(fmaf(s[2 * i + 1], scale, -shift[i % 2]));
      probabilities[i] = pack<Element>(low, high);
      sums[i % 2] += low;
      sums[i % 2] += high;
    }
  }
};

template <class Element, int kHeadDim, class Tile, class Parameters>
class Fwd16BitOperands
    : public FwdMainloop<Fwd16BitOperands<Element, kHeadDim, Tile, Parameters>, Parameters, FwdSmem<kHeadDim, Tile>,
                         Packed16BitFragments<Element, kHeadDim, Tile>, kHeadDim> {
  using Shared = FwdSmem<kHeadDim, Tile>;
  using Steps = typename Fwd16BitOperands::FwdMainloop;
  using Products = Wgmma<Element>;
  friend Steps;
  using Steps::block_group, Steps::query_stage;
  using Steps::kTile, Steps::kScores, Steps::kKeepsQueries, Steps::row_in_group;
  using Steps::operands_, Steps::o_, Steps::reference_, Steps::sum_;
  using Steps::p_, Steps::shared_, Steps::group_, Steps::thread_, Steps::lane_, Steps::keys_, Steps::values_;
  static constexpr int kInnerBytes = 16 * 2;  // inner extent of a product, along a panel's row
  static constexpr int kRowBytes = Shared::kRowBytes;
  static constexpr int kPanelSteps = kRowBytes / kInnerBytes;  // products per panel along the inner extent

  enum NamedBarrier { kStaging = Steps::kFreeBarrier };

 public:
  using Steps::Steps;

  __device__ __forceinline__ void run(int item, const FwdTileCoord& place) {
    Steps::run(item, place);
    if (thread_ == 0) bulk_wait_group_read();
  }

 private:
  __device__ __forceinline__ void load_queries() {
    const std::uint32_t line = shared_.q(group_, query_stage()) + matrix_row() * kRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      ldmatrix_x4(&operands_.queries[4 * i], line + i / kPanelSteps * Shared::kGroupPanelBytes + vector_offset(i));
    }
  }

  /// Row and, below, vector offset that a lane addresses when a warp loads or stores four matrices [8, 8], which form
  /// [16, 16]. The first 16 lanes address the rows of the left two matrices, the other lanes the same rows of the right
  /// two; `i` is the index of the pair of vectors in the row. The swizzle permutes vectors.
  __device__ __forceinline__ int matrix_row() const { return thread_ / kWarpSize * 16 + lane_ % 16; }
  __device__ __forceinline__ int vector_offset(int i) const {
    return swizzled_vector<kRowBytes>(matrix_row(), 2 * (i % kPanelSteps) + lane_ / 16) * 16;
  }

  /// Issues S = Q K^T.
  __device__ __forceinline__ void multiply_scores(float (&s)[kScores]) const {
    const SmemDescriptor q = make_smem_descriptor<kRowBytes>(shared_.q(group_, query_stage()));
    const SmemDescriptor k = make_smem_descriptor<kRowBytes>(shared_.k(keys_.stage));
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      const int panel = i / kPanelSteps, offset = i % kPanelSteps * kInnerBytes;
      const SmemDescriptor keys = k.at(panel * Shared::kPanelBytes + offset);
      if constexpr (kKeepsQueries) {
        Products::template from_registers<false>(s, &operands_.queries[4 * i], keys, i > 0);
      } else {
        Products::from_shared(s, q.at(panel * Shared::kGroupPanelBytes + offset), keys, i > 0);
      }
    }
  }

  /// Issues O += P V.
  __device__ __forceinline__ void multiply_values() {
    const SmemDescriptor v = make_smem_descriptor<kRowBytes>(shared_.v(values_.stage), Shared::kPanelBytes);
#pragma unroll
    for (int i = 0; i < kTile.cols / 16; ++i) {
      Products::template from_registers<true>(o_, &operands_.probabilities[4 * i], v.at(i * 16 * kRowBytes), true);
    }
  }

  /// Stores O divided by the sum, and lse.
  __device__ __forceinline__ void finish(const FwdTileCoord& place) {
    const int first_row = place.first_row + group_ * kWgmmaM;
    float* const lse = p_.lse + (static_cast<std::int64_t>(place.batch) * p_.heads + place.head) * p_.seq_q;
    float inverse[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = quad_sum(sum_[half]);
      const int row = first_row + row_in_group(half);
      if (lane_ % 4 == 0 && row < p_.seq_q) lse[row] = reference_[half] * p_.scale + logarithm(sum);
      inverse[half] = 1.0f / sum;
    }
    if constexpr (kTile.stores_registers) {
      store_from_registers(place, first_row, inverse);
    } else {
      store_from_shared(place, first_row, inverse);
    }
  }

  __device__ __forceinline__ void store_from_registers(const FwdTileCoord& place, int first_row,
                                                       const float (&inverse)[2]) const {
    const TensorView& view = p_.stored_o;
    Element* const first =
        static_cast<Element*>(view.data) + place.batch * view.strides[0] + place.head * view.strides[1];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + row_in_group(half);
      store_row(first + row * view.strides[2], o_, half, inverse[half], lane_ % 4, row < p_.seq_q);
    }
  }

  __device__ __forceinline__ void store_from_shared(const FwdTileCoord& place, int first_row,
                                                    const float (&inverse)[2]) const {
    if (thread_ == 0) bulk_wait_group_read();  // waits for the store of the previous work tile
    named_barrier_sync<kWarpGroupThreads>(kStaging + block_group(group_));
    const std::uint32_t line = shared_.o(group_) + matrix_row() * kRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      std::uint32_t r[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float* const pair = &o_[8 * i + 2 * j];
        r[j] = pack<Element>(pair[0] * inverse[j % 2], pair[1] * inverse[j % 2]);
      }
      store_matrices(line + i / kPanelSteps * Shared::kGroupPanelBytes + vector_offset(i), r);
    }
    fence_proxy_async();
    named_barrier_sync<kWarpGroupThreads>(kStaging + block_group(group_));
    if (thread_ == 0 && first_row < p_.seq_q) {
      tma_store_tile<kHeadDim>(p_.o, {first_row, place.head, place.batch}, shared_.o(group_), Shared::kGroupPanelBytes);
    }
  }
};

}  // namespace tbench::kernels::sm90
