// What a computing warpgroup of Hopper's backward kernel does with 64 keys of each item. It walks over the queries that
// see them: S^T = K Q^T and dP^T = V dO^T, so that P and dS are operands of dV += P dO and dK += dS Q as they stand in
// registers. dS crosses shared memory for dQ = dS K, of which each warpgroup computes a half over the keys of both.
// That product comes at the end of the next step, be it the next item's first, so that the warpgroups can be half a
// step apart, one's products beside the other's exponentials, and neither waits for the other's dS.
#pragma once

#include <cmath>

#include "kernels/attention/common/planted_fault.cuh"
#include "kernels/attention/sm90/backward/backward_shared_sm90.cuh"

namespace tbench::kernels::sm90 {

template <class Element, int kHeadDim>
class BackwardKeys {
  using Shared = SharedBackward<kHeadDim>;
  using Products = Wgmma<Element>;
  static constexpr BackwardTile kTile = Shared::kTile;
  static constexpr int kQueries = Shared::kQueries;
  static constexpr int kScores = kQueries / 2;  // of a thread: a warp's 16 keys among 32 lanes
  // dP^T, dV and dK go by parts of 64 queries: dP^T of 128 would not fit beside S^T, P and dS.
  static constexpr int kPartQueries = 64, kParts = kQueries / kPartQueries;
  static constexpr int kPartScores = kPartQueries / 2;
  static constexpr int kPartBytes = kPartQueries * kPanelRowBytes;
  static constexpr bool kKeepsValues = kHeadDim == 64;  // in registers: each part would read them from shared memory
  static constexpr int kGradients = kHeadDim / 2;
  static constexpr int kInnerBytes = 16 * 2;  // of a product's inner extent, along a panel's row
  static_assert(kTile.stages == 2);
  static_assert(kParts > 1 || !(kTile.takes_turns && kTile.skips_masked), "skip() takes no turn");
  // dQ's half: 64 queries, or 64 columns of all queries.
  static constexpr bool kHalvesQueries = kQueries > kGroupRows;
  static_assert(kQueries == (kHalvesQueries ? 128 : 64) && Shared::kPanels == (kHalvesQueries ? 1 : 2),
                "a warpgroup's half of dQ is 64 by 64, a panel");

  // Of 16; 0 is __syncthreads().
  enum NamedBarrier { kTurn = 1 };

 public:
  __device__ __forceinline__ BackwardKeys(const BackwardParameters& parameters, Shared shared, int group)
      : p_{parameters}, shared_{shared}, group_{group} {}

  __device__ __forceinline__ void run() {
    if (kTile.takes_turns && group_ == kBackwardGroups - 1) pass_turn();  // the first turn is the first group's
    bool has_turn = false;
    int i = 0;
#pragma unroll 1
    for (int item = dealt_item(0); item < p_.order.items; item = dealt_item(static_cast<int>(++item_))) {
      take_item();
      if (kTile.takes_turns && !has_turn) wait_for_turn();
      begin_ = i;
      const int end = i + steps_of(p_, backward_item(p_, item).tile, kQueries);
      if (sees_half(i)) {
        if constexpr (kHalvesQueries) advance_by_half(i++);
        if constexpr (!kHalvesQueries) skip(i++);
      }
#pragma unroll 1
      for (; i < end; ++i) advance(i);
      // From item to item a turn is kept: it would come back half a step later. But where the item had one step, the
      // other warpgroup may need it to give the K back in whose place the next item's comes.
      has_turn = end - begin_ > 1;
      store_gradients();
      if (planted(PlantedFault::kBackwardKept)) release(Shared::kKeysEmpty + kept());
      if (kTile.takes_turns && !has_turn) pass_turn();
    }
    if (kTile.takes_turns && has_turn) pass_turn();
    begin_ = i;
    float dq[kGroupRows / 2];
    wait_for_scores(i - 1);
    start_products();
    multiply_query_gradient(dq, i);
    commit_products();
    wait_for_products<0>(dq);
    add_query_gradient(dq, i);
    if (kTile.takes_turns && group_ == 0) wait_for_turn();  // nobody leaves a barrier half full
  }

 private:
  __device__ __forceinline__ void take_item() {
    const std::uint32_t parity = item_ / kKeptStages % 2;
    wait(shared_.barrier(Shared::kKeysFull + kept()), parity);
    wait(shared_.barrier(Shared::kValuesFull + kept()), parity);
    if constexpr (kKeepsValues) {
      load_values();
      release(Shared::kValuesEmpty + kept());
    }
  }

  __device__ __forceinline__ void store_gradients() const {
    store_gradient(p_.dv, values_, 1.0f);
    store_gradient(p_.dk, keys_, planted(PlantedFault::kDkScale) ? 1.0f : p_.scale);
    if constexpr (!kKeepsValues) release(Shared::kValuesEmpty + kept());
  }

  /// Where the item's K, V and fields lie, and those of the step before, whose dQ is late.
  __device__ __forceinline__ std::uint32_t kept() const { return item_ % kKeptStages; }
  __device__ __forceinline__ std::uint32_t late_kept(int i) const {
    return (item_ - (begins_item(i) ? 1 : 0)) % kKeptStages;
  }
  __device__ __forceinline__ bool begins_item(int i) const { return i == begin_; }

  /// With a mask an item's first 64 queries see the first warpgroup's keys alone: of the second one's first step a half
  /// is left, or with 64 queries a step nothing.
  __device__ __forceinline__ bool sees_half(int i) const {
    return kTile.skips_masked && p_.causal && group_ == kBackwardGroups - 1 && begins_item(i);
  }
  /// Whether no step before has added to dK and dV.
  __device__ __forceinline__ bool begins_sums(int i) const {
    return begins_item(i) || (!kHalvesQueries && sees_half(i - 1));
  }

  /// A step whose P and dS are zeros, with the dQ of the one before.
  __device__ __forceinline__ void skip(int i) {
    wait(shared_.barrier(Shared::kQueriesFull + stage(i)), parity(i));  // or its buffer could be given back too early
    wait(shared_.barrier(Shared::kScoresEmpty + stage(i)), parity(i) ^ 1u);
    clear_scores(i);
    show_scores(i);
    if (i > 0) {
      float dq[kGroupRows / 2];
      wait_for_late_scores(i);
      start_products();
      multiply_query_gradient(dq, i);
      commit_products();
      wait_for_products<0>(dq);
      release(Shared::kScoresEmpty + stage(i - 1));
      add_query_gradient(dq, i);
      release_late_keys(i);
    }
    release(Shared::kStageEmpty + stage(i));
  }

  __device__ __forceinline__ int of_item(typename Shared::Field field) const {
    return load_shared(shared_.field(kept(), field));
  }
  __device__ __forceinline__ int of_late_item(typename Shared::Field field, int i) const {
    return load_shared(shared_.field(late_kept(i), field));
  }
  __device__ __forceinline__ int first_query(int i) const {
    return sm90::first_query(p_, i + of_item(Shared::kShift), kQueries);
  }
  __device__ __forceinline__ int late_query(int i) const {
    return sm90::first_query(p_, i - 1 + of_late_item(Shared::kShift, i), kQueries);
  }

  /// dS of the warpgroup and a part's queries.
  __device__ __forceinline__ void clear_scores(int i) const {
    const std::uint32_t line = shared_.scores(stage(i)) + group_ * Shared::kScoresPanelBytes +
                               static_cast<int>(threadIdx.x) % kWarpGroupThreads * 16;
#pragma unroll
    for (int n = 0; n < kPartBytes / (kWarpGroupThreads * 16); ++n) store_zeros(line + n * kWarpGroupThreads * 16);
  }

  /// A step of the second part's queries alone, at an item's beginning.
  __device__ __forceinline__ void advance_by_half(int i) {
    constexpr int kPart = 1, kBytes = kPart * kPartQueries * 4;
    float s[kPartScores], dp[kPartScores];
    wait(shared_.barrier(Shared::kQueriesFull + stage(i)), parity(i));
    spread(s, shared_.lse(stage(i)) + kBytes);
    wait_for_gradients(i);
    spread(dp, shared_.delta(stage(i)) + kBytes);
    start_products();
    multiply_transposed(s, shared_.k(kept(), group_), shared_.q(stage(i)) + kPart * kPartBytes);
    commit_products();
    multiply_probability_gradients(dp, kPart, i);
    commit_products();
    if (kTile.takes_turns) pass_turn();
    wait_for_products<1>(s);
    mask(s, first_query(i) + kPart * kPartQueries);
    exponentiate(s);
    release_too_early(i);
    std::uint32_t p[kScores / 2], ds[kScores / 2];
    wait(shared_.barrier(Shared::kScoresEmpty + stage(i)), parity(i) ^ 1u);
    clear_scores(i);
    wait_for_products<0>(dp);
    differentiate(s, dp, p, ds, kPart, i);
    float dq[kGroupRows / 2];
    wait_for_late_scores(i);
    if (kTile.takes_turns) wait_for_turn();
    start_products();
    multiply_query_gradient(dq, i);
    commit_products();
    multiply_gradient(values_, p, shared_.grad_o(stage(i)), kPart, false);
    multiply_gradient(keys_, ds, shared_.q(stage(i)), kPart, false);
    commit_products();
    finish_step(dq, i);
  }

  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x) / kWarpSize % kWarpGroupWarps; }
  /// Of 128 columns read anew every time: what follows from it would be kept in registers, of which there are none
  /// left.
  __device__ __forceinline__ static int lane() {
    if constexpr (kHeadDim <= 64) return static_cast<int>(threadIdx.x) % kWarpSize;
    int lane;
    asm volatile("mov.u32 %0, %%laneid;\n" : "=r"(lane));
    return lane;
  }

  /// Where the tiles and dS of the block's i-th step lie, and the parity of the phase in which they come: nothing that
  /// would have to be kept in registers.
  __device__ __forceinline__ static std::uint32_t stage(int i) { return static_cast<std::uint32_t>(i) % 2; }
  __device__ __forceinline__ static std::uint32_t parity(int i) { return static_cast<std::uint32_t>(i) / 2 % 2; }

  __device__ __forceinline__ void wait_for_turn() const { wait_at_barrier<2 * kWarpGroupThreads>(kTurn + group_); }
  __device__ __forceinline__ void pass_turn() const { arrive_at_barrier<2 * kWarpGroupThreads>(kTurn + (1 - group_)); }

  /// Of both warpgroups, of the i-th step.
  __device__ __forceinline__ void wait_for_scores(int i) const {
    wait(shared_.barrier(Shared::kScoresFull + stage(i)), parity(i));
  }

  /// Tells those who wait at the barrier that the warp has done its part: written what it is of, or read it.
  __device__ __forceinline__ void release(std::uint32_t barrier) const {
    __syncwarp();
    if (lane() == 0) arrive(shared_.barrier(barrier));
  }

  /// A step, with the dQ of the one before. The block's first step has none before it: a product of whatever lies there
  /// goes nowhere, as ptxas takes no branch around products.
  __device__ __forceinline__ void advance(int i) {
    float s[kScores];
    float dp[kParts][kPartScores];
    start_scores(s, dp[0], i);
    if (kTile.takes_turns) pass_turn();  // before the wait for dS's buffer, which the other group empties in its turn
    wait_for_products<kTile.early_gradients ? 1 : 0>(s);
    if constexpr (!kTile.early_gradients) start_probability_gradients(dp[0], 0, i);
    mask(s, first_query(i));
    exponentiate(s);
    release_too_early(i);
    std::uint32_t p[kScores / 2], ds[kScores / 2];
    wait(shared_.barrier(Shared::kScoresEmpty + stage(i)), parity(i) ^ 1u);
    wait_for_products<0>(dp[0]);
    differentiate(&s[0], dp[0], p, ds, 0, i);
    if constexpr (kParts > 1) {
      start_probability_gradients(dp[1], 1, i);
      multiply_gradient(values_, p, shared_.grad_o(stage(i)), 0, !begins_sums(i));
      multiply_gradient(keys_, ds, shared_.q(stage(i)), 0, !begins_sums(i));
      commit_products();
      wait_for_products<1>(dp[1]);
      differentiate(&s[kPartScores], dp[1], p, ds, 1, i);
    }
    float dq[kGroupRows / 2];
    wait_for_late_scores(i);
    if (kTile.takes_turns) wait_for_turn();
    start_products();
    multiply_query_gradient(dq, i);
    commit_products();
    multiply_gradient(values_, p, shared_.grad_o(stage(i)), kParts - 1, kParts > 1 || !begins_sums(i));
    multiply_gradient(keys_, ds, shared_.q(stage(i)), kParts - 1, kParts > 1 || !begins_sums(i));
    commit_products();
    finish_step(dq, i);
  }

  __device__ __forceinline__ void release_too_early(int i) const {
    if (!planted(PlantedFault::kBackwardRelease)) return;
    if (lane() == 0) arrive(shared_.barrier(Shared::kStageEmpty + stage(i)));
    delay(PlantedFault::kBackwardRelease);
  }

  /// Those of the step before the i-th.
  __device__ __forceinline__ void wait_for_late_scores(int i) const {
    if (i == 0) return;
    if (begins_item(i)) delay(PlantedFault::kBackwardKept);
    wait_for_scores(i - 1);
  }
  /// K of the item before, whose dQ is complete.
  __device__ __forceinline__ void release_late_keys(int i) const {
    if (!planted(PlantedFault::kBackwardKept)) release(Shared::kKeysEmpty + late_kept(i));
  }

  /// What is left when all products of a step have been issued.
  __device__ __forceinline__ void finish_step(float (&dq)[kGroupRows / 2], int i) {
    show_scores(i);  // its fence takes as long as a product: not before them
    wait_for_products<1>(dq);
    if (i > 0) {
      release(Shared::kScoresEmpty + stage(i - 1));
      add_query_gradient(dq, i);
      if (begins_item(i)) release_late_keys(i);
    }
    wait_for_products<0>(values_);
    wait_for_products<0>(keys_);
    if (!planted(PlantedFault::kBackwardRelease)) release(Shared::kStageEmpty + stage(i));
  }

  /// Starts a step's S^T, with dP^T of its first part or alone.
  __device__ __forceinline__ void start_scores(float (&s)[kScores], float (&dp)[kPartScores], int i) const {
    if (!planted(PlantedFault::kBackwardBarrier)) wait(shared_.barrier(Shared::kQueriesFull + stage(i)), parity(i));
    spread(s, shared_.lse(stage(i)));
    if constexpr (kTile.early_gradients) {
      wait_for_gradients(i);
      spread(dp, shared_.delta(stage(i)));
    }
    start_products();
    multiply_transposed(s, shared_.k(kept(), group_), shared_.q(stage(i)));
    commit_products();
    if constexpr (kTile.early_gradients) {
      multiply_probability_gradients(dp, 0, i);
      commit_products();
    } else {
      wait_for_gradients(i);
    }
  }

  __device__ __forceinline__ void start_probability_gradients(float (&dp)[kPartScores], int part, int i) const {
    spread(dp, shared_.delta(stage(i)) + part * kPartQueries * 4);
    start_products();
    multiply_probability_gradients(dp, part, i);
    commit_products();
  }

  __device__ __forceinline__ void wait_for_gradients(int i) const {
    wait(shared_.barrier(Shared::kGradientsFull + stage(i)),
         parity(i) ^ (planted(PlantedFault::kBackwardParity) ? 1u : 0u));
  }

  /// dP^T - delta, of a part of the queries.
  __device__ __forceinline__ void multiply_probability_gradients(float (&dp)[kPartScores], int part, int i) const {
    const std::uint32_t grad_o = shared_.grad_o(stage(i)) + part * kPartBytes;
    if constexpr (kKeepsValues) {
      const Operand right = operand(grad_o);
#pragma unroll
      for (int j = 0; j < kHeadDim / 16; ++j) {
        Products::template from_registers<false>(dp, &kept_values_[4 * j],
                                                 right.at(j / 4 * Shared::kPanelBytes + j % 4 * kInnerBytes), true);
      }
    } else {
      multiply_transposed(dp, shared_.v(kept(), group_), grad_o);
    }
  }
  template <int kCount>
  __device__ __forceinline__ static void multiply_transposed(float (&result)[kCount], std::uint32_t kept,
                                                             std::uint32_t streamed) {
    const Operand left = operand(kept), right = operand(streamed);
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      const int panel = i / 4, offset = i % 4 * kInnerBytes;
      Products::from_shared(result, left.at(panel * Shared::kKeptPanelBytes + offset),
                            right.at(panel * Shared::kPanelBytes + offset), true);
    }
  }

  /// gradient += scores * the stage's rows, of a part of the queries; = instead of += without `add`.
  __device__ __forceinline__ void multiply_gradient(float (&gradient)[kGradients],
                                                    const std::uint32_t (&scores)[kScores / 2], std::uint32_t streamed,
                                                    int part, bool add) const {
    const Operand right = operand(streamed + part * kPartBytes, Shared::kPanelBytes);
#pragma unroll
    for (int j = 0; j < kPartQueries / 16; ++j) {
      Products::template from_registers<true>(gradient, &scores[part * (kPartScores / 2) + 4 * j],
                                              right.at(j * 16 * kPanelRowBytes), add || j > 0);
    }
  }

  /// The warpgroup's half of dQ = dS K, of the step before the i-th, over all of its item's keys.
  __device__ __forceinline__ void multiply_query_gradient(float (&dq)[kGroupRows / 2], int i) const {
    const Operand left =
        operand(shared_.scores(stage(i - 1)) + (kHalvesQueries ? group_ * kGroupRows * kPanelRowBytes : 0));
    const Operand right = operand(shared_.k(late_kept(i), 0) + (kHalvesQueries ? 0 : group_ * Shared::kKeptPanelBytes));
#pragma unroll
    for (int j = 0; j < kBackwardKeys / 16; ++j) {
      const int group = j / 4, inner = j % 4;
      Products::template from_shared<true>(dq, left.at(group * Shared::kScoresPanelBytes + inner * kInnerBytes),
                                           right.at(group * Shared::kKeptBytes + inner * 16 * kPanelRowBytes), j > 0);
    }
  }

  /// Adds it to the sums [batch, heads, query blocks of 16, head_dim / 8, lane, 4]: a thread's four elements of a block
  /// of eight columns side by side, so that a warp adds 512 bytes in a row.
  __device__ __forceinline__ void add_query_gradient(const float (&dq)[kGroupRows / 2], int i) const {
    constexpr int kColumnBlocks = kHeadDim / 8;
    if (planted(PlantedFault::kDqSkipTile) && of_late_item(Shared::kFirstKey, i) == 0) return;
    const int first_row = late_query(i) + (kHalvesQueries ? group_ * kGroupRows : 0);
    const int row_block = first_row / 16 + warp();
    const int column_block = kHalvesQueries ? 0 : group_ * (kGroupRows / 8);
    const std::int64_t head_sums = static_cast<std::int64_t>(of_late_item(Shared::kHeadOfAll, i)) * p_.rows * kHeadDim;
    float* const sums =
        p_.dq_sums + head_sums + (row_block * kColumnBlocks + column_block) * kWarpSize * 4 + lane() * 4;
#pragma unroll
    for (int n = 0; n < kGroupRows / 8; ++n) {
      // The second panel's last columns are zeros that dQ does not have.
      if (kHeadDim % kPanelCols != 0 && column_block + n >= kColumnBlocks) break;
      add_to_global(sums + n * kWarpSize * 4, &dq[4 * n]);
    }
  }

  /// Of a thread's two keys, eight apart. Its scores come in fours: two queries of the first, the same of the second.
  __device__ __forceinline__ int key_in_group(int half) const { return warp() * 16 + half * 8 + lane() / 4; }

  template <int kCount>
  __device__ __forceinline__ void mask(float (&s)[kCount], int first_query) const {
    const int first_key = of_item(Shared::kFirstKey) + group_ * kGroupRows;
    const bool above_diagonal = !p_.causal || first_key + kGroupRows <= first_query + 1;
    if (above_diagonal && first_key + kGroupRows <= p_.seq_kv) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int key = first_key + key_in_group(half);
      const bool exists = key < p_.seq_kv;
      const int seen_from = p_.causal ? key - (planted(PlantedFault::kBackwardMask) ? 1 : 0) : 0;
      const int begin = exists ? seen_from - first_query - lane() % 4 * 2 : kQueries;
#pragma unroll
      for (int n = 0; n < kCount / 4; ++n) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          if (n * 8 + j < begin) s[4 * n + 2 * half + j] = -INFINITY;
        }
      }
    }
  }

  /// A number of each query, lse or delta, for the accumulators to start from: neither is in the way between a product
  /// and what becomes of it. In instructions that stay before the products, as ptxas wants it.
  template <int kCount>
  __device__ __forceinline__ static void spread(float (&sums)[kCount], std::uint32_t statistics) {
#pragma unroll
    for (int n = 0; n < kCount / 4; ++n) {
      const float2 pair = load_shared_pair(statistics + lane() % 4 * 8 + n * 32);
      sums[4 * n] = pair.x;
      sums[4 * n + 1] = pair.y;
      asm volatile("mov.b32 %0, %1;\n" : "=f"(sums[4 * n + 2]) : "f"(pair.x));
      asm volatile("mov.b32 %0, %1;\n" : "=f"(sums[4 * n + 3]) : "f"(pair.y));
    }
  }

  /// P = exp(scale * (S - lse / scale)).
  template <int kCount>
  __device__ __forceinline__ void exponentiate(float (&s)[kCount]) const {
    const float scale = p_.scale * kLog2E * (planted(PlantedFault::kBackwardScale) ? 1.05f : 1.0f);
#pragma unroll
    for (int n = 0; n < kCount; ++n) s[n] = exp2_approximate(s[n] * scale);
  }

  /// P and dS = P (dP - delta) as operands, of a part of the queries; dS to shared memory, too, [query, key], for dQ's
  /// products of both warpgroups. A warp's 16 keys are two vectors of a row; lanes of 8 name the rows of a matrix: the
  /// first eight queries of 16, its two vectors, then the others.
  __device__ __forceinline__ void differentiate(const float* s, const float (&dp)[kPartScores],
                                                std::uint32_t (&p)[kScores / 2], std::uint32_t (&ds)[kScores / 2],
                                                int part, int i) const {
    const int vector = warp() * 2 + lane() / 8 % 2, row = lane() / 16 * 8 + lane() % 8;
    const std::uint32_t line = shared_.scores(stage(i)) + group_ * Shared::kScoresPanelBytes + row * kPanelRowBytes +
                               (vector ^ lane() % 8) * 16;
#pragma unroll
    for (int n = 0; n < kPartScores / 4; ++n) {
      const int block = part * (kPartScores / 4) + n;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int j = 4 * n + 2 * half;
        const float *const own = &s[j], *const gradient = &dp[j];
        p[2 * block + half] = pack<Element>(own[0], own[1]);
        ds[2 * block + half] = pack<Element>(own[0] * gradient[0], own[1] * gradient[1]);
      }
      if (planted(PlantedFault::kDvSkipTile) && first_query(i) == 0) p[2 * block] = p[2 * block + 1] = 0;
      if (n % 2 == 1) store_transposed(line + block / 2 * 16 * kPanelRowBytes, &ds[2 * (block - 1)]);
    }
  }

  /// To both warpgroups, what differentiate() has stored of a step.
  __device__ __forceinline__ void show_scores(int i) const {
    show_to_async_proxy();
    release(Shared::kScoresFull + stage(i));
  }

  /// V as the left operand of dP^T: lanes of 16 name the rows of the left two of four matrices, then of the right two.
  __device__ __forceinline__ void load_values() {
    const int row = warp() * 16 + lane() % 16;
    const std::uint32_t line = shared_.v(kept(), group_) + row * kPanelRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      ldmatrix_x4(&kept_values_[4 * i],
                  line + i / 4 * Shared::kKeptPanelBytes + ((2 * i % 8 + lane() / 16) ^ row % 8) * 16);
    }
  }

  /// dK or dV, from registers: it waits for nobody, and no shared memory has to wait for it. A quad has two rows of 32
  /// columns at a time in four blocks of eight, a thread two columns of each; it stores one block of each row.
  __device__ __forceinline__ void store_gradient(const TensorView& view, const float (&gradient)[kGradients],
                                                 float factor) const {
    constexpr int kBlocks = kHeadDim / 8, kTogether = 4;
    const int place = lane() % 4, key = of_item(Shared::kFirstKey) + group_ * kGroupRows + key_in_group(0);
    Element* const first = static_cast<Element*>(view.data) + of_item(Shared::kBatch) * view.strides[0] +
                           of_item(Shared::kHead) * view.strides[1];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool exists = key + half * 8 < p_.seq_kv;
      Element* const row = first + (key + half * 8) * view.strides[2];
      const auto pair = [&](int block) {
        return pack<Element>(gradient[4 * block + 2 * half] * factor, gradient[4 * block + 2 * half + 1] * factor);
      };
#pragma unroll
      for (int block = 0; block + kTogether <= kBlocks; block += kTogether) {
        std::uint32_t r[kTogether]{pair(block), pair(block + 1), pair(block + 2), pair(block + 3)};
        transpose_quad(r, place);
        uint4* const destination = reinterpret_cast<uint4*>(row + (block + place) * 8);
        if (exists) *destination = {r[0], r[1], r[2], r[3]};
      }
#pragma unroll
      for (int block = kBlocks / kTogether * kTogether; block < kBlocks; ++block) {
        if (exists) *reinterpret_cast<std::uint32_t*>(row + block * 8 + place * 2) = pair(block);
      }
    }
  }

  /// The j-th of a quad's lane i becomes the i-th of lane j; `place`: the lane's in its quad.
  __device__ __forceinline__ static void transpose_quad(std::uint32_t (&r)[4], int place) {
#pragma unroll
    for (int bit = 1; bit < 4; bit *= 2) {
      const bool upper = place & bit;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (j & bit) continue;
        const std::uint32_t other = __shfl_xor_sync(kFullWarp, upper ? r[j] : r[j | bit], bit);
        r[j] = upper ? other : r[j];
        r[j | bit] = upper ? r[j | bit] : other;
      }
    }
  }

  const BackwardParameters& p_;
  Shared shared_;
  int group_;
  std::uint32_t item_ = 0;  // of the block
  int begin_ = 0;           // its first step
  std::uint32_t kept_values_[kKeepsValues ? kHeadDim / 4 : 1];
  float keys_[kGradients], values_[kGradients];  // of dK and dV
};

}  // namespace tbench::kernels::sm90
