#include "kernels/attention/sm90/backward/backward_plan_sm90.hpp"

#include <algorithm>
#include <bit>

#include "kernels/attention/attention_limits.hpp"
#include "kernels/attention/sm90/tensor_map.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr std::int64_t kStepRows = 128;  // a multiple of every step's queries

/// A tile of keys of a head each.
std::int64_t item_count(const AttentionShape& shape) {
  return block_count(shape.seq_kv, kBackwardKeys) * shape.batch * shape.heads;
}

/// Measured on an H200: up to 255 tokens Ampere's single launch is faster, then these where their blocks are many, and
/// from 1,024 tokens on (512 of 128 columns) always.
bool beats_ampere_kernels(const AttentionShape& shape, int multiprocessors) {
  const std::int64_t tokens = std::min(shape.seq_q, shape.seq_kv), blocks = item_count(shape);
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
  const std::int64_t heads = shape.batch * shape.heads;
  const std::int64_t cached = std::clamp<std::int64_t>(kCachedBytes / bytes_of_head, 1, heads);
  return {.tiles = static_cast<int>(block_count(shape.seq_kv, kBackwardKeys)),
          .heads = static_cast<int>(block_count(heads, block_count(heads, cached))),
          .items = static_cast<int>(item_count(shape))};
}

BackwardBlocks backward_blocks(const AttentionShape& shape) {
  // Measured on an H100, causal, batch 4, blocks of one item / that stay, us. 64 columns: 25 heads 60.7 / 51.9 at 512
  // tokens, 357 / 345 at 2,048. 80, 32 heads: 89.0 / 81.4 at 512, 221.8 / 225.6 at 1,024. 128, 25 heads: 106.8 / 109.9
  // at 512, 232.5 / 242.4 at 1,024; 16 heads of batch 1 alike, 12 heads of batch 4 not: 131.7 / 121.9 at 1,024.
  constexpr std::int64_t kMostQueriesOf80 = 512;
  if (shape.head_dim == 80) {
    return shape.seq_q <= kMostQueriesOf80 ? BackwardBlocks::kStay : BackwardBlocks::kOneItem;
  }
  return shape.head_dim < 80 ? BackwardBlocks::kStay : BackwardBlocks::kOneItem;
}

Divisor divisor(int value) {
  const int shift = value <= 2 ? 0 : std::bit_width(static_cast<unsigned>(value - 1)) - 1;
  const auto wide = static_cast<std::uint64_t>(value);
  const std::uint64_t multiplier = ((std::uint64_t{1} << (32 + shift)) + wide - 1) / wide;
  return {.value = value, .multiplier = static_cast<std::uint32_t>(multiplier), .shift = shift};
}

bool chooses_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return is_hopper(limits) && has_instance(problem) && !problem.deterministic &&
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

Launch backward_launch(const AttentionShape& shape, BackwardBlocks blocks, const DeviceLimits& limits) {
  const int items = backward_order(shape).items;
  const int shared_bytes = backward_shared(static_cast<int>(shape.head_dim), blocks).end;
  if (blocks == BackwardBlocks::kStay) {
    return {.grid = {std::min(items, limits.multiprocessors), 1, 1},
            .threads = kBackwardThreads,
            .shared_bytes = static_cast<std::size_t>(shared_bytes)};
  }
  return {.grid = {items, 1, 1},
          .threads = kBackwardThreads,
          .shared_bytes = static_cast<std::size_t>(shared_bytes + kSharedAlignment)};  // it aligns its tiles itself
}

Launch backward_prepare_launch(const AttentionShape& shape) {
  return {.grid = {backward_workspace(shape).rows / kBackwardHelperRows, shape.heads, shape.batch},
          .threads = kBackwardHelperThreads};
}

Launch backward_convert_launch(const AttentionShape& shape) { return backward_helper_launch(shape, 0); }

}  // namespace tbench::kernels::sm90
