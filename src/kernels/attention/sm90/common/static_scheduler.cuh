// The static schedule of persistent CTAs: work tiles in snake order, without a counter.
#pragma once

namespace tbench::kernels::sm90 {

/// Returns the CTA's work tile in a round. Every second round assigns tiles in reverse (snake order). If the index is
/// past the last work tile, later rounds have no work for this CTA either.
__device__ __forceinline__ int snake_tile(int round) {
  const int place = static_cast<int>(round % 2 == 0 ? blockIdx.x : gridDim.x - 1 - blockIdx.x);
  return round * static_cast<int>(gridDim.x) + place;
}

/// Returns the work tile of one of the CTA's consumer groups. The groups take rounds in turn, every second time in
/// reverse order.
template <int kTeams>
__device__ __forceinline__ int snake_tile(int nth, int team) {
  if constexpr (kTeams == 1) {
    return snake_tile(nth);
  } else {
    return snake_tile(nth * kTeams + (nth % 2 == 0 ? team : kTeams - 1 - team));
  }
}
template <int kTeams>
__device__ __forceinline__ int first_tile(int team) {
  return kTeams == 1 ? static_cast<int>(blockIdx.x) : snake_tile(team);
}

}  // namespace tbench::kernels::sm90
