// Configs of the sm90 TF32 backward kernels: work tiles, the contents of shared memory and workspace, and the launches
// (pure host functions). heuristics/sm90_tf32.hpp selects them. Declares the launches themselves, too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90_tf32/common/config.hpp"

namespace tbench::kernels::sm90_tf32 {

/// Stationary rows per CTA: 64 keys or queries per warpgroup. The CTAs of one kernel hold keys, the CTAs of the other
/// hold queries.
constexpr int kKeptRows = kBackwardGroups * kWgmmaM;

/// Registers per thread; together they are what a CTA starts with (see fits_registers()).
constexpr int kComputingRegisters = 240, kCopyingRegisters = 24;
static_assert(kBackwardGroups * kComputingRegisters + kCopyingRegisters == 3 * 168);

/// Constants of a kernel. A literal type; see FwdConfig.
struct BwdConfig {
  int rows{};   // per step: queries with stationary keys, keys with stationary queries
  int slots{};  // stages, each for Q, dO, dO^T or Q^T of a step, or for K, V or K^T
  /// Whether the stationary left operands of S (K or Q) and of dP (V or dO) are in registers, loaded through stages.
  /// Otherwise they stay in shared memory.
  bool scores_operand_in_registers{}, gradients_operand_in_registers{};
  bool operator==(const BwdConfig&) const = default;
};

/// At head_dim 128 dK and dV of 64 keys take half of a thread's registers. K and V therefore stay in shared memory,
/// where they leave room for steps of 32 queries. dQ leaves registers for Q.
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
  int scores_operand{}, gradients_operand{};  // [group, panel, 64, 32] each, if they stay in shared memory
  int slots{};
  int statistics{};  // float32 [stage, rows]: lse or delta of a step, with its Q or dO
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
/// tensors are panels [row / 32, head_dim, 32], rounded to TF32, with the 128-byte swizzle and zeros beyond the last
/// row. Each eight rows have the order 0 2 4 6 1 3 5 7 (sm90_tf32/common/transpose.cuh).
struct BwdWorkspace {
  std::int64_t queries{}, keys{};  // rounded up
  std::size_t statistics_bytes{};  // lse, and the same again for delta, both as described at sm90::BwdWorkspace
  std::size_t queries_bytes{};     // Q^T, and the same again for dO^T
  std::size_t keys_bytes{};        // K^T
  [[nodiscard]] std::size_t bytes() const { return 2 * statistics_bytes + 2 * queries_bytes + keys_bytes; }
  bool operator==(const BwdWorkspace&) const = default;
};
[[nodiscard]] BwdWorkspace backward_workspace(const AttentionShape& shape);

/// Order of the work tiles, one per CTA. All tiles of a group of `heads` heads come before any of the next group, so
/// that the streamed tensors stay in the L2 cache. A group begins with its heaviest tiles.
[[nodiscard]] BwdTileOrder backward_order(const AttentionShape& shape, Stationary kept);

struct BwdPlan {
  bool pingpong{};  // the two warpgroups with stationary keys issue products in ping-pong order
  bool operator==(const BwdPlan&) const = default;
};

/// Whether TMA can read the operands of the problem's layout and the other accesses are possible 16 bytes at a time.
[[nodiscard]] bool backward_supports_layout(const AttentionProblem& problem);

[[nodiscard]] Launch backward_launch(const AttentionShape& shape, Stationary kept);
/// Rows per CTA of the preprocess kernel, whose grid has for each head CTAs for queries, then for keys.
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
