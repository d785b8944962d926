// Configs of the sm90 TF32 backward kernels: work tiles, the contents of shared memory and workspace, and the launches
// (pure host functions). heuristics/sm90_tf32.hpp selects them. Also declares the launches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90_tf32/common/config.hpp"

namespace tbench::kernels::sm90_tf32 {

/// Stationary rows per CTA: 64 keys or queries per warpgroup. One of the two kernels has stationary keys, the other
/// stationary queries.
constexpr int kKeptRows = kBackwardGroups * kWgmmaM;

/// Registers per thread of consumers and producers; in total they equal the registers of a CTA at launch (see
/// fits_registers()).
constexpr int kComputingRegisters = 240, kCopyingRegisters = 24;
static_assert(kBackwardGroups * kComputingRegisters + kCopyingRegisters == 3 * 168);

/// Constants of a kernel. A literal type; see FwdConfig.
struct BwdConfig {
  int rows{};   // per step: queries with stationary keys, keys with stationary queries
  int slots{};  // stages, each for one of a step's tiles: Q, dO, dO^T or Q^T, or K, V or K^T
  /// Whether the stationary left operand of S (K or Q), or of dP (V or dO), is in registers, to which it is loaded
  /// through the stages. Otherwise it stays in shared memory.
  bool scores_operand_in_registers{}, gradients_operand_in_registers{};
  bool operator==(const BwdConfig&) const = default;
};

/// Returns the config for a head_dim. At head_dim 128 dK and dV of 64 keys take half of a thread's registers. K and V
/// therefore stay in shared memory, which then has room for steps of only 32 queries. With stationary queries, dQ
/// leaves registers for Q.
[[nodiscard]] constexpr BwdConfig stream_tile(std::int64_t head_dim, Stationary kept) {
  const bool is_narrow = head_dim == 64, keeps_queries = kept == Stationary::kQ;
  return {.rows = is_narrow || keeps_queries ? 64 : 32,
          .slots = is_narrow       ? 8
                   : keeps_queries ? 5
                                   : 6,
          .scores_operand_in_registers = keeps_queries,
          .gradients_operand_in_registers = keeps_queries && is_narrow};
}

/// Byte offsets in a CTA's shared memory. Tiles start at multiples of 1,024.
struct BwdSmemLayout {
  int scores_operand{}, gradients_operand{};  // [group, panel, 64, 32] each; size 0 if the operand is in registers
  int slots{};
  int statistics{};  // float32 [stage, rows]: lse if the stage holds Q, delta if it holds dO
  int barriers{}, end{};
};
[[nodiscard]] constexpr int slot_bytes(std::int64_t head_dim, Stationary kept) {
  return stream_tile(head_dim, kept).rows * static_cast<int>(head_dim) * 4;
}
[[nodiscard]] constexpr BwdSmemLayout stream_shared(std::int64_t head_dim, Stationary kept) {
  const BwdConfig tile = stream_tile(head_dim, kept);
  const int operand = kKeptRows * static_cast<int>(head_dim) * 4;
  BwdSmemLayout shared{};
  shared.gradients_operand = tile.scores_operand_in_registers ? 0 : operand;
  shared.slots = shared.gradients_operand + (tile.gradients_operand_in_registers ? 0 : operand);
  shared.statistics = shared.slots + tile.slots * slot_bytes(head_dim, kept);
  shared.barriers = shared.statistics + (kept == Stationary::kKv ? tile.slots * tile.rows * 4 : 0);
  shared.end = shared.barriers + kBarrierBytes;
  return shared;
}

/// Byte sizes of the workspace's parts; the rows of each head are rounded up to a multiple of kKeptRows. Transposed
/// tensors are panels [row / 32, head_dim, 32], rounded to TF32, with the 128-byte swizzle and zeros past the last row.
/// Every eight rows have the order 0 2 4 6 1 3 5 7 (sm90_tf32/common/transpose.cuh).
struct BwdWorkspace {
  std::int64_t queries{}, keys{};  // rounded up
  std::size_t statistics_bytes{};  // lse; as many for delta; contents as described at sm90::BwdWorkspace
  std::size_t queries_bytes{};     // Q^T; as many for dO^T
  std::size_t keys_bytes{};        // K^T
  [[nodiscard]] std::size_t bytes() const { return 2 * statistics_bytes + 2 * queries_bytes + keys_bytes; }
  bool operator==(const BwdWorkspace&) const = default;
};
[[nodiscard]] BwdWorkspace backward_workspace(const AttentionShape& shape);

/// Order of the work tiles, one per CTA. All tiles of a group of `heads` heads come before the next group's tiles, so
/// that the streamed tensors stay in the L2 cache. A group begins with its heaviest tiles.
[[nodiscard]] BwdTileOrder backward_order(const AttentionShape& shape, Stationary kept);

struct BwdPlan {
  bool pingpong{};  // the two warpgroups with stationary keys issue products in ping-pong order
  bool operator==(const BwdPlan&) const = default;
};

/// Whether TMA can read the operands in the problem's layout, and dq, dk and dv can be accessed 16 bytes at a time.
[[nodiscard]] bool backward_supports_layout(const AttentionProblem& problem);

[[nodiscard]] Launch backward_launch(const AttentionShape& shape, Stationary kept);
/// Returns the rows per CTA of the preprocess kernel. Its grid has, for each head, CTAs for queries and then CTAs for
/// keys.
[[nodiscard]] constexpr int backward_prepare_rows(std::int64_t head_dim) {
  return kPrepareThreads / 32 * kPrepareRows * kPrepareColumns / static_cast<int>(head_dim);
}
[[nodiscard]] Launch backward_prepare_launch(const AttentionShape& shape);

/// Launches the three kernels on `stream` without synchronising. The problem has an instance and a layout that
/// backward_supports_layout() accepts.
/// @throws  cuda::CudaError
void launch_backward(const AttentionProblem& problem, const AttentionBackward& arguments, BwdPlan plan,
                     cudaStream_t stream);

}  // namespace tbench::kernels::sm90_tf32
