#include "kernels/attention/sm80/bwd/config.hpp"

namespace tbench::kernels::sm80 {
namespace {

constexpr int kWarpSize = 32;
constexpr std::size_t kWorkspaceAlignment = 256;

std::size_t align(std::size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

int head_dim_of(const AttentionShape& shape) { return static_cast<int>(shape.head_dim); }

}  // namespace

Launch backward_launch(const AttentionProblem& problem, BwdConfig tile, BwdAlgorithm method) {
  const AttentionShape& shape = problem.shape;
  const int head_dim = head_dim_of(shape);
  const bool atomic = method == BwdAlgorithm::kAtomicDq;
  const std::int64_t kv_blocks =
      block_count(shape.seq_kv, tile.kept_rows) * (!atomic && splits_keys_from_values(head_dim) ? 2 : 1);
  const std::int64_t q_blocks = atomic ? 0 : block_count(shape.seq_q, tile.kept_rows);
  return {.grid = {kv_blocks + q_blocks, shape.heads, shape.batch},
          .threads = tile.warps * kWarpSize,
          .shared_bytes = backward_shared_bytes(tile, head_dim, atomic)};
}

bool splits_heads_first(const AttentionProblem& problem, int multiprocessors) {
  const AttentionShape& shape = problem.shape;
  const int head_dim = head_dim_of(shape);
  if (!shape.causal || splits_keys_from_values(head_dim)) return false;
  const Grid grid = backward_launch(problem, BwdSplit::tile(head_dim), BwdAlgorithm::kSplit).grid;
  return grid.x * grid.y * grid.z > multiprocessors;
}

BwdConfig backward_32bit_tile(const AttentionProblem& problem, BwdAlgorithm method, bool splits_warps) {
  const int head_dim = head_dim_of(problem.shape);
  const bool exact = problem.precision == Precision::kFp32;
  if (method == BwdAlgorithm::kAtomicDq) {
    if (splits_warps) return BwdFp32AtomicWarpSplit::tile(head_dim);
    return exact ? BwdFp32Atomic<true>::tile(head_dim) : BwdFp32Atomic<false>::tile(head_dim);
  }
  if (splits_warps) return BwdFp32WarpSplit::tile(head_dim);
  return exact ? BwdFp32Split<true>::tile(head_dim) : BwdFp32Split<false>::tile(head_dim);
}

Launch backward_32bit_launch(const AttentionShape& shape, BwdConfig tile, BwdAlgorithm method) {
  const bool atomic = method == BwdAlgorithm::kAtomicDq;
  const std::int64_t q_blocks = atomic ? 0 : block_count(shape.seq_q, tile.kept_rows);
  return {.grid = {block_count(shape.seq_kv, tile.kept_rows) + q_blocks, shape.heads, shape.batch},
          .threads = tile.warps * kWarpSize,
          .shared_bytes = backward_32bit_shared_bytes(tile, head_dim_of(shape), atomic)};
}

BwdWorkspace backward_workspace(const AttentionProblem& problem, BwdAlgorithm method) {
  const AttentionShape& shape = problem.shape;
  const bool fuses_delta = method == BwdAlgorithm::kSplitFusedDelta;
  const auto bytes = [&](std::int64_t floats_per_head) {
    return static_cast<std::size_t>(shape.batch * shape.heads * floats_per_head) * sizeof(float);
  };
  if (!is_16bit(problem.precision)) return {.delta_bytes = fuses_delta ? 0 : bytes(shape.seq_q)};
  BwdWorkspace workspace{.delta_bytes = fuses_delta ? 0 : align(bytes(shape.seq_q))};
  if (method == BwdAlgorithm::kAtomicDq) {
    workspace.lse_bytes = workspace.delta_bytes;
    workspace.dq_sums_bytes =
        bytes(block_count(shape.seq_q, kBackwardHelperRows) * kBackwardHelperRows * shape.head_dim);
  }
  return workspace;
}

}  // namespace tbench::kernels::sm80
