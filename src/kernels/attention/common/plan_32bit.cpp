#include "kernels/attention/common/plan_32bit.hpp"

namespace tbench::kernels::sm80 {
namespace {

constexpr int kWarpSize = 32;

// Maximum of tokens up to which the split kernel computes delta itself and saves a launch.
constexpr std::int64_t kShortSequence = 512;

int head_dim_of(const AttentionShape& shape) { return static_cast<int>(shape.head_dim); }

bool is_exact(const AttentionProblem& problem) { return problem.precision == Precision::kFp32; }

FwdConfig short_tile(const AttentionProblem& problem) {
  const int head_dim = head_dim_of(problem.shape);
  return is_exact(problem) ? FwdFp32Short<true>::tile(head_dim) : FwdFp32Short<false>::tile(head_dim);
}

std::size_t backward_shared_bytes(const AttentionProblem& problem, BwdAlgorithm method, bool splits_warps) {
  return backward_32bit_shared_bytes(backward_32bit_tile(problem, method, splits_warps), head_dim_of(problem.shape),
                                     method == BwdAlgorithm::kAtomicDq);
}

std::int64_t backward_blocks(const AttentionProblem& problem, BwdAlgorithm method, bool splits_warps) {
  const Grid grid =
      backward_32bit_launch(problem.shape, backward_32bit_tile(problem, method, splits_warps), method).grid;
  return grid.x * grid.y * grid.z;
}

/// Whether so few usual CTAs leave a GPU so empty that split warps pay. With a causal mask the heaviest of the
/// concurrent CTAs takes the longest, so twice as many are still few. TF32's chains of products are a third as long,
/// and split warps pay up to half a GPU only, whatever the mask. (For the backward pass; the forward pass has tiles of
/// its own.)
bool is_small_grid(std::int64_t usual_blocks, const AttentionProblem& problem, const DeviceLimits& limits) {
  const std::int64_t multiprocessors = limits.multiprocessors;
  if (!is_exact(problem)) return 2 * usual_blocks <= multiprocessors;
  return usual_blocks < multiprocessors * (problem.shape.causal ? 2 : 1);
}

/// Whether the CTAs with atomic dQ are enough and fit. CTAs with split warps, at most about one per SM, cannot even out
/// the unequal work that a causal mask leaves.
bool serves_atomic(const AttentionProblem& problem, const DeviceLimits& limits, bool splits_warps) {
  if (splits_warps && (problem.shape.causal || !BwdFp32AtomicWarpSplit::serves(head_dim_of(problem.shape))))
    return false;
  const std::int64_t min_blocks = splits_warps ? (limits.multiprocessors + 1) / 2 : limits.multiprocessors;
  return backward_blocks(problem, BwdAlgorithm::kAtomicDq, splits_warps) >= min_blocks &&
         backward_shared_bytes(problem, BwdAlgorithm::kAtomicDq, splits_warps) <= limits.shared_bytes_per_block;
}

}  // namespace

std::optional<std::string> unsupported_32bit_reason(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (auto reason = block_count_reason(problem.shape)) return reason;
  const std::size_t forward = forward_32bit_shared_bytes(short_tile(problem), head_dim_of(problem.shape));
  const std::size_t backward = backward_shared_bytes(problem, BwdAlgorithm::kSplit, false);
  const std::size_t needed = std::max(forward, backward);
  return shared_memory_reason(problem, needed, limits);
}

bool wants_long_forward_32bit_tile(const AttentionProblem& problem, const DeviceLimits& limits) {
  const int head_dim = head_dim_of(problem.shape);
  const FwdConfig tile = FwdFp32Long::tile(head_dim);
  return !is_exact(problem) && forward_32bit_shared_bytes(tile, head_dim) <= limits.shared_bytes_per_block &&
         long_tiles_pay(problem.shape, tile, short_tile(problem), limits.multiprocessors);
}

int split_warps_forward_32bit_rows(const AttentionProblem& problem, const DeviceLimits& limits) {
  const int head_dim = head_dim_of(problem.shape);
  const std::int64_t tiles = forward_tiles(problem.shape, short_tile(problem));
  FwdConfig tile;
  if (is_exact(problem)) {
    if (!is_small_grid(tiles, problem, limits)) return 0;
    tile = (problem.shape.causal ? 1 : 2) * tiles <= limits.multiprocessors
               ? FwdFp32WarpSplit<true, 32>::tile(head_dim)
               : FwdFp32WarpSplit<true, 64>::tile(head_dim);
  } else {
    const int rows = rows_of_split_warps_tiles(tiles, limits.multiprocessors);
    if (rows == 0) return 0;
    tile = rows == 16   ? FwdFp32WarpSplit<false, 16>::tile(head_dim)
           : rows == 32 ? FwdFp32WarpSplit<false, 32>::tile(head_dim)
                        : FwdFp32WarpSplit<false, 64>::tile(head_dim);
  }
  return forward_32bit_shared_bytes(tile, head_dim) <= limits.shared_bytes_per_block ? tile.rows : 0;
}

Launch forward_32bit_launch(const AttentionShape& shape, FwdConfig tile) {
  return {.grid = {block_count(shape.seq_q, tile.rows), shape.heads, shape.batch},
          .threads = tile.warps * kWarpSize,
          .shared_bytes = forward_32bit_shared_bytes(tile, head_dim_of(shape))};
}

BwdAlgorithm backward_32bit_method(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  if (std::max(shape.seq_q, shape.seq_kv) <= kShortSequence) return BwdAlgorithm::kSplitFusedDelta;
  const bool atomic =
      !problem.deterministic && (serves_atomic(problem, limits, false) || serves_atomic(problem, limits, true));
  return atomic ? BwdAlgorithm::kAtomicDq : BwdAlgorithm::kSplit;
}

bool wants_split_warps_backward_32bit_tile(const AttentionProblem& problem, BwdAlgorithm method,
                                           const DeviceLimits& limits) {
  if (method == BwdAlgorithm::kAtomicDq) return !serves_atomic(problem, limits, false);
  return is_small_grid(backward_blocks(problem, method, false), problem, limits) &&
         backward_shared_bytes(problem, method, true) <= limits.shared_bytes_per_block;
}

BwdConfig backward_32bit_tile(const AttentionProblem& problem, BwdAlgorithm method, bool splits_warps) {
  const int head_dim = head_dim_of(problem.shape);
  const bool exact = is_exact(problem);
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

FwdPlan plan_forward_32bit(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (wants_long_forward_32bit_tile(problem, limits)) return {.tiles = FwdConfigId::kM128N64};
  switch (split_warps_forward_32bit_rows(problem, limits)) {
    case 16:
      return {.tiles = FwdConfigId::kWarpSplitM16};
    case 32:
      return {.tiles = FwdConfigId::kWarpSplitM32};
    case 64:
      return {.tiles = FwdConfigId::kWarpSplitM64};
    default:
      return {.tiles = FwdConfigId::kM64N64};
  }
}

BwdPlan plan_backward_32bit(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  const BwdAlgorithm method = backward_32bit_method(problem, limits);
  const bool is_alone = method == BwdAlgorithm::kSplitFusedDelta;
  const auto rows = static_cast<std::size_t>(shape.batch * shape.heads * shape.seq_q);
  return {.method = method,
          .splits_warps = wants_split_warps_backward_32bit_tile(problem, method, limits),
          .heads_first = shape.causal && !is_alone,
          .workspace = {.delta_bytes = is_alone ? 0 : rows * sizeof(float)}};
}

}  // namespace tbench::kernels::sm80
