// Configs of the sm80 backward kernels in all precisions: tiles, shared memory, launches and workspace (pure host
// functions). heuristics/sm80_bwd.hpp selects a config. Also declares the launch.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/attention/common/launch.hpp"
#include "kernels/attention/sm80/common/padded_row.hpp"
#include "tbench/kernels/attention_problem.hpp"

namespace tbench::kernels::sm80 {

struct BwdConfig {
  int kept_rows{};       // stationary rows per CTA
  int streamed_rows{};   // streamed rows per step
  int cols_at_once{};    // number of streamed rows whose scores a warp holds in registers at the same time
  int warps{};           // each warp takes kept_rows / warps * sharing_warps * split_warps rows
  int sharing_warps{1};  // kAtomicDq: warps with the same rows, 1 or 2; they divide score columns and then head_dim
  int split_warps{1};    // groups of warps that share the same stationary rows and divide the streamed rows; their sums
                         // are added at the end
  int stages{};          // steps in shared memory or in flight: 1 or 2
  int score_stages{};    // kAtomicDq: buffers of dS, 1 or 2
  int dq_dim_warps{};    // kAtomicDq: warps that divide head_dim of the CTA's dQ among them
  int blocks_per_multiprocessor{};
  bool operator==(const BwdConfig&) const = default;
};

/// Config of kAtomicDq: CTAs for K/V tiles, which add dQ atomically. Up to head_dim 80 each warp takes 32 keys, so that
/// a fragment read from shared memory serves two products. At larger head_dims, dK and dV of 32 keys do not fit into a
/// warp's registers. Two warps then share 32 keys (16 at head_dim 256), and each warp holds half of dK and dV.
struct BwdAtomic {
  static constexpr BwdConfig tile(int head_dim) {
    const bool wide = head_dim > 80;
    return {.kept_rows = head_dim > 128 ? 64 : 128,
            .streamed_rows = 64,
            .cols_at_once = head_dim == 80 ? 16 : 32,
            .warps = wide ? 8 : 4,
            .sharing_warps = wide ? 2 : 1,
            .stages = 2,
            // At head_dim 80, two buffers would leave too little shared memory for a second CTA per SM.
            .score_stages = head_dim == 80 ? 1 : 2,
            .dq_dim_warps = head_dim > 128                                       ? 8
                            : head_dim == 128                                    ? 4
                            : head_dim == 96 || head_dim == 64 || head_dim == 32 ? 2
                                                                                 : 1,
            .blocks_per_multiprocessor = wide ? 1 : 2};
  }
};

/// Config of kSplit, which computes all gradients in one launch without atomic additions.
struct BwdSplit {
  static constexpr BwdConfig tile(int head_dim) {
    const bool large = head_dim > 128;
    return {.kept_rows = 64,
            .streamed_rows = large ? 32 : 64,
            .cols_at_once = 32,
            .warps = 4,
            .stages = 2,
            .score_stages = 0,
            .dq_dim_warps = 1,
            .blocks_per_multiprocessor = large           ? 1
                                         : head_dim > 80 ? 2
                                                         : 3};
  }
};

/// Whether kSplit computes dK and dV in separate CTAs. At these head_dims, dK and dV of 16 rows do not fit together
/// into one warp's registers, and kSplit has no warps that share rows.
[[nodiscard]] constexpr bool splits_keys_from_values(int head_dim) { return head_dim > 128; }

[[nodiscard]] constexpr std::size_t backward_shared_bytes(BwdConfig tile, int head_dim, bool atomic) {
  const std::size_t row = padded_row_bytes_16bit(head_dim);
  const auto extent = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t statistics =
      std::max(2 * extent(tile.stages) * extent(tile.streamed_rows), 2 * extent(tile.kept_rows));
  const std::size_t scores =
      atomic ? extent(tile.score_stages) * extent(tile.kept_rows) * padded_row_bytes_16bit(tile.streamed_rows) : 0;
  const std::size_t shared_probabilities =
      tile.sharing_warps > 1 ? 2 * extent(tile.kept_rows) * extent(tile.streamed_rows) : 0;
  return 2 * extent(tile.kept_rows) * row + 2 * extent(tile.stages) * extent(tile.streamed_rows) * row + scores +
         shared_probabilities + statistics * sizeof(float);
}

enum class BwdAlgorithm {
  kAtomicDq,         // three launches: delta and clearing of the sums, products, conversion
  kSplit,            // two launches: delta, then all products
  kSplitFusedDelta,  // kSplit without the first launch: every CTA computes the delta that it needs
};

/// Returns a launch with one CTA per `kept_rows` keys (two if dK and dV are computed in separate CTAs). A split pass
/// also has one CTA per `kept_rows` queries.
[[nodiscard]] Launch backward_launch(const AttentionProblem& problem, BwdConfig tile, BwdAlgorithm method);

/// Whether a split pass starts the heaviest CTAs of all heads first. It does so with a causal mask up to head_dim 128,
/// if some SMs have more than one CTA.
[[nodiscard]] bool splits_heads_first(const AttentionProblem& problem, int multiprocessors);

/// Byte sizes of the workspace's parts.
struct BwdWorkspace {
  std::size_t delta_bytes{};    // float32 [batch, heads, seq_q], with 16-bit elements rounded up to 256 bytes
  std::size_t lse_bytes{};      // kAtomicDq with 16-bit elements: lse to base 2, as large as delta
  std::size_t dq_sums_bytes{};  // kAtomicDq with 16-bit elements: float32 sums of dQ, with the queries of each head
                                // rounded up to kBackwardHelperRows
  [[nodiscard]] std::size_t bytes() const { return delta_bytes + lse_bytes + dq_sums_bytes; }
};

/// Config of kAtomicDq: CTAs for K/V tiles, which add dQ atomically. Up to head_dim 64 each warp takes 32 keys, so that
/// a fragment read from shared memory serves two products. At larger head_dims, dK and dV of 32 keys do not fit into a
/// warp's registers.
template <bool k3xTf32>
struct BwdFp32Atomic {
  static constexpr BwdConfig tile(int head_dim) {
    const bool widest = head_dim == 128;
    return {.kept_rows = head_dim == 80 || head_dim == 96 ? 64 : 128,
            .streamed_rows = head_dim == 80 || head_dim <= 32 ? 64 : 32,
            .cols_at_once = k3xTf32 && head_dim <= 64 ? 16 : 32,
            .warps = widest ? 8 : 4,
            .stages = head_dim <= 32 || head_dim == 96 ? 2 : 1,
            .score_stages = 1,
            .dq_dim_warps = widest                             ? 4
                            : head_dim == 16 || head_dim == 80 ? 1
                                                               : 2,
            .blocks_per_multiprocessor = widest ? 1 : 2};
  }
};

/// Config of kSplit, which computes all gradients in one launch without atomic additions.
template <bool k3xTf32>
struct BwdFp32Split {
  static constexpr BwdConfig tile(int head_dim) {
    return {.kept_rows = 64,
            .streamed_rows = head_dim > 32 ? 32 : 64,
            .cols_at_once = k3xTf32 ? 16 : 32,
            .warps = 4,
            .stages = head_dim > 96 ? 1 : 2,
            .score_stages = 0,
            .dq_dim_warps = 1,
            .blocks_per_multiprocessor = k3xTf32 || head_dim > 64 ? 2 : 3};
  }
};

/// Half as many rows per CTA as BwdFp32Split, and four warps for the same rows, each with a quarter of the streamed
/// rows. For problems with so few CTAs of BwdFp32Split that each has an SM to itself.
struct BwdFp32WarpSplit {
  static constexpr BwdConfig tile(int /*head_dim*/) {
    return {.kept_rows = 32,
            .streamed_rows = 64,
            .cols_at_once = 16,
            .warps = 8,
            .split_warps = 4,
            .stages = 2,
            .score_stages = 0,
            .dq_dim_warps = 1,
            .blocks_per_multiprocessor = 1};
  }
};

/// 64 keys per CTA, and two warps for the same keys, each with half of the queries. For longer sequences with too few
/// CTAs of BwdFp32Atomic to fill the GPU. Takes five products instead of the split pass's seven.
struct BwdFp32AtomicWarpSplit {
  /// Whether the config supports a head_dim. The eight warps divide dQ's tile of streamed queries by head_dim into 4 by
  /// 2 parts, or 2 by 4 at head_dim 128, where a loop over more than 32 streamed rows would need the accumulators'
  /// registers.
  static constexpr bool serves(int head_dim) { return head_dim % 32 == 0; }
  static constexpr BwdConfig tile(int head_dim) {
    return {.kept_rows = 64,
            .streamed_rows = head_dim > 96 ? 32 : 64,
            .cols_at_once = 16,
            .warps = 8,
            .split_warps = 2,
            .stages = 2,
            .score_stages = 1,
            .dq_dim_warps = head_dim > 96 ? 4 : 2,
            .blocks_per_multiprocessor = head_dim > 32 ? 1 : 2};
  }
};

[[nodiscard]] constexpr std::size_t backward_32bit_shared_bytes(BwdConfig tile, int head_dim, bool atomic) {
  const auto extent = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t statistics =
      std::max(2 * extent(tile.stages) * extent(tile.streamed_rows), 2 * extent(tile.kept_rows));
  const std::size_t rows = 2 * extent(tile.kept_rows) + 2 * extent(tile.stages) * extent(tile.streamed_rows);
  const std::size_t scores = atomic ? extent(tile.streamed_rows) * padded_row_bytes_32bit(tile.kept_rows) : 0;
  return rows * padded_row_bytes_32bit(head_dim) + scores + statistics * sizeof(float);
}

[[nodiscard]] BwdConfig backward_32bit_tile(const AttentionProblem& problem, BwdAlgorithm method, bool splits_warps);
[[nodiscard]] Launch backward_32bit_launch(const AttentionShape& shape, BwdConfig tile, BwdAlgorithm method);

[[nodiscard]] BwdWorkspace backward_workspace(const AttentionProblem& problem, BwdAlgorithm method);

/// Plan of a backward pass.
struct BwdPlan {
  BwdAlgorithm method{};
  bool splits_warps{};  // float32 storage: warps of a CTA divide the streamed rows
  bool heads_first{};   // the heaviest CTAs of all heads start first
  BwdWorkspace workspace{};
};

/// Launches the planned backward kernels on `stream` without synchronising. One translation unit per precision defines
/// an instance (CMakeLists.txt), so that the instances compile in parallel.
/// @param problem  a problem of precision kPrecision
/// @param plan     the plan of `problem` for the current device
/// @throws         cuda::CudaError
template <Precision kPrecision>
void launch_backward(const AttentionProblem& problem, const BwdPlan& plan, const AttentionBackward& arguments,
                     cudaStream_t stream);

}  // namespace tbench::kernels::sm80
