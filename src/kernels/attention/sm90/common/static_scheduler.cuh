// How blocks that stay come by their items without a counter.
#pragma once

namespace tbench::kernels::sm90 {

/// The item of the block in a round: every second round is dealt out backwards. Beyond the last item there are none in
/// later rounds either.
__device__ __forceinline__ int snake_tile(int round) {
  const int place = static_cast<int>(round % 2 == 0 ? blockIdx.x : gridDim.x - 1 - blockIdx.x);
  return round * static_cast<int>(gridDim.x) + place;
}

/// The same for one of a block's teams, which take the rounds in turns, every second time in reverse.
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
