// What a computing warpgroup of Hopper's TF32 forward kernel does with its 64 queries: the steps of the 16-bit kernel
// (forward_rows_sm90.cuh, where they are explained) with other operands. Q is rounded once, as it is read; P as it is
// made. P's registers are the left operand of V^T's tiles, whose keys lie in that order (prepare_tf32_sm90.cuh).
#pragma once

#include <cmath>

#include "kernels/attention/common/planted_fault.cuh"
#include "kernels/attention/common/split_warps.cuh"
#include "kernels/attention/forward/forward_parameters.cuh"
#include "kernels/attention/sm90/tf32/shared_tf32_sm90.cuh"
#include "kernels/attention/sm90/tf32/wgmma_tf32.cuh"

namespace tbench::kernels::sm90::tf32 {

template <int kHeadDim>
class ForwardRows {
  using Tiles = Shared<kHeadDim>;
  static constexpr ForwardTile kTile = Tiles::kTile;
  static constexpr int kScores = kTile.cols / 2;  // of a thread: a warp's 16 rows among 32 lanes
  static constexpr int kOutputs = kHeadDim / 2;
  static constexpr int kInner = 8;  // of a product, four along a panel's row
  static constexpr int kInnerBytes = kInner * 4;
  static_assert(kTile.cols % kGroupRows == 0, "or more than a group's first step would reach over the diagonal");

  enum NamedBarrier { kTurn = 1 };  // one a warpgroup; 0 is __syncthreads()

 public:
  __device__ __forceinline__ ForwardRows(const ForwardParameters& parameters, Tiles shared, int group)
      : p_{parameters},
        shared_{shared},
        group_{group},
        thread_{static_cast<int>(threadIdx.x) % kWarpGroupThreads},
        lane_{static_cast<int>(threadIdx.x) % kWarpSize} {}

  __device__ __forceinline__ void run() {
    if (group_ == kTile.warp_groups - 1) pass_turn();  // the first turn is the first group's
    for (int item = static_cast<int>(blockIdx.x); item < p_.order.items; item = next_item()) {
      const ForwardPlace place = forward_place(p_, item, Tiles::kRows);
      attend(place);
      finish(place);
    }
    if (group_ == 0) wait_for_turn();  // nobody leaves a barrier half full
  }

 private:
  __device__ __forceinline__ int next_item() {
    wait(shared_.barrier(Tiles::kItemFull), item_parity_);
    item_parity_ ^= 1u;
    const int item = load_shared(shared_.item());
    release(Tiles::kItemEmpty);
    return item;
  }

  /// Tells the copying thread that the warp has read what the barrier is of.
  __device__ __forceinline__ void release(std::uint32_t barrier) const {
    __syncwarp();
    if (lane_ == 0) arrive(shared_.barrier(barrier));
  }
  __device__ __forceinline__ void release_keys() {
    // Too late then, but nobody may fetch what comes next while this tile is on its way.
    if (planted(PlantedFault::kForwardBarrier)) wait_for_tile_of_keys();
    release(Tiles::kKeysEmpty + keys_.stage);
    keys_.advance();
  }
  __device__ __forceinline__ void release_values() {
    release(Tiles::kValuesEmpty + values_.stage);
    values_.advance();
  }
  __device__ __forceinline__ void wait_for_keys() const {
    if (!planted(PlantedFault::kForwardBarrier)) wait_for_tile_of_keys();
  }
  __device__ __forceinline__ void wait_for_tile_of_keys() const {
    wait(shared_.barrier(Tiles::kKeysFull + keys_.stage), keys_.parity);
  }
  __device__ __forceinline__ void wait_for_values() const {
    wait(shared_.barrier(Tiles::kValuesFull + values_.stage), values_.parity);
  }

  __device__ __forceinline__ void wait_for_turn() const { wait_at_barrier<2 * kWarpGroupThreads>(kTurn + group_); }
  __device__ __forceinline__ void pass_turn() const {
    arrive_at_barrier<2 * kWarpGroupThreads>(kTurn + (group_ == kTile.warp_groups - 1 ? 0 : group_ + 1));
  }

  __device__ __forceinline__ void attend(const ForwardPlace& place) {
    const int first_row = place.first_row + group_ * kGroupRows;
    const int block_steps = forward_steps(p_, place.first_row + Tiles::kRows, kTile.cols);
    const int steps = min(block_steps, forward_steps(p_, first_row + kGroupRows, kTile.cols));
#pragma unroll 1
    for (int step = block_steps; step > steps; --step) skip_step();
    start(first_row, steps);
    for (int step = steps - 2; step >= 0; --step) advance(step);
    wait_for_values();
    start_products();
    multiply_values();
    commit_products();
    wait_for_products<0>(o_);
    release_values();
  }

  /// A step of the block all of whose keys the mask hides from this group.
  __device__ __forceinline__ void skip_step() {
    wait_for_turn();
    pass_turn();
    wait_for_tile_of_keys();
    release_keys();
    wait_for_values();
    release_values();
  }

  /// The first step's P, with no O yet.
  __device__ __forceinline__ void start(int first_row, int steps) {
    reference_[0] = reference_[1] = -INFINITY;
    sum_[0] = sum_[1] = 0.0f;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) o_[i] = 0.0f;
    wait(shared_.barrier(Tiles::kQueriesFull), queries_parity_);
    queries_parity_ ^= 1u;
    load_queries();
    float s[kScores];
    wait_for_keys();
    start_products();
    multiply_scores(s);
    commit_products();
    wait_for_products<0>(s);
    release_keys();
    release(Tiles::kQueriesEmpty);
    mask(s, first_row, (steps - 1) * kTile.cols);
    softmax_with_new_references(s);
  }

  __device__ __forceinline__ void advance(int step) {
    float s[kScores];
    wait_for_keys();
    wait_for_turn();
    start_products();
    multiply_scores(s);
    commit_products();
    wait_for_values();
    start_products();
    multiply_values();
    commit_products();
    pass_turn();
    wait_for_products<1>(s);
    release_keys();
    wait_for_products<0>(o_);
    release_values();
    if (planted(PlantedFault::kForwardSkipTile) && step == 0) {
      for (int i = 0; i < kScores; ++i) s[i] = -INFINITY;
    }
    if (!softmax(s)) {
      softmax_with_new_references(s);
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) o_[i] *= rescale_[i / 2 % 2];
    }
  }

  /// The four matrices [8, 4] that a lane reads by are two of 16 rows side by side, 32 bytes of a row. The swizzle
  /// permutes vectors.
  __device__ __forceinline__ void load_queries() {
    const int row = thread_ / kWarpSize * 16 + lane_ % 16;
    const std::uint32_t line = shared_.q(group_) + row * kPanelRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / kInner; ++i) {
      const int vector = (2 * i % 8 + lane_ / 16) ^ row % 8;
      ldmatrix_x4(&queries_[4 * i], line + i / 4 * Tiles::kGroupPanelBytes + vector * 16);
#pragma unroll
      for (int j = 4 * i; j < 4 * i + 4; ++j) queries_[j] = round_to_tf32(__uint_as_float(queries_[j]));
    }
  }

  /// S = Q K^T.
  __device__ __forceinline__ void multiply_scores(float (&s)[kScores]) const {
    const Operand k = operand(shared_.k(keys_.stage));
#pragma unroll
    for (int i = 0; i < kHeadDim / kInner; ++i) {
      Wgmma::from_registers(s, &queries_[4 * i], k.at(i / 4 * Tiles::kPanelBytes + i % 4 * kInnerBytes), i > 0);
    }
  }

  /// O += P V.
  __device__ __forceinline__ void multiply_values() {
    const Operand v = operand(shared_.v(values_.stage));
#pragma unroll
    for (int i = 0; i < kTile.cols / kInner; ++i) {
      Wgmma::from_registers(o_, &probabilities_[4 * i], v.at(i / 4 * kValuePanelBytes<kHeadDim> + i % 4 * kInnerBytes),
                            true);
    }
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
      const int last = first_row + row_in_group(half) + (planted(PlantedFault::kForwardMask) ? 1 : 0);
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
    return p_.scale * kLog2E * (planted(PlantedFault::kForwardScale) ? 1.05f : 1.0f);
  }

  /// Leaves exp2(scale * (s - reference)) as operands, and their sums. An operand's four are its two rows' even
  /// columns, then their odd ones.
  __device__ __forceinline__ void exponentiate(const float (&s)[kScores], const float (&shift)[2], float (&sums)[2]) {
    const float scale = exponent_scale();
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      const int half = i / 2 % 2;
      const float p = exp2_approximate(fmaf(s[i], scale, -shift[half]));
      probabilities_[i / 4 * 4 + i % 2 * 2 + half] = round_to_tf32(p);
      sums[half] += p;
    }
  }

  /// With the references as they are.
  /// @return  false, with P to be made again, where the sum of some thread of the warp is above 2^8 or no number
  __device__ __forceinline__ bool softmax(const float (&s)[kScores]) {
    constexpr float kLimit = 256.0f;
    float sums[2] = {0.0f, 0.0f};
    exponentiate(s, shift_, sums);
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
    exponentiate(s, shift, sum_);
  }

  /// O / sum, and lse. A quad stores 32 bytes of a row.
  __device__ __forceinline__ void finish(const ForwardPlace& place) const {
    const int first_row = place.first_row + group_ * kGroupRows;
    float* const lse = p_.lse + (static_cast<std::int64_t>(place.batch) * p_.heads + place.head) * p_.seq_q;
    float* const o =
        static_cast<float*>(p_.o.data) + place.batch * p_.o.strides[0] + place.head * p_.o.strides[1] + lane_ % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = add_lanes(sum_[half]), inverse = 1.0f / sum;
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

  const ForwardParameters& p_;
  Tiles shared_;
  int group_, thread_, lane_;
  Ring<kTile.stages> keys_, values_;
  std::uint32_t queries_parity_ = 0, item_parity_ = 0;
  std::uint32_t queries_[kHeadDim / 2];
  std::uint32_t probabilities_[kScores];
  float o_[kOutputs];
  float reference_[2], shift_[2], sum_[2];  // of rows; a thread's share of the sums
  float rescale_[2];
};

}  // namespace tbench::kernels::sm90::tf32
