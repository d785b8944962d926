#include "kernels/attention/sm90/backward/heads/heads_plan_sm90.hpp"

#include <algorithm>

namespace tbench::kernels::sm90 {
namespace {

std::int64_t tiles_of(std::int64_t rows) { return block_count(rows, kBackwardKeys); }

/// Heads as a part of the multiprocessors.
struct Part {
  int numerator, denominator;
};
bool are_at_least(std::int64_t heads, Part part, std::int64_t multiprocessors) {
  return part.denominator * heads >= part.numerator * multiprocessors;
}

/// The fewest heads of which a block each is faster: measured on an H100 with a warm L2 cache and an H200 with a cold
/// one, see the README's "Where backward is used".
std::optional<Part> fewest_whole_heads(const AttentionProblem& problem) {
  constexpr std::int64_t kMostRowsOfAmpere = 192;  // three of its tiles, of which these compute four
  constexpr Part kThird{1, 3}, kThreeFifths{3, 5}, kThreeQuarters{3, 4};
  const AttentionShape& shape = problem.shape;
  const std::int64_t tiles = tiles_of(shape.seq_kv);
  if (tiles == 1) return kThird;
  if (tiles == 2) {
    return shape.causal && shape.seq_kv > kMostRowsOfAmpere ? kThreeFifths : kThreeQuarters;
  }
  if (!shape.causal) {
    const bool is_faster = tiles == 4 && (shape.head_dim == 64 || problem.deterministic);
    return is_faster ? std::optional{kThreeQuarters} : std::nullopt;
  }
  if (tiles <= 4) return kThreeQuarters;
  return problem.deterministic ? std::optional{kThreeFifths} : std::nullopt;
}

/// And of which two blocks each are: where Ampere's kernels are the others that give the same bits every time.
std::optional<Part> fewest_shared_heads(const AttentionProblem& problem) {
  const AttentionShape& shape = problem.shape;
  const bool is_faster = problem.deterministic && shape.causal && shape.head_dim == 64;
  if (!is_faster || tiles_of(shape.seq_kv) <= kMostSumsApart) return std::nullopt;
  return Part{1, 3};
}

}  // namespace

std::optional<int> head_shares(const AttentionProblem& problem, int multiprocessors) {
  constexpr std::int64_t kFewestRows = 65;  // up to 64 Ampere's kernels are faster
  const AttentionShape& shape = problem.shape;
  const std::int64_t heads = shape.batch * shape.heads;
  const bool has_kernel = shape.head_dim == 64 || shape.head_dim == 80;
  // As many queries as keys, give or take a tile, as was measured; one head after another in a block was not.
  const bool is_square = tiles_of(shape.seq_q) == tiles_of(shape.seq_kv);
  if (!has_kernel || !is_square || std::min(shape.seq_q, shape.seq_kv) < kFewestRows ||
      std::max(shape.seq_q, shape.seq_kv) > kMostHeadRows) {
    return std::nullopt;
  }
  const auto are_faster = [&](const std::optional<Part>& fewest, int shares) {
    return fewest && shares * heads <= multiprocessors && are_at_least(heads, *fewest, multiprocessors);
  };
  if (are_faster(fewest_whole_heads(problem), 1)) return 1;
  if (are_faster(fewest_shared_heads(problem), kMostHeadShares)) return kMostHeadShares;
  return std::nullopt;
}

Launch backward_heads_launch(const AttentionShape& shape, int shares, const DeviceLimits& limits) {
  const std::int64_t blocks = shape.batch * shape.heads * shares;
  const int shared_bytes = backward_shared(static_cast<int>(shape.head_dim), BackwardBlocks::kStay).end;
  return {.grid = {std::min<std::int64_t>(blocks, limits.multiprocessors), 1, 1},
          .threads = kBackwardThreads,
          .shared_bytes = static_cast<std::size_t>(shared_bytes)};
}

}  // namespace tbench::kernels::sm90
