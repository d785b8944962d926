// What a computing warpgroup of Hopper's backward kernel does with its 64 keys. It walks over the queries that see
// them: S^T = K Q^T and dP^T = V dO^T, so that P and dS are operands of dV += P dO and dK += dS Q as they stand in
// registers. dS crosses shared memory for dQ = dS K, of which each warpgroup computes a half over the keys of both.
// That product comes at the end of the next step, so that the warpgroups can be half a step apart, one's products
// beside the other's exponentials, and neither waits for the other's dS.
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
  // dQ's half: 64 queries, or 64 columns of all queries.
  static constexpr bool kHalvesQueries = kQueries > kGroupRows;
  static_assert(kQueries == (kHalvesQueries ? 128 : 64) && Shared::kPanels == (kHalvesQueries ? 1 : 2),
                "a warpgroup's half of dQ is 64 by 64, a panel");

  // Of 16; 0 is __syncthreads().
  enum NamedBarrier { kAllGroups = 1, kTurn, kStaging = kTurn + kBackwardGroups };

 public:
  __device__ __forceinline__ BackwardKeys(const BackwardParameters& parameters, Shared shared,
                                          const BackwardPlace& place, int group)
      : p_{parameters}, shared_{shared}, place_{place}, group_{group} {}

  __device__ __forceinline__ void run() {
    wait(shared_.barrier(Shared::kKeysFull), 0);
    if (kTile.takes_turns && group_ == kBackwardGroups - 1) pass_turn();  // the first turn is the first group's
    wait(shared_.barrier(Shared::kValuesFull), 0);
    if constexpr (kKeepsValues) load_values();
    if (kTile.takes_turns) wait_for_turn();
    advance<true>(0);
#pragma unroll 1
    for (int i = 1; i < place_.steps; ++i) advance<false>(i);
    if (kTile.takes_turns) pass_turn();
    const int last = place_.steps - 1;
    float dq[kGroupRows / 2];
    wait_for_products<0>(keys_);
    wait_for_scores(last);
    start_products();
    multiply_query_gradient(dq, last);
    commit_products();
    wait_for_products<0>(dq);
    add_query_gradient(dq, last);
    if (kTile.takes_turns && group_ == 0) wait_for_turn();  // nobody leaves a barrier half full
    finish();
  }

 private:
  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x) / kWarpSize % kWarpGroupWarps; }
  /// Of 128 columns read anew every time: what follows from it would be kept in registers, of which there are none
  /// left.
  __device__ __forceinline__ static int lane() {
    if constexpr (kHeadDim <= 64) return static_cast<int>(threadIdx.x) % kWarpSize;
    int lane;
    asm volatile("mov.u32 %0, %%laneid;\n" : "=r"(lane));
    return lane;
  }

  /// Where the i-th step's tiles and dS lie, and the parity of the phase in which they come: nothing that would have to
  /// be kept in registers.
  __device__ __forceinline__ static std::uint32_t stage(int i) { return static_cast<std::uint32_t>(i) % 2; }
  __device__ __forceinline__ static std::uint32_t parity(int i) { return static_cast<std::uint32_t>(i) / 2 % 2; }
  __device__ __forceinline__ int first_query(int i) const { return sm90::first_query(p_, place_, i, kQueries); }

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

  /// A step, with the dQ of the one before.
  template <bool kFirst>
  __device__ __forceinline__ void advance(int i) {
    float s[kScores];
    float dp[kParts][kPartScores];
    start_scores(s, dp[0], i);
    if (kTile.takes_turns) pass_turn();  // before the wait for dS's buffer, which the other group empties in its turn
    wait_for_products<kTile.early_gradients ? 1 : 0>(s);
    if constexpr (!kTile.early_gradients) start_probability_gradients(dp[0], 0, i);
    mask(s, i);
    exponentiate(s);
    if (planted(PlantedFault::kBackwardRelease)) {
      if (lane() == 0) arrive(shared_.barrier(Shared::kStageEmpty + stage(i)));
      delay(PlantedFault::kBackwardRelease);
    }
    std::uint32_t p[kScores / 2], ds[kScores / 2];
    wait(shared_.barrier(Shared::kScoresEmpty + stage(i)), parity(i) ^ 1u);
    wait_for_products<0>(dp[0]);
    differentiate(s, dp[0], p, ds, 0, i);
    if constexpr (kParts > 1) {
      start_probability_gradients(dp[1], 1, i);
      multiply_gradient<kFirst>(values_, p, shared_.grad_o(stage(i)), 0);
      multiply_gradient<kFirst>(keys_, ds, shared_.q(stage(i)), 0);
      commit_products();
      wait_for_products<1>(dp[1]);
      differentiate(s, dp[1], p, ds, 1, i);
    }
    float dq[kGroupRows / 2];
    if constexpr (!kFirst) wait_for_scores(i - 1);
    if (kTile.takes_turns) wait_for_turn();
    start_products();
    if constexpr (!kFirst) {
      multiply_query_gradient(dq, i - 1);
      commit_products();
    }
    multiply_gradient<kFirst && kParts == 1>(values_, p, shared_.grad_o(stage(i)), kParts - 1);
    multiply_gradient<kFirst && kParts == 1>(keys_, ds, shared_.q(stage(i)), kParts - 1);
    commit_products();
    show_scores(i);  // its fence takes as long as a product: not before them
    if constexpr (!kFirst) {
      wait_for_products<1>(dq);
      release(Shared::kScoresEmpty + stage(i - 1));
      add_query_gradient(dq, i - 1);
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
    multiply_transposed(s, shared_.k(group_), shared_.q(stage(i)));
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
      multiply_transposed(dp, shared_.v(group_), grad_o);
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

  /// gradient += scores * the stage's rows, of a part of the queries; `kFirst`: = instead of +=.
  template <bool kFirst>
  __device__ __forceinline__ static void multiply_gradient(float (&gradient)[kGradients],
                                                           const std::uint32_t (&scores)[kScores / 2],
                                                           std::uint32_t streamed, int part) {
    const Operand right = operand(streamed + part * kPartBytes, Shared::kPanelBytes);
#pragma unroll
    for (int i = 0; i < kPartQueries / 16; ++i) {
      Products::template from_registers<true>(gradient, &scores[part * (kPartScores / 2) + 4 * i],
                                              right.at(i * 16 * kPanelRowBytes), !kFirst || i > 0);
    }
  }

  /// The warpgroup's half of dQ = dS K, of the i-th step, over all of the block's keys.
  __device__ __forceinline__ void multiply_query_gradient(float (&dq)[kGroupRows / 2], int i) const {
    const Operand left =
        operand(shared_.scores(stage(i)) + (kHalvesQueries ? group_ * kGroupRows * kPanelRowBytes : 0));
    const Operand right = operand(shared_.k(0) + (kHalvesQueries ? 0 : group_ * Shared::kKeptPanelBytes));
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
    if (planted(PlantedFault::kDqSkipTile) && place_.first_key == 0) return;
    const int first_row = first_query(i) + (kHalvesQueries ? group_ * kGroupRows : 0);
    const int row_block = first_row / 16 + warp();
    const int column_block = kHalvesQueries ? 0 : group_ * (kGroupRows / 8);
    const std::int64_t head_sums = static_cast<std::int64_t>(place_.head) * p_.rows * kHeadDim;
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

  __device__ __forceinline__ void mask(float (&s)[kScores], int i) const {
    const int first_query = this->first_query(i);
    const int first_key = place_.first_key + group_ * kGroupRows;
    const bool above_diagonal = !p_.causal || first_key + kGroupRows <= first_query + 1;
    if (above_diagonal && first_key + kGroupRows <= p_.seq_kv) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int key = first_key + key_in_group(half);
      const bool exists = key < p_.seq_kv;
      const int seen_from = p_.causal ? key - (planted(PlantedFault::kBackwardMask) ? 1 : 0) : 0;
      const int begin = exists ? seen_from - first_query - lane() % 4 * 2 : kQueries;
#pragma unroll
      for (int n = 0; n < kScores / 4; ++n) {
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
  __device__ __forceinline__ void exponentiate(float (&s)[kScores]) const {
    const float scale = p_.scale * kLog2E * (planted(PlantedFault::kBackwardScale) ? 1.05f : 1.0f);
#pragma unroll
    for (int n = 0; n < kScores; ++n) s[n] = exp2_approximate(s[n] * scale);
  }

  /// P and dS = P (dP - delta) as operands, of a part of the queries; dS to shared memory, too, [query, key], for dQ's
  /// products of both warpgroups. A warp's 16 keys are two vectors of a row; lanes of 8 name the rows of a matrix: the
  /// first eight queries of 16, its two vectors, then the others.
  __device__ __forceinline__ void differentiate(const float (&s)[kScores], const float (&dp)[kPartScores],
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
        const float *const own = &s[part * kPartScores + j], *const gradient = &dp[j];
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
    const std::uint32_t line = shared_.v(group_) + row * kPanelRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      ldmatrix_x4(&kept_values_[4 * i],
                  line + i / 4 * Shared::kKeptPanelBytes + ((2 * i % 8 + lane() / 16) ^ row % 8) * 16);
    }
  }

  /// dK and dV by way of the shared memory of K and V, which nobody reads any more.
  __device__ __forceinline__ void finish() const {
    const int first_key = place_.first_key + group_ * kGroupRows;
    stage_gradient(shared_.v(group_), values_, 1.0f);
    wait_at_barrier<kBackwardGroups * kWarpGroupThreads>(kAllGroups);  // the other one's dQ has read this one's K
    stage_gradient(shared_.k(group_), keys_, planted(PlantedFault::kDkScale) ? 1.0f : p_.scale);
    show_to_async_proxy();
    wait_at_barrier<kWarpGroupThreads>(kStaging + group_);
    if (threadIdx.x % kWarpGroupThreads != 0 || first_key >= p_.seq_kv) return;
    const BoxPlace place{first_key, place_.head % p_.heads, place_.head / p_.heads};
    store_boxes<kHeadDim>(p_.dv, place, shared_.v(group_), Shared::kKeptPanelBytes);
    store_boxes<kHeadDim>(p_.dk, place, shared_.k(group_), Shared::kKeptPanelBytes);
    wait_for_stores();
  }

  /// A lane names its row of four matrices [16, 16]: lanes of 16 the rows of the left two, then those of the right two.
  __device__ __forceinline__ void stage_gradient(std::uint32_t tile, const float (&gradient)[kGradients],
                                                 float factor) const {
    const int row = warp() * 16 + lane() % 16;
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      std::uint32_t r[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float* const pair = &gradient[8 * i + 2 * j];
        r[j] = pack<Element>(pair[0] * factor, pair[1] * factor);
      }
      store_matrices(
          tile + i / 4 * Shared::kKeptPanelBytes + row * kPanelRowBytes + ((2 * i % 8 + lane() / 16) ^ row % 8) * 16,
          r);
    }
  }

  const BackwardParameters& p_;
  Shared shared_;
  const BackwardPlace& place_;
  int group_;
  std::uint32_t kept_values_[kKeepsValues ? kHeadDim / 4 : 1];
  float keys_[kGradients], values_[kGradients];  // of dK and dV
};

}  // namespace tbench::kernels::sm90
