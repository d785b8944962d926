#include "kernels/attention/sm90_tf32/fwd/config.hpp"

#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

constexpr std::size_t kCounterBytes = 256;  // one 32-bit number, padded to the alignment of the workspace's next part
constexpr std::int64_t kElementBytes = 4;

/// Returns the shape of the 16-bit problem whose rows have the same number of bytes.
AttentionShape in_16_bits(AttentionShape shape) {
  shape.head_dim = columns_of_16_bits(static_cast<int>(shape.head_dim));
  return shape;
}

}  // namespace

bool forward_supports_layout(const AttentionProblem& problem) {
  const AttentionShape& shape = problem.shape;
  const AttentionLayout& layout = problem.layout;
  const TmaExtents queries{shape.batch, shape.heads, shape.seq_q, shape.head_dim, kElementBytes};
  const TmaExtents keys{shape.batch, shape.heads, shape.seq_kv, shape.head_dim, kElementBytes};
  return tma_supports(layout.q, queries) && tma_supports(layout.o, queries) && tma_supports(layout.k, keys) &&
         tma_supports(layout.v, keys);
}

FwdWorkspace forward_workspace(const AttentionShape& shape, FwdPlan choice) {
  const int cols = forward_tile(shape.head_dim).cols;
  const std::int64_t key_tiles = block_count(shape.seq_kv, cols);
  const auto bytes =
      static_cast<std::size_t>(shape.batch * shape.heads * key_tiles * cols * shape.head_dim * kElementBytes);
  return {.counter_bytes = choice.counted ? kCounterBytes : 0, .values_bytes = bytes, .key_tiles = key_tiles};
}

TileOrder forward_order(const AttentionShape& shape, FwdPlan choice) {
  return sm90::forward_order(in_16_bits(shape), rows(forward_tile(shape.head_dim)), choice.in_turns);
}

Launch forward_launch(const AttentionShape& shape, const DeviceLimits& limits) {
  return sm90::forward_launch(in_16_bits(shape), forward_tile(shape.head_dim), limits);
}

Launch prepare_launch(const AttentionShape& shape) {
  constexpr int kKeysByColumns = kPrepareThreads / 32 * kPrepareRows * kPrepareColumns;
  const int cols = forward_tile(shape.head_dim).cols;
  const std::int64_t elements = block_count(shape.seq_kv, cols) * cols * shape.head_dim;
  return {.grid = {elements / kKeysByColumns, shape.heads, shape.batch}, .threads = kPrepareThreads, .shared_bytes = 0};
}

}  // namespace tbench::kernels::sm90_tf32
