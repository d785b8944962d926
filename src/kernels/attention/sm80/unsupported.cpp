#include "kernels/attention/sm80/unsupported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "kernels/attention/sm80/bwd/config.hpp"
#include "kernels/attention/sm80/fwd/config.hpp"

namespace tbench::kernels::sm80 {
namespace {

std::optional<std::string> block_count_reason(const AttentionShape& shape) {
  constexpr std::int64_t kMinRows = 64;  // queries per CTA, except for split warps, which are used only in small grids
  const std::int64_t max_blocks =
      (block_count(shape.seq_q, kMinRows) + block_count(shape.seq_kv, kMinRows)) * shape.heads * shape.batch;
  if (max_blocks <= std::numeric_limits<int>::max()) return std::nullopt;
  return fmt::format("batch {}, heads {}, sequences of {} and {} make {} blocks: the kernels count up to {}",
                     shape.batch, shape.heads, shape.seq_q, shape.seq_kv, max_blocks, std::numeric_limits<int>::max());
}

/// Returns the shared memory in bytes that a device must offer for every problem of this head_dim to have a config.
std::size_t needed_shared_bytes(const AttentionProblem& problem) {
  const int head_dim = static_cast<int>(problem.shape.head_dim);
  const std::size_t forward = forward_tile_bytes(problem, FwdConfigId::kM64N64);
  if (!is_16bit(problem.precision)) {
    const BwdConfig split = backward_32bit_tile(problem, BwdAlgorithm::kSplit, /*splits_warps=*/false);
    return std::max(forward, backward_32bit_shared_bytes(split, head_dim, /*atomic=*/false));
  }
  return std::max({forward, forward_tile_bytes(problem, FwdConfigId::kM128N64),
                   backward_shared_bytes(BwdSplit::tile(head_dim), head_dim, /*atomic=*/false)});
}

}  // namespace

std::optional<std::string> unsupported_reason(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (auto reason = block_count_reason(problem.shape)) return reason;
  const std::size_t needed = needed_shared_bytes(problem);
  if (needed <= limits.shared_bytes_per_block) return std::nullopt;
  return fmt::format("head_dim {} in {} needs {} bytes of shared memory a block, the GPU has {}",
                     problem.shape.head_dim, to_string(problem.precision), needed, limits.shared_bytes_per_block);
}

}  // namespace tbench::kernels::sm80
