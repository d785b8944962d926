// Which TF32 problems Hopper's backward kernels take, their items and tiles, what lies in shared memory and in the
// workspace, and the launches that follow: pure host functions. And those launches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90_tf32/fwd/config.hpp"

namespace tbench::kernels::sm90_tf32 {

/// Of a block: 64 keys, or queries, a warpgroup. Blocks of one kernel keep keys, those of another one queries.
constexpr int kKeptRows = kBackwardGroups * kWgmmaM;

/// Of a thread: together what a block begins with (see fits_registers()).
constexpr int kComputingRegisters = 240, kCopyingRegisters = 24;
static_assert(kBackwardGroups * kComputingRegisters + kCopyingRegisters == 3 * 168);

/// A literal type; see FwdConfig.
struct BwdConfig {
  int rows{};   // of a step: queries where keys are kept, keys where queries are
  int slots{};  // buffers, each of a step's Q, dO, dO^T or Q^T, or of its K, V or K^T
  /// Of kept rows: left operands of S (K or Q) and of dP (V or dO). In registers they come through slots; else they
  /// stay in shared memory.
  bool scores_operand_in_registers{}, gradients_operand_in_registers{};
  bool operator==(const BwdConfig&) const = default;
};

/// dK and dV of 64 keys by 128 columns are half of a thread's registers: K and V stay in shared memory, where they
/// leave room for steps of 32 queries. dQ leaves room for Q.
[[nodiscard]] constexpr BwdConfig stream_tile(std::int64_t head_dim, Stationary kept) {
  const bool is_narrow = head_dim == 64, keeps_queries = kept == Stationary::kQ;
  return {.rows = is_narrow || keeps_queries ? 64 : 32,
          .slots = is_narrow       ? 8
                   : keeps_queries ? 5
                                   : 6,
          .scores_operand_in_registers = keeps_queries,
          .gradients_operand_in_registers = keeps_queries && is_narrow};
}

/// Where what lies in a block's shared memory; bytes. Tiles start at multiples of 1,024.
struct BwdSmemLayout {
  int scores_operand{}, gradients_operand{};  // [group, panel, 64, 32] each, where they stay there
  int slots{};
  int statistics{};  // float32 [slot, rows]: a step's lse or delta, with its Q or dO
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

/// What lies where in the workspace, of each head rows rounded up to a multiple of kKeptRows; bytes. Transposed tensors
/// are the panels [row / 32, head_dim, 32], rounded, with the 128-byte swizzle and the rows of each eight in the order
/// 0 2 4 6 1 3 5 7 (sm90_tf32/fwd/preprocess.cuh), zeros beyond the last row.
struct BwdWorkspace {
  std::int64_t queries{}, keys{};  // rounded up
  std::size_t statistics_bytes{};  // of lse, and again of delta: as sm90::BwdWorkspace has them
  std::size_t queries_bytes{};     // of Q^T, and again of dO^T
  std::size_t keys_bytes{};        // of K^T
  [[nodiscard]] std::size_t bytes() const { return 2 * statistics_bytes + 2 * queries_bytes + keys_bytes; }
  bool operator==(const BwdWorkspace&) const = default;
};
[[nodiscard]] BwdWorkspace backward_workspace(const AttentionShape& shape);

/// A block an item, those of a group of `heads` heads, then the next group's, so that what they stream stays in the L2
/// cache; of a group the heaviest first.
[[nodiscard]] BwdTileOrder backward_order(const AttentionShape& shape, Stationary kept);

/// Whether the two warpgroups that keep keys take turns to issue products.
[[nodiscard]] bool uses_pingpong(const AttentionShape& shape);

/// Whether Hopper's kernels compute `problem`: not where they cannot or where Ampere's were measured to be faster.
[[nodiscard]] bool takes_backward(const AttentionProblem& problem, const DeviceLimits& limits);

/// Whether the copy engine can read what it has to, and 16 bytes at a time do for the rest.
[[nodiscard]] bool supports_layout(const AttentionProblem& problem, const AttentionBackward& arguments);

/// 0 where Ampere's kernels are chosen.
[[nodiscard]] std::size_t backward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits);

[[nodiscard]] Launch backward_launch(const AttentionShape& shape, Stationary kept);
/// Of the kernel before: of each head first blocks of queries, then of keys.
[[nodiscard]] constexpr int backward_prepare_rows(std::int64_t head_dim) {
  return kPrepareThreads / 32 * kPrepareRows * kPrepareColumns / static_cast<int>(head_dim);
}
[[nodiscard]] Launch backward_prepare_launch(const AttentionShape& shape);

/// Enqueues the three kernels, for a problem with an instance and arguments that supports_layout() accepts.
/// @throws  cuda::CudaError
void launch_backward(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream);

}  // namespace tbench::kernels::sm90_tf32
