#include "kernels/attention/sm90/backward/backward_plan_sm90.hpp"

#include <algorithm>
#include <bit>

#include "kernels/attention/sm90/tensor_map.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr std::int64_t kStepRows = 128;  // a multiple of every step's queries

/// Measured on an H200: up to 255 tokens Ampere's single launch is faster, then these where their blocks are many, and
/// from 1,024 tokens on (512 of 128 columns) always.
bool beats_ampere_kernels(const AttentionShape& shape, int multiprocessors) {
  const std::int64_t tokens = std::min(shape.seq_q, shape.seq_kv), blocks = backward_order(shape).items;
  if (tokens >= (shape.head_dim == 64 ? 1024 : 512)) return true;
  if (tokens >= 512) return 8 * blocks >= 3 * std::int64_t{multiprocessors};
  return tokens >= 256 && 3 * blocks >= 2 * std::int64_t{multiprocessors};
}

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
  const std::int64_t groups = block_count(heads, std::clamp<std::int64_t>(kCachedBytes / bytes_of_head, 1, heads));
  return {.tiles = static_cast<int>(tiles),
          .heads = static_cast<int>(block_count(heads, groups)),  // groups of about the same size
          .items = static_cast<int>(tiles * heads)};
}

BackwardDealing backward_dealing(const AttentionShape& shape) {
  // Beyond, an item has so many steps that its beginning and end do not count, and multiprocessors drift apart.
  constexpr std::int64_t kLongestDealt = 8192;
  return shape.seq_q <= kLongestDealt ? BackwardDealing::kThereAndBack : BackwardDealing::kBlockEach;
}

Divisor divisor(int value) {
  const int shift = value <= 2 ? 0 : std::bit_width(static_cast<unsigned>(value - 1)) - 1;
  const auto wide = static_cast<std::uint64_t>(value);
  const std::uint64_t multiplier = ((std::uint64_t{1} << (32 + shift)) + wide - 1) / wide;
  return {.value = value, .multiplier = static_cast<std::uint32_t>(multiplier), .shift = shift};
}

bool chooses_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  const bool hopper = limits.compute_capability_major == 9 && limits.compute_capability_minor == 0;
  return hopper && has_instance(problem) && !problem.deterministic &&
         beats_ampere_kernels(problem.shape, limits.multiprocessors);
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

Launch backward_launch(const AttentionShape& shape, BackwardDealing dealing, const DeviceLimits& limits) {
  const int head_dim = static_cast<int>(shape.head_dim), items = backward_order(shape).items;
  return {.grid = {dealing == BackwardDealing::kBlockEach ? items : std::min(items, limits.multiprocessors), 1, 1},
          .threads = kBackwardThreads,
          .shared_bytes = static_cast<std::size_t>(backward_shared(head_dim).end)};
}

Launch backward_prepare_launch(const AttentionShape& shape) {
  return {.grid = {backward_workspace(shape).rows / kBackwardHelperRows, shape.heads, shape.batch},
          .threads = kBackwardHelperThreads};
}

Launch backward_convert_launch(const AttentionShape& shape) { return backward_helper_launch(shape, 0); }

}  // namespace tbench::kernels::sm90
