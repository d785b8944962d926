// The sm90 backward pass with one or more CTAs per head (kPerHead): the K/V tiles that each CTA of a head takes, and
// the configuration of the launch. No CUDA code; the kernel calls the constexpr functions, too.
#pragma once

#include "kernels/attention/sm90/bwd_common/config.hpp"

namespace tbench::kernels::sm90 {

/// Assigns a head's K/V tiles to `shares` CTAs in snake order. With a causal mask later tiles have fewer steps; in
/// snake order each CTA gets about the same number of steps. Of four tiles, one CTA gets the first and the last, the
/// other CTA the two in between.
/// @param nth  index of the tile in the share; 0 has the share's first keys
[[nodiscard]] constexpr int tile_of_share(int nth, int share, int shares) {
  return nth * shares + (nth % 2 == 0 ? share : shares - 1 - share);
}
[[nodiscard]] constexpr int tiles_of_share(int tiles, int share, int shares) {
  const int rounds = tiles / shares;
  return rounds + (tile_of_share(rounds, share, shares) < tiles ? 1 : 0);
}

[[nodiscard]] Launch backward_heads_launch(const AttentionShape& shape, int shares, const DeviceLimits& limits);

}  // namespace tbench::kernels::sm90
