#include "kernels/attention/sm90_tf32/fwd/config.hpp"

#include <algorithm>
#include <limits>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

constexpr std::size_t kCounterBytes = 256;  // one number, and the alignment of what lies behind it
constexpr std::int64_t kMaxItems = std::numeric_limits<int>::max() / 2;  // the counter runs on past the last item
constexpr std::int64_t kElementBytes = 4;

std::int64_t items(const AttentionShape& shape) {
  return block_count(shape.seq_q, rows(forward_tile(shape.head_dim))) * shape.heads * shape.batch;
}

/// The same number of bytes in 16-bit rows.
AttentionShape in_16_bits(AttentionShape shape) {
  shape.head_dim = columns_of_16_bits(static_cast<int>(shape.head_dim));
  return shape;
}

/// Ampere's kernels divide the keys of few tiles among warps, which pays while there are few keys. H100, causal, with
/// 16 heads, Ampere's / these, us: 64 columns, 128 tokens (32 tiles) 5.9 / 6.3, 256 (64 tiles) 8.3 / 8.0; 128 columns,
/// 128 tokens 8.3 / 6.9. One head, 1,024 tokens: 16.1 / 15.7, 27.0 / 22.6.
bool beats_ampere_kernels(const AttentionShape& shape, const DeviceLimits& limits) {
  constexpr std::int64_t kShortest = 128, kAnyNumberOfTiles = 1024;
  const std::int64_t tiles = block_count(shape.seq_q, kWgmmaM) * shape.heads * shape.batch;
  if (shape.seq_q < kShortest || shape.seq_kv < kShortest) return false;
  const std::int64_t fifths = shape.head_dim == 64 ? 2 : 1;  // of the multiprocessors
  return shape.seq_kv >= kAnyNumberOfTiles || 5 * tiles >= fifths * limits.multiprocessors;
}

/// As the 16-bit kernels' (sm90::choose_forward()): by the counter, batch 4, 12 heads of 128, 1,024 tokens 68.6 us, not
/// in turns 72.6; from 8,192 tokens on no difference that stands out.
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
  // Clearing the counter costs nothing here: there is a kernel before, anyway. Dealt out instead, batch 4, 12 heads of
  // 128, 1,024 tokens take 73.4 us, not 68.6; without a mask items are equal.
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
