// The faults that tests can inject into the attention kernels (common/injected_fault.cuh), and the selection of a fault
// on the host.
#pragma once

namespace tbench::kernels {

/// Plausible mistakes. Each comment names the outputs that the fault makes wrong, and the mistake.
enum class InjectedFault {
  kNone,
  kForwardScale,     // o, lse: scores are scaled by 1.05 times the scale
  kForwardMask,      // o, lse: the causal mask admits one key too many
  kForwardSkipTile,  // o, lse: the last K/V tile of each Q tile is not visited
  kForwardBarrier,   // o: the barrier between filling a shared tile and reading it is missing
  kLseBase,          // lse: the logarithm has base 2 instead of e
  kBackwardScale,    // dq, dk, dv: probabilities are recomputed from scores scaled by 1.05 times the scale
  kBackwardMask,     // dq, dk, dv: the causal mask admits one key too many
  kBackwardBarrier,  // dq, dk or dv: the barrier between filling a shared tile and reading it is missing
  kDqSkipTile,       // dq: one K/V tile's contribution to each row is not added
  kDkScale,          // dk: the factor `scale` is missing
  kDvSkipTile,       // dv: one Q tile's contribution to each row is not added
  // Faults of the sm90 backward kernels:
  kBackwardRelease,  // dk or dv: a Q tile's stage is released before the products have read the tile
  kBackwardParity,   // dq or dk: a dO tile is read one phase early
  kBackwardKept,     // dq: a work tile's K is released before its last dQ has read it
  // Fault of the kernel with kPerHead:
  kDqFirstSums,  // dq: the first sums are added to uninitialised memory
  // Fault of the split backward kernel:
  kBackwardStatistics,  // dq, dk or dv: warps do not wait for lse and delta
  // Faults of the sm90 kernels for grouped-query attention:
  kGqaHead,        // all outputs: head h of q has the keys of head h mod kv_heads
  kGqaStatistics,  // dq, dk, dv: all heads of a group have the lse and delta of the first
  kGqaDq,          // dq: all heads of a group add to dQ of the first
  kGqaPart,        // dk, dv: one part of a group is not added
};

/// The only head_dim for which the test library with injected faults is built.
inline constexpr int kPlantedHeadDim = 64;

/// Returns the fault that launches inject from now on, which tests assign. Only the test library defines this function.
[[nodiscard]] InjectedFault& planted_fault();

}  // namespace tbench::kernels
