#include "plan_32bit.hpp"

#include <fmt/format.h>

#include <limits>

namespace tbench::kernels {
namespace {

constexpr int kWarpSize = 32;

// Up to here the split kernel computes delta itself and saves a launch.
constexpr std::int64_t kShortSequence = 512;

// Of a block, whatever the tile.
constexpr std::int64_t kLeastRows = 64;

std::int64_t blocks(std::int64_t extent, std::int64_t block) { return (extent + block - 1) / block; }

int head_dim_of(const AttentionShape& shape) { return static_cast<int>(shape.head_dim); }

bool is_exact(const AttentionProblem& problem) { return problem.precision == Precision::kFp32; }

ForwardTile forward_tile(const AttentionProblem& problem, bool is_long) {
  const int head_dim = head_dim_of(problem.shape);
  if (is_long) return is_exact(problem) ? LongForward32<true>::tile(head_dim) : LongForward32<false>::tile(head_dim);
  return is_exact(problem) ? ShortForward32<true>::tile(head_dim) : ShortForward32<false>::tile(head_dim);
}

std::size_t backward_shared_bytes(const AttentionProblem& problem, BackwardMethod method) {
  return backward_32bit_shared_bytes(backward_32bit_tile(problem, method), head_dim_of(problem.shape),
                                     method == BackwardMethod::kAtomic);
}

}  // namespace

std::optional<std::string> unsupported_32bit_reason(const AttentionProblem& problem, const DeviceLimits& limits) {
  const std::size_t forward = forward_32bit_shared_bytes(forward_tile(problem, false), head_dim_of(problem.shape));
  const std::size_t backward = backward_shared_bytes(problem, BackwardMethod::kSplit);
  const std::size_t needed = std::max(forward, backward);
  const AttentionShape& shape = problem.shape;
  const std::int64_t most_blocks =
      (blocks(shape.seq_q, kLeastRows) + blocks(shape.seq_kv, kLeastRows)) * shape.heads * shape.batch;
  if (most_blocks > std::numeric_limits<int>::max()) {
    return fmt::format("batch {}, heads {}, sequences of {} and {} make {} blocks: the kernels count up to {}",
                       shape.batch, shape.heads, shape.seq_q, shape.seq_kv, most_blocks,
                       std::numeric_limits<int>::max());
  }
  return shared_memory_reason(problem, needed, limits);
}

bool wants_long_forward_32bit_tile(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  const ForwardTile tile = forward_tile(problem, true);
  return blocks(shape.seq_q, tile.rows) * shape.heads * shape.batch >= 2 * std::int64_t{limits.multiprocessors} &&
         forward_32bit_shared_bytes(tile, head_dim_of(shape)) <= limits.shared_bytes_per_block;
}

Launch forward_32bit_launch(const AttentionShape& shape, ForwardTile tile) {
  return {.grid = {blocks(shape.seq_q, tile.rows), shape.heads, shape.batch},
          .threads = tile.warps * kWarpSize,
          .shared_bytes = forward_32bit_shared_bytes(tile, head_dim_of(shape))};
}

BackwardMethod backward_32bit_method(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  if (std::max(shape.seq_q, shape.seq_kv) <= kShortSequence) return BackwardMethod::kSplitAlone;
  const int kept_rows = backward_32bit_tile(problem, BackwardMethod::kAtomic).kept_rows;
  const bool fills = blocks(shape.seq_kv, kept_rows) * shape.heads * shape.batch >= limits.multiprocessors;
  const bool fits = backward_shared_bytes(problem, BackwardMethod::kAtomic) <= limits.shared_bytes_per_block;
  return problem.deterministic || !fills || !fits ? BackwardMethod::kSplit : BackwardMethod::kAtomic;
}

BackwardTile backward_32bit_tile(const AttentionProblem& problem, BackwardMethod method) {
  const int head_dim = head_dim_of(problem.shape);
  if (method == BackwardMethod::kAtomic) {
    return is_exact(problem) ? AtomicBackward32<true>::tile(head_dim) : AtomicBackward32<false>::tile(head_dim);
  }
  return is_exact(problem) ? SplitBackward32<true>::tile(head_dim) : SplitBackward32<false>::tile(head_dim);
}

Launch backward_32bit_launch(const AttentionShape& shape, BackwardTile tile, BackwardMethod method) {
  const bool atomic = method == BackwardMethod::kAtomic;
  const std::int64_t q_blocks = atomic ? 0 : blocks(shape.seq_q, tile.kept_rows);
  return {.grid = {blocks(shape.seq_kv, tile.kept_rows) + q_blocks, shape.heads, shape.batch},
          .threads = tile.warps * kWarpSize,
          .shared_bytes = backward_32bit_shared_bytes(tile, head_dim_of(shape), atomic)};
}

std::size_t backward_32bit_delta_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (backward_32bit_method(problem, limits) == BackwardMethod::kSplitAlone) return 0;
  const AttentionShape& shape = problem.shape;
  return static_cast<std::size_t>(shape.batch * shape.heads * shape.seq_q) * sizeof(float);
}

}  // namespace tbench::kernels
