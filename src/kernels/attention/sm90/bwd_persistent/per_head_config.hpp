// Hopper's backward pass by heads: which problems, among how many blocks a head's tiles of keys are dealt, which of
// them each takes, and the launch. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/attention/sm90/bwd_common/config.hpp"

namespace tbench::kernels::sm90 {

/// A head's tiles of keys are dealt out there and back among `shares` blocks, so that with a causal mask, under which a
/// tile has the fewer steps the later it comes, each has about as many steps: of four tiles one block has the first and
/// the last, the other those between.
/// @param nth  of the share, from its first keys on
[[nodiscard]] constexpr int tile_of_share(int nth, int share, int shares) {
  return nth * shares + (nth % 2 == 0 ? share : shares - 1 - share);
}
[[nodiscard]] constexpr int tiles_of_share(int tiles, int share, int shares) {
  const int rounds = tiles / shares;
  return rounds + (tile_of_share(rounds, share, shares) < tiles ? 1 : 0);
}

/// Of the blocks that a head's tiles are dealt out among; beyond 1 each keeps sums of its own, which the kernel after
/// adds.
/// @return  nothing where other kernels were measured to be faster, or a head's rows have no room
[[nodiscard]] std::optional<int> head_shares(const AttentionProblem& problem, int multiprocessors);

/// Of a head a block, where head_shares() says so: whether it is faster than items of two kinds, too. With a mask, and
/// where the last step is more than half full: these walk in steps of 128 queries, those in steps of 64. H200, batch 4,
/// L2 cold, us, kinds / by heads: 25 heads, 256 tokens 21.3 / 19.7, 512 42.5 / 41.4, no mask, 384 41.4 / 41.0 (H100);
/// 320 27.4 / 30.4 (H100).
[[nodiscard]] bool beats_kinds(const AttentionShape& shape);

[[nodiscard]] Launch backward_heads_launch(const AttentionShape& shape, int shares, const DeviceLimits& limits);

}  // namespace tbench::kernels::sm90
