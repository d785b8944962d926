// What a computing warpgroup of Hopper's forward kernel does with its 64 queries. It walks over the keys from the last
// tile to the first, so that only its first step has a mask. A step issues Q K^T and the P V of the step before, and
// makes the new P when both are done. Warpgroups take turns to issue: one's products meet the others' softmax.
#pragma once

#include <cmath>

#include "kernels/attention/common/planted_fault.cuh"
#include "kernels/attention/common/split_warps.cuh"
#include "kernels/attention/forward/forward_parameters.cuh"
#include "kernels/attention/sm90/forward_shared_sm90.cuh"
#include "kernels/attention/sm90/store_rows_sm90.cuh"

namespace tbench::kernels::sm90 {

template <class Element, int kHeadDim, class Tile>
class ForwardRows {
  using Shared = SharedForward<kHeadDim, Tile>;
  using Products = Wgmma<Element>;
  static constexpr ForwardTile kTile = Tile::tile();
  static constexpr int kScores = kTile.cols / 2;  // of a thread: a warp's 16 rows among 32 lanes
  static constexpr int kOutputs = kHeadDim / 2;
  static constexpr int kInnerBytes = 16 * 2;  // of a product's inner extent, along a panel's row
  static constexpr int kRowBytes = Shared::kRowBytes;
  static constexpr int kPanelSteps = kRowBytes / kInnerBytes;  // such extents of a panel
  static constexpr bool kKeepsQueries = kTile.queries_in_registers;
  static_assert(kTile.cols % kGroupRows == 0, "or more than a group's first step would reach over the diagonal");

  // Of 16; 0 is __syncthreads().
  enum NamedBarrier { kTurn = 1, kStaging = kTurn + kTile.warp_groups };

 public:
  __device__ __forceinline__ ForwardRows(const ForwardParameters& parameters, Shared shared, int group)
      : p_{parameters},
        shared_{shared},
        group_{group},
        thread_{static_cast<int>(threadIdx.x) % kWarpGroupThreads},
        lane_{static_cast<int>(threadIdx.x) % kWarpSize} {}

  __device__ __forceinline__ void run() {
    if (group_ == kTile.warp_groups - 1) pass_turn();  // the first turn is the first group's
    for (int item = static_cast<int>(blockIdx.x); item < p_.order.items; item = next_item()) {
      const ForwardPlace place = forward_place(p_, item, Shared::kRows);
      attend(place);
      finish(place);
    }
    if (group_ == 0) wait_for_turn();  // nobody leaves a barrier half full
    if (thread_ == 0) wait_for_stores();
  }

 private:
  __device__ __forceinline__ int next_item() {
    wait(shared_.barrier(Shared::kItemFull), item_parity_);
    item_parity_ ^= 1u;
    const int item = load_shared(shared_.item());
    release(Shared::kItemEmpty);
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
    release(Shared::kKeysEmpty + keys_.stage);
    keys_.advance();
  }
  __device__ __forceinline__ void release_values() {
    release(Shared::kValuesEmpty + values_.stage);
    values_.advance();
  }
  __device__ __forceinline__ void wait_for_keys() const {
    if (!planted(PlantedFault::kForwardBarrier)) wait_for_tile_of_keys();
  }
  __device__ __forceinline__ void wait_for_tile_of_keys() const {
    wait(shared_.barrier(Shared::kKeysFull + keys_.stage), keys_.parity);
  }
  __device__ __forceinline__ void wait_for_values() const {
    wait(shared_.barrier(Shared::kValuesFull + values_.stage), values_.parity);
  }

  __device__ __forceinline__ void wait_for_turn() const { wait_at_barrier<2 * kWarpGroupThreads>(kTurn + group_); }
  __device__ __forceinline__ void pass_turn() const {
    arrive_at_barrier<2 * kWarpGroupThreads>(kTurn + (group_ == kTile.warp_groups - 1 ? 0 : group_ + 1));
  }

  __device__ __forceinline__ void attend(const ForwardPlace& place) {
    const int first_row = place.first_row + group_ * kGroupRows;
    const int block_steps = forward_steps(p_, place.first_row + Shared::kRows, kTile.cols);
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
    wait(shared_.barrier(Shared::kQueriesFull), queries_parity_);
    queries_parity_ ^= 1u;
    if constexpr (kKeepsQueries) load_queries();
    float s[kScores];
    wait_for_keys();
    start_products();
    multiply_scores(s);
    commit_products();
    wait_for_products<0>(s);
    release_keys();
    // Not before a product has read what the warps loaded: the next copy may overtake loads that are under way.
    if (kKeepsQueries || steps == 1) release(Shared::kQueriesEmpty);
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
    if (!kKeepsQueries && step == 0) release(Shared::kQueriesEmpty);
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

  __device__ __forceinline__ void load_queries() {
    const std::uint32_t line = shared_.q(group_) + matrix_row() * kRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      ldmatrix_x4(&queries_[4 * i], line + i / kPanelSteps * Shared::kGroupPanelBytes + vector_offset(i));
    }
  }

  /// Where a lane finds its row of the four matrices [16, 16] that it loads or stores: lanes of 16 name the rows of the
  /// left two, the others those of the right two, `i` pairs of vectors into the row. The swizzle permutes vectors.
  __device__ __forceinline__ int matrix_row() const { return thread_ / kWarpSize * 16 + lane_ % 16; }
  __device__ __forceinline__ int vector_offset(int i) const {
    return swizzled_vector<kRowBytes>(matrix_row(), 2 * (i % kPanelSteps) + lane_ / 16) * 16;
  }

  /// S = Q K^T.
  __device__ __forceinline__ void multiply_scores(float (&s)[kScores]) const {
    const Operand q = operand<kRowBytes>(shared_.q(group_)), k = operand<kRowBytes>(shared_.k(keys_.stage));
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      const int panel = i / kPanelSteps, offset = i % kPanelSteps * kInnerBytes;
      const Operand keys = k.at(panel * Shared::kPanelBytes + offset);
      if constexpr (kKeepsQueries) {
        Products::template from_registers<false>(s, &queries_[4 * i], keys, i > 0);
      } else {
        Products::from_shared(s, q.at(panel * Shared::kGroupPanelBytes + offset), keys, i > 0);
      }
    }
  }

  /// O += P V.
  __device__ __forceinline__ void multiply_values() {
    const Operand v = operand<kRowBytes>(shared_.v(values_.stage), Shared::kPanelBytes);
#pragma unroll
    for (int i = 0; i < kTile.cols / 16; ++i) {
      Products::template from_registers<true>(o_, &probabilities_[4 * i], v.at(i * 16 * kRowBytes), true);
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

  /// Leaves exp2(scale * (s - reference)) as operands, and their sums.
  __device__ __forceinline__ void exponentiate(const float (&s)[kScores], const float (&shift)[2], float (&sums)[2]) {
    const float scale = exponent_scale();
#pragma unroll
    for (int i = 0; i < kScores / 2; ++i) {
      const float low = exp2_approximate(fmaf(s[2 * i], scale, -shift[i % 2]));
      const float high = exp2_approximate(fmaf(s[2 * i + 1], scale, -shift[i % 2]));
      probabilities_[i] = pack<Element>(low, high);
      sums[i % 2] += low;
      sums[i % 2] += high;
    }
  }

  /// With the references as they are. A row's reference is a maximum of its scores, not the latest; whether it is still
  /// good is seen in the sums, so that a step needs no maximum: none of a thread's elements is above their sum, and
  /// where that is at most 2^8, far from any format's limit, nothing is lost, because references cancel at the end.
  /// @return  false, with P to be made again, where the sum of some thread of the warp is more or no number
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

  /// O / sum, and lse.
  __device__ __forceinline__ void finish(const ForwardPlace& place) {
    const int first_row = place.first_row + group_ * kGroupRows;
    float* const lse = p_.lse + (static_cast<std::int64_t>(place.batch) * p_.heads + place.head) * p_.seq_q;
    float inverse[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = add_lanes(sum_[half]);
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

  __device__ __forceinline__ void store_from_registers(const ForwardPlace& place, int first_row,
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

  __device__ __forceinline__ void store_from_shared(const ForwardPlace& place, int first_row,
                                                    const float (&inverse)[2]) const {
    if (thread_ == 0) wait_for_stores();  // of the item before
    wait_at_barrier<kWarpGroupThreads>(kStaging + group_);
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
    show_to_async_proxy();
    wait_at_barrier<kWarpGroupThreads>(kStaging + group_);
    if (thread_ == 0 && first_row < p_.seq_q) {
      store_boxes<kHeadDim>(p_.o, {first_row, place.head, place.batch}, shared_.o(group_), Shared::kGroupPanelBytes);
    }
  }

  const ForwardParameters& p_;
  Shared shared_;
  int group_, thread_, lane_;
  Ring<kTile.stages> keys_, values_;
  std::uint32_t queries_parity_ = 0, item_parity_ = 0;
  std::uint32_t queries_[kKeepsQueries ? kHeadDim / 4 : 1];
  std::uint32_t probabilities_[kScores / 2];
  float o_[kOutputs];
  float reference_[2], shift_[2], sum_[2];  // of rows; a thread's share of the sums
  float rescale_[2];
};

}  // namespace tbench::kernels::sm90
