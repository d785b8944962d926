// The faults that tests can inject into the attention kernels (common/injected_fault.cuh), and the selection of one on
// the host.
#pragma once

namespace tbench::kernels {

/// Plausible mistakes, each at one place. The comments name the outputs that each spoils.
enum class InjectedFault {
  kNone,
  kForwardScale,     // o, lse: scores scaled by 1.05 times the scale
  kForwardMask,      // o, lse: the causal mask lets one key too many through
  kForwardSkipTile,  // o, lse: the last K/V tile of each Q tile is not visited
  kForwardBarrier,   // o: the barrier between filling a shared tile and reading it is missing
  kLseBase,          // lse: the logarithm to base 2 instead of e
  kBackwardScale,    // dq, dk, dv: probabilities recomputed from scores scaled by 1.05 times the scale
  kBackwardMask,     // dq, dk, dv: the causal mask lets one key too many through
  kBackwardBarrier,  // dq, dk or dv: the barrier between filling a shared tile and reading it is missing
  kDqSkipTile,       // dq: one K/V tile's contribution to each row is not added
  kDkScale,          // dk: the factor `scale` is forgotten
  kDvSkipTile,       // dv: one Q tile's contribution to each row is not added
  // Faults of the sm90 backward kernels:
  kBackwardRelease,  // dk or dv: the stage of a Q tile is released before the products have read it
  kBackwardParity,   // dq or dk: a tile of dO is read a phase early
  kBackwardKept,     // dq: a work tile's K is released before its last dQ has read it
  // With kPerHead:
  kDqFirstSums,  // dq: the first sums are added to undefined data
  // In the split backward kernel:
  kBackwardStatistics,  // dq, dk or dv: no warp waits for lse and delta
};

/// The only head_dim of the library with injected faults.
inline constexpr int kPlantedHeadDim = 64;

/// The fault to commit from the next launch on. Only the test library defines it.
[[nodiscard]] InjectedFault& planted_fault();

}  // namespace tbench::kernels
