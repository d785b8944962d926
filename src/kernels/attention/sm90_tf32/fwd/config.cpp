#include "kernels/attention/sm90_tf32/fwd/config.hpp"

#include <algorithm>
#include <limits>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

constexpr std::size_t kCounterBytes = 256;  // one 32-bit number, padded to the alignment of the workspace's next part
constexpr std::int64_t kMaxItems = std::numeric_limits<int>::max() / 2;  // the counter runs on past the last work tile
constexpr std::int64_t kElementBytes = 4;

std::int64_t items(const AttentionShape& shape) {
  return block_count(shape.seq_q, rows(forward_tile(shape.head_dim))) * shape.heads * shape.batch;
}

/// The 16-bit shape whose rows have the same number of bytes.
AttentionShape in_16_bits(AttentionShape shape) {
  shape.head_dim = columns_of_16_bits(static_cast<int>(shape.head_dim));
  return shape;
}

/// Whether the sm90 kernel is faster than the sm80 kernels. These divide the keys of few tiles among warps, which pays
/// while keys are few: sm90 wins from two fifths of the SMs on in tiles at head_dim 64, from one fifth on at head_dim
/// 128, and always from 1,024 tokens on.
bool beats_ampere_kernels(const AttentionShape& shape, const DeviceLimits& limits) {
  constexpr std::int64_t kShortest = 128, kAnyNumberOfTiles = 1024;
  const std::int64_t tiles = block_count(shape.seq_q, kWgmmaM) * shape.heads * shape.batch;
  if (shape.seq_q < kShortest || shape.seq_kv < kShortest) return false;
  const std::int64_t fifths = shape.head_dim == 64 ? 2 : 1;  // fifths of the SMs
  return shape.seq_kv >= kAnyNumberOfTiles || 5 * tiles >= fifths * limits.multiprocessors;
}

/// Whether groups of heads alternate, as in the 16-bit kernels (sm90::choose_forward()). With the dynamic schedule that
/// is 5 % faster at 1,024 tokens and makes no clear difference from 8,192 tokens on.
bool goes_in_turns(const AttentionShape& shape, bool counted) {
  constexpr std::int64_t kMaxKeys = 4096;
  return shape.causal && (!counted || shape.seq_kv <= kMaxKeys);
}

}  // namespace

std::optional<FwdPlan> choose_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  const AttentionShape& shape = problem.shape;
  const bool has_instance =
      problem.precision == Precision::kTf32 && std::ranges::find(kHeadDims, shape.head_dim) != kHeadDims.end();
  if (!is_hopper(limits) || !has_instance || !beats_ampere_kernels(shape, limits) || items(shape) > kMaxItems) {
    return std::nullopt;
  }
  // The dynamic schedule costs nothing here, because the preprocess kernel clears the counter. With the static schedule
  // 12 heads of batch 4 and 1,024 tokens at head_dim 128 take 7 % longer. Without a mask work tiles are equal.
  const bool counted = shape.causal && items(shape) > limits.multiprocessors;
  return FwdPlan{.counted = counted, .in_turns = goes_in_turns(shape, counted)};
}

bool supports_layout(const AttentionProblem& problem, const AttentionForward& arguments) {
  const AttentionShape& shape = problem.shape;
  const TmaExtents queries{shape.batch, shape.heads, shape.seq_q, shape.head_dim, kElementBytes};
  const TmaExtents keys{shape.batch, shape.heads, shape.seq_kv, shape.head_dim, kElementBytes};
  return tma_supports(arguments.q, queries) && tma_supports(arguments.o, queries) && tma_supports(arguments.k, keys) &&
         tma_supports(arguments.v, keys);
}

FwdWorkspace forward_workspace(const AttentionShape& shape, FwdPlan choice) {
  const int cols = forward_tile(shape.head_dim).cols;
  const std::int64_t key_tiles = block_count(shape.seq_kv, cols);
  const auto bytes =
      static_cast<std::size_t>(shape.batch * shape.heads * key_tiles * cols * shape.head_dim * kElementBytes);
  return {.counter_bytes = choice.counted ? kCounterBytes : 0, .values_bytes = bytes, .key_tiles = key_tiles};
}

std::size_t forward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  const auto choice = choose_forward(problem, limits);
  return choice ? forward_workspace(problem.shape, *choice).bytes() : 0;
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
