#include "kernels/attention/sm90/bwd_persistent/per_head_config.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace tbench::kernels::sm90 {
namespace {

std::int64_t tiles_of(std::int64_t rows) { return block_count(rows, kBackwardKeys); }

/// A number of heads as a fraction of the SMs.
struct Part {
  int numerator, denominator;
};
bool are_at_least(std::int64_t heads, Part part, std::int64_t multiprocessors) {
  return part.denominator * heads >= part.numerator * multiprocessors;
}

constexpr Part kThird{1, 3}, kThreeFifths{3, 5}, kTwoThirds{2, 3}, kThreeQuarters{3, 4};
using Fewest = std::span<const Part>;  // indexed by a head's K/V tiles, from one tile on

/// Number of heads from which one CTA per head is faster. Measured on an H200 with a cold L2 cache, the thresholds on
/// an H100, too: the rows "one CTA per head" of src/kernels/experiments.csv.
Fewest fewest_whole_heads(std::int64_t head_dim, bool causal) {
  static constexpr std::array kOf64{kThird,         kThreeFifths,   kThreeQuarters,
                                    kThreeQuarters, kThreeQuarters, kThreeQuarters};
  static constexpr std::array kOf64Full{kThird, kThreeFifths, kThreeQuarters, kThreeQuarters};
  static constexpr std::array kOf80{kThird, kThird, kThreeFifths, kTwoThirds, kTwoThirds, kThreeQuarters};
  static constexpr std::array kOf80Full{kThird, kThreeFifths, kTwoThirds, kThreeQuarters};
  if (head_dim == 64) return causal ? Fewest{kOf64} : Fewest{kOf64Full};
  return causal ? Fewest{kOf80} : Fewest{kOf80Full};
}
std::optional<Part> fewest_whole_heads(const AttentionProblem& problem) {
  const AttentionShape& shape = problem.shape;
  const Fewest fewest = fewest_whole_heads(shape.head_dim, shape.causal);
  const auto tiles = static_cast<std::size_t>(tiles_of(shape.seq_kv));
  if (problem.deterministic && shape.causal && tiles > kMaxSumsApart) return kThreeFifths;
  return tiles <= fewest.size() ? std::optional{fewest[tiles - 1]} : std::nullopt;
}

/// Number of heads from which two CTAs per head are faster. Without them only the sm80 kernels would give the same bits
/// in every run.
std::optional<Part> fewest_shared_heads(const AttentionProblem& problem) {
  const AttentionShape& shape = problem.shape;
  const bool is_faster = problem.deterministic && shape.causal && shape.head_dim == 64;
  if (!is_faster || tiles_of(shape.seq_kv) <= kMaxSumsApart) return std::nullopt;
  return Part{1, 3};
}

}  // namespace

std::optional<int> head_shares(const AttentionProblem& problem, int multiprocessors) {
  constexpr std::int64_t kMinRows = 65;  // up to 64 rows the sm80 kernels are faster
  const AttentionShape& shape = problem.shape;
  const std::int64_t heads = shape.batch * shape.heads;
  const bool has_kernel = shape.head_dim == 64 || shape.head_dim == 80;
  // Measured only with seq_q and seq_kv within one tile of each other, and with at most one head per CTA.
  const bool is_square = tiles_of(shape.seq_q) == tiles_of(shape.seq_kv);
  if (!has_kernel || !is_square || std::min(shape.seq_q, shape.seq_kv) < kMinRows ||
      std::max(shape.seq_q, shape.seq_kv) > kMaxHeadRows) {
    return std::nullopt;
  }
  const auto are_faster = [&](const std::optional<Part>& fewest, int shares) {
    return fewest && shares * heads <= multiprocessors && are_at_least(heads, *fewest, multiprocessors);
  };
  if (are_faster(fewest_whole_heads(problem), 1)) return 1;
  if (are_faster(fewest_shared_heads(problem), kMaxHeadShares)) return kMaxHeadShares;
  return std::nullopt;
}

bool beats_kinds(const AttentionShape& shape) {
  const std::int64_t in_last_tile = (shape.seq_kv - 1) % kBackwardKeys + 1;
  return shape.causal && shape.seq_kv > kBackwardKeys && 2 * in_last_tile > kBackwardKeys;
}

Launch backward_heads_launch(const AttentionShape& shape, int shares, const DeviceLimits& limits) {
  const std::int64_t blocks = shape.batch * shape.heads * shares;
  const int shared_bytes = backward_shared(static_cast<int>(shape.head_dim), BwdSchedule::kPersistent).end;
  return {.grid = {std::min<std::int64_t>(blocks, limits.multiprocessors), 1, 1},
          .threads = kBackwardThreads,
          .shared_bytes = static_cast<std::size_t>(shared_bytes)};
}

}  // namespace tbench::kernels::sm90
