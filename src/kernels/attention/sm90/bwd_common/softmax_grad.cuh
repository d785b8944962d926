// The part of a consumer warpgroup's step that all sm90 backward kernels share: S^T, dP^T and dS of 64 keys and a step
// of queries, and their products. Scores are transposed, so that P and dS are already in the register layout of
// operands of dV += P dO and dK += dS Q. The warpgroups exchange dS through shared memory for dQ = dS K, of which each
// warpgroup computes one half over all keys of the work tile.
#pragma once

#include <cmath>

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/sm90/bwd_common/params.cuh"
#include "kernels/attention/sm90/common/ptx.cuh"
#include "kernels/attention/sm90/common/wgmma.cuh"

namespace tbench::kernels::sm90 {

/// Products, mask and exponentials of a step.
/// @tparam Tiles  a BwdSmem that also holds K and V
template <class Element, class Parameters, class Tiles>
class SoftmaxGrad {
 protected:
  using Shared = Tiles;
  using Products = Wgmma<Element>;
  static constexpr int kHeadDim = Shared::kHeadDim;
  static constexpr BwdConfig kTile = Shared::kTile;
  static constexpr int kQueries = Shared::kQueries;
  static constexpr int kScores = kQueries / 2;  // scores per thread: the 32 lanes of a warp share 16 keys
  // dP^T, dV and dK are computed in parts of 64 queries: dP^T of 128 queries would not fit into registers next to S^T,
  // P and dS.
  static constexpr int kPartQueries = 64, kParts = kQueries / kPartQueries;
  static constexpr int kPartScores = kPartQueries / 2;
  static constexpr int kPartBytes = kPartQueries * Shared::kRowBytes;
  static constexpr int kGradients = kHeadDim / 2;
  static constexpr int kInnerBytes = 16 * 2;  // inner extent of a product, along a panel's row
  static_assert(kTile.stages == 2);
  // The warpgroup's half of dQ: 64 queries, or all queries with half of K's panels.
  static constexpr bool kHalvesQueries = kQueries > kWgmmaM;
  static constexpr int kHalfPanels = kHalvesQueries ? Shared::kPanels : Shared::kPanels / 2;
  static constexpr int kHalfColumns = kHalfPanels * Shared::kPanelColumns;
  static constexpr int kQueryGradients = kWgmmaM * kHalfColumns / kWarpGroupThreads;  // per thread
  static_assert(kQueries == (kHalvesQueries ? 128 : 64) && kHeadDim == (kHalvesQueries ? 1 : 2) * kHalfColumns,
                "both halves are all of dQ");

  __device__ __forceinline__ SoftmaxGrad(const Parameters& parameters, Shared shared, int group)
      : p_{parameters}, shared_{shared}, group_{group} {}

  __device__ __forceinline__ static int warp() {
    const int thread = kHeadDim <= 128 ? static_cast<int>(threadIdx.x) : opaque_thread_index();
    return thread / kWarpSize % kWarpGroupWarps;
  }
  /// The lane and, at head_dim 256, also the warp are read again at every use. Otherwise the compiler would keep values
  /// computed from them in registers, of which none are left.
  __device__ __forceinline__ static int lane() {
    if constexpr (kHeadDim <= 64) return static_cast<int>(threadIdx.x) % kWarpSize;
    return read_lane();
  }

  /// Stage and, below, phase parity of the tiles and dS of the CTA's i-th step. They are computed from i, so that no
  /// register has to keep them.
  __device__ __forceinline__ static std::uint32_t stage(int i) { return static_cast<std::uint32_t>(i) % 2; }
  __device__ __forceinline__ static std::uint32_t parity(int i) { return static_cast<std::uint32_t>(i) / 2 % 2; }

  __device__ __forceinline__ void wait_for_gradients(int i) const {
    wait_for_tile(shared_.barrier(Shared::kGradientsFull + stage(i)), parity(i));
  }
  __device__ __forceinline__ static void wait_for_tile(std::uint32_t barrier, std::uint32_t parity) {
    // The injected fault waits for the preceding phase. Once the tile has arrived, that parity belongs to the next
    // tile, which is not loaded before this tile has been read, so the wait is bounded.
    if (injected(InjectedFault::kBackwardParity)) return mbarrier_wait_bounded(barrier, parity ^ 1u);
    mbarrier_wait(barrier, parity);
  }
  /// Waits for both warpgroups' dS of the i-th step.
  __device__ __forceinline__ void wait_for_scores(int i) const {
    mbarrier_wait(shared_.barrier(Shared::kScoresFull + stage(i)), parity(i));
  }

  /// Arrives for the warp at a barrier: the warp has written or read the data that the barrier guards.
  __device__ __forceinline__ void release(std::uint32_t barrier) const {
    __syncwarp();
    if (lane() == 0) mbarrier_arrive(shared_.barrier(barrier));
  }
  __device__ __forceinline__ void release_too_early(int i) const {
    if (!injected(InjectedFault::kBackwardRelease)) return;
    __syncwarp();
    if (lane() == 0) mbarrier_arrive(shared_.barrier(Shared::kStageEmpty + stage(i)));
    delay(InjectedFault::kBackwardRelease);
  }

  /// Issues result += K Q^T or V dO^T: stationary rows times streamed rows.
  template <int kCount>
  __device__ __forceinline__ static void multiply_transposed(float (&result)[kCount], std::uint32_t kept,
                                                             std::uint32_t streamed) {
    const SmemDescriptor left = make_smem_descriptor<Shared::kRowBytes>(kept),
                         right = make_smem_descriptor<Shared::kRowBytes>(streamed);
    constexpr int kOfPanel = Shared::kPanelColumns / 16;
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      const int panel = i / kOfPanel, offset = i % kOfPanel * kInnerBytes;
      Products::from_shared(result, left.at(panel * Shared::kKeptPanelBytes + offset),
                            right.at(panel * Shared::kPanelBytes + offset), true);
    }
  }

  /// Issues gradient += scores * the stage's rows for one part of the queries. Without `add`, it overwrites `gradient`.
  __device__ __forceinline__ static void multiply_gradient(float (&gradient)[kGradients],
                                                           const std::uint32_t (&scores)[kScores / 2],
                                                           std::uint32_t streamed, int part, bool add) {
    const SmemDescriptor right =
        make_smem_descriptor<Shared::kRowBytes>(streamed + part * kPartBytes, Shared::kPanelBytes);
#pragma unroll
    for (int j = 0; j < kPartQueries / 16; ++j) {
      Products::template from_registers<true>(gradient, &scores[part * (kPartScores / 2) + 4 * j],
                                              right.at(j * 16 * Shared::kRowBytes), add || j > 0);
    }
  }

  /// Index of the warpgroup's 64 keys in the work tile.
  __device__ __forceinline__ int key_group() const { return Shared::kKeyGroups > 1 ? group_ : 0; }

  /// Operands of a warpgroup's half of dQ = dS K: dS of the i-th step and, below, the work tile's keys in blocks of 64.
  __device__ __forceinline__ SmemDescriptor scores_operand(int i) const {
    return make_smem_descriptor(shared_.scores(stage(i)) + (kHalvesQueries ? group_ * kWgmmaM * kPanelRowBytes : 0));
  }
  __device__ __forceinline__ SmemDescriptor keys_operand(std::uint32_t keys) const {
    return make_smem_descriptor<Shared::kRowBytes>(
        keys + (kHalvesQueries ? 0 : group_ * kHalfPanels * Shared::kKeptPanelBytes),
        kHalfPanels > 1 ? Shared::kKeptPanelBytes : 16);
  }
  /// Issues dQ = dS K, added to the contents of dq with `add`.
  __device__ __forceinline__ static void multiply_query_gradient(float (&dq)[kQueryGradients],
                                                                 const SmemDescriptor& scores,
                                                                 const SmemDescriptor& keys, bool add = false) {
#pragma unroll
    for (int j = 0; j < Shared::kKeys / 16; ++j) {
      const int group = j / 4, inner = j % 4;
      Products::template from_shared<true>(dq, scores.at(group * Shared::kScoresPanelBytes + inner * kInnerBytes),
                                           keys.at(group * Shared::kKeptBytes + inner * 16 * Shared::kRowBytes),
                                           add || j > 0);
    }
  }

  /// Adds dQ to the sums [batch, heads, query blocks of 16, head_dim / 8, lane, 4]. A thread's four elements of a block
  /// of eight columns are contiguous, so that a warp adds 512 contiguous bytes. `head` is the index among the heads of
  /// all batches; `put` adds four floats.
  template <class Put>
  __device__ __forceinline__ void add_query_gradient(const float (&dq)[kQueryGradients], int first_query, int head,
                                                     Put&& put) const {
    constexpr int kColumnBlocks = kHeadDim / 8;
    const int first_row = first_query + (kHalvesQueries ? group_ * kWgmmaM : 0);
    const int row_block = first_row / 16 + warp();
    const int column_block = kHalvesQueries ? 0 : group_ * (kHalfColumns / 8);
    const std::int64_t head_sums = static_cast<std::int64_t>(head) * p_.rows * kHeadDim;
    float* const sums =
        p_.dq_sums + head_sums + (row_block * kColumnBlocks + column_block) * kWarpSize * 4 + lane() * 4;
#pragma unroll
    for (int n = 0; n < kQueryGradients / 4; ++n) {
      put(sums + n * kWarpSize * 4, &dq[4 * n]);
    }
  }

  /// Whether the work tile has only a part of the heads that share its keys.
  __device__ __forceinline__ bool has_part_of_heads() const {
    if constexpr (kIsGqa<Parameters>) {
      return p_.dk_sums != nullptr;
    } else {
      return false;
    }
  }

  /// Stores dK and dV of a part of the heads that share the keys, for the kernel that adds the parts.
  /// @param head       index of the part among the parts of all batches
  /// @param first_key  of the warpgroup
  __device__ __forceinline__ void store_part_of_gradients(const float (&keys)[kGradients],
                                                          const float (&values)[kGradients], int head,
                                                          int first_key) const {
    if constexpr (kIsGqa<Parameters>) {
      const int kv_heads = divide(p_.batch_heads, p_.parts), kv_head = divide(head, p_.parts);
      const std::int64_t index = static_cast<std::int64_t>(head - kv_head * p_.parts.value) * kv_heads + kv_head;
      const std::int64_t offset =
          (index * p_.kv_rows + first_key + warp() * 16) * kHeadDim + static_cast<std::int64_t>(lane()) * 4;
#pragma unroll
      for (int n = 0; n < kGradients / 4; ++n) {
        store_to_global(p_.dk_sums + offset + n * kWarpSize * 4, &keys[4 * n]);
        store_to_global(p_.dv_sums + offset + n * kWarpSize * 4, &values[4 * n]);
      }
    }
  }

  /// Index of a thread's key among the warpgroup's 64 keys. A thread has two keys, eight apart; its scores are groups
  /// of four: two queries of the first key, then the same two queries of the second key.
  __device__ __forceinline__ int key_in_group(int half) const { return warp() * 16 + half * 8 + lane() / 4; }

  /// Masks scores, also of queries past the end: unmasked, their zeros times Inf would be NaN. `item_key` is the first
  /// key of the work tile.
  template <int kCount>
  __device__ __forceinline__ void mask(float (&s)[kCount], int first_query, int item_key) const {
    const int first_key = item_key + key_group() * kWgmmaM;
    const bool above_diagonal = !p_.causal || first_key + kWgmmaM <= first_query + 1;
    if (above_diagonal && first_key + kWgmmaM <= p_.seq_kv && first_query + 2 * kCount <= p_.seq_q) return;
    const int first_column = first_query + lane() % 4 * 2, end = p_.seq_q - first_column;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int key = first_key + key_in_group(half);
      const bool exists = key < p_.seq_kv;
      const int seen_from = p_.causal ? key - (injected(InjectedFault::kBackwardMask) ? 1 : 0) : 0;
      const int begin = exists ? seen_from - first_column : kQueries;
#pragma unroll
      for (int n = 0; n < kCount / 4; ++n) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int column = n * 8 + j;
          if (column < begin || column >= end) s[4 * n + 2 * half + j] = -INFINITY;
        }
      }
    }
  }

  /// Initialises the accumulators with lse or delta of their queries, so that neither has to be applied between a
  /// product and its use.
  template <int kCount>
  __device__ __forceinline__ static void spread(float (&sums)[kCount], std::uint32_t statistics) {
#pragma unroll
    for (int n = 0; n < kCount / 4; ++n) {
      const float2 pair = load_shared_pair(statistics + lane() % 4 * 8 + n * 32);
      sums[4 * n] = pair.x;
      sums[4 * n + 1] = pair.y;
      sums[4 * n + 2] = opaque(pair.x);
      sums[4 * n + 3] = opaque(pair.y);
    }
  }

  /// Computes P = exp(scale * (S - lse / scale)).
  template <int kCount>
  __device__ __forceinline__ void exponentiate(float (&s)[kCount]) const {
    const float scale = p_.scale * kLog2E * (injected(InjectedFault::kBackwardScale) ? 1.05f : 1.0f);
#pragma unroll
    for (int n = 0; n < kCount; ++n) s[n] = exp2_approximate(s[n] * scale);
  }

  /// Address at which a lane stores dS of the i-th step's first 16 queries. A warp's 16 keys are two vectors of a row.
  /// Every eight lanes address the rows of one matrix: first the first eight queries with each of the two vectors, then
  /// the other eight queries.
  __device__ __forceinline__ std::uint32_t scores_line(int i) const {
    const int vector = warp() * 2 + lane() / 8 % 2, row = lane() / 16 * 8 + lane() % 8;
    return shared_.scores(stage(i)) + key_group() * Shared::kScoresPanelBytes + row * kPanelRowBytes +
           (vector ^ lane() % 8) * 16;
  }

  /// Computes P, from the values in `s`, and dS = P (dP - delta) as operands for one part of the queries. Also stores
  /// dS to shared memory as [query, key], for the dQ products of both warpgroups.
  __device__ __forceinline__ void differentiate(const float* s, const float (&dp)[kPartScores],
                                                std::uint32_t (&p)[kScores / 2], std::uint32_t (&ds)[kScores / 2],
                                                int part, int i) const {
    const std::uint32_t line = scores_line(i);
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
      if (n % 2 == 1) store_transposed(line + block / 2 * 16 * kPanelRowBytes, &ds[2 * (block - 1)]);
    }
  }

  /// An injected fault: drops one part's P from dV.
  __device__ __forceinline__ static void leave_out(std::uint32_t (&p)[kScores / 2], int part) {
#pragma unroll
    for (int j = 0; j < kPartScores / 2; ++j) p[part * (kPartScores / 2) + j] = 0;
  }

  /// Publishes a step's dS, which differentiate() has stored, to both warpgroups.
  __device__ __forceinline__ void show_scores(int i) const {
    fence_proxy_async();
    release(Shared::kScoresFull + stage(i));
  }

  /// Stores dK or dV times `factor` over K or V in shared memory, for the TMA store. The first 16 lanes address the
  /// rows of the left two of four matrices [8, 8], the other lanes the rows of the right two.
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

  const Parameters& p_;
  Shared shared_;
  int group_;
};

}  // namespace tbench::kernels::sm90
