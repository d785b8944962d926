#include "kernels/attention/sm90/backward/backward_plan_sm90.hpp"

#include <algorithm>

#include "kernels/attention/sm90/tensor_map.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr std::int64_t kStepRows = 128;  // a multiple of every step's queries

}  // namespace

BackwardWorkspace backward_workspace(const AttentionShape& shape) {
  const std::int64_t rows = block_count(shape.seq_q, kStepRows) * kStepRows;
  const auto all_rows = static_cast<std::size_t>(shape.batch * shape.heads * rows);
  return {.rows = rows,
          .lse_bytes = all_rows * sizeof(float),
          .delta_bytes = all_rows * sizeof(float),
          .sums_bytes = all_rows * static_cast<std::size_t>(shape.head_dim) * sizeof(float)};
}

BackwardOrder backward_order(const AttentionShape& shape) {
  constexpr std::int64_t kCachedBytes = std::int64_t{40} << 20;                   // of the 50 MiB of an H200's L2 cache
  const std::int64_t bytes_of_head = shape.seq_q * shape.head_dim * (2 + 2 + 4);  // Q, dO, sums
  const std::int64_t tiles = block_count(shape.seq_kv, kBackwardKeys), heads = shape.batch * shape.heads;
  return {.tiles = static_cast<int>(tiles),
          .heads = static_cast<int>(std::clamp<std::int64_t>(kCachedBytes / bytes_of_head, 1, heads)),
          .items = static_cast<int>(tiles * heads)};
}

bool chooses_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  const bool hopper = limits.compute_capability_major == 9 && limits.compute_capability_minor == 0;
  const bool element = problem.precision == Precision::kBf16 || problem.precision == Precision::kFp16;
  if (!hopper || !element || (shape.head_dim != 64 && shape.head_dim != 128) || problem.deterministic) return false;
  return shape.seq_q > 256 && shape.seq_kv > 256;
}

bool takes_views(const AttentionProblem& problem, const AttentionBackward& arguments) {
  const AttentionShape& shape = problem.shape;
  const TensorExtents queries{shape.batch, shape.heads, shape.seq_q, shape.head_dim};
  const TensorExtents keys{shape.batch, shape.heads, shape.seq_kv, shape.head_dim};
  return has_tensor_map(arguments.q, queries) && has_tensor_map(arguments.grad_o, queries) &&
         has_tensor_map(arguments.k, keys) && has_tensor_map(arguments.v, keys) && has_tensor_map(arguments.dk, keys) &&
         has_tensor_map(arguments.dv, keys);
}

std::size_t backward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  return chooses_backward(problem, limits) ? backward_workspace(problem.shape).bytes() : 0;
}

Launch backward_launch(const AttentionShape& shape) {
  const int head_dim = static_cast<int>(shape.head_dim);
  return {.grid = {backward_order(shape).items, 1, 1},
          .threads = kBackwardThreads,
          .shared_bytes = static_cast<std::size_t>(backward_shared(head_dim).end + kSharedAlignment)};
}

Launch backward_prepare_launch(const AttentionShape& shape) {
  return {.grid = {backward_workspace(shape).rows / kBackwardHelperRows, shape.heads, shape.batch},
          .threads = kBackwardHelperThreads};
}

Launch backward_convert_launch(const AttentionShape& shape) { return backward_helper_launch(shape, 0); }

}  // namespace tbench::kernels::sm90
