// The faults that can be planted into the attention kernels (common/injected_fault.cuh), and the choice of one on the
// host.
#pragma once

namespace tbench::kernels {

/// Each is one plausible mistake at one place. Behind the name: the outputs that it spoils.
enum class InjectedFault {
  kNone,
  kForwardScale,     // o, lse: scores scaled by 1.05 times the scale
  kForwardMask,      // o, lse: the causal mask lets one key too many through
  kForwardSkipTile,  // o, lse: the last KV tile of a row of tiles is not visited
  kForwardBarrier,   // o: the barrier between filling a shared tile and reading it is missing
  kLseBase,          // lse: the logarithm to base 2 instead of e
  kBackwardScale,    // dq, dk, dv: probabilities recomputed from scores scaled by 1.05 times the scale
  kBackwardMask,     // dq, dk, dv: the causal mask lets one key too many through
  kBackwardBarrier,  // dq, dk or dv: the barrier between filling a shared tile and reading it is missing
  kDqSkipTile,       // dq: one KV tile's contribution to each row is not added
  kDkScale,          // dk: the factor `scale` is forgotten
  kDvSkipTile,       // dv: one Q tile's contribution to each row is not added
  // Hopper's backward kernels:
  kBackwardRelease,  // dk or dv: a tile of queries is given back before the products have read it
  kBackwardParity,   // dq or dk: a tile of dO is read a phase early
  kBackwardKept,     // dq: an item's K is given back before its last dQ has read it
  // By heads:
  kDqFirstSums,  // dq: the first sums are added to whatever lies there
  // By items of two kinds:
  kBackwardStatistics,  // dq, dk or dv: nobody waits for lse and delta
};

/// The only head dim that the library with planted faults is built for.
inline constexpr int kPlantedHeadDim = 64;

/// The fault to commit from the next launch on. Only the test library defines it.
[[nodiscard]] InjectedFault& planted_fault();

}  // namespace tbench::kernels
