// How blocks that stay come by their items without a counter.
#pragma once

namespace tbench::kernels::sm90 {

/// The item of the block in a round: every second round is dealt out backwards. Beyond the last item there are none in
/// later rounds either.
__device__ __forceinline__ int dealt_item(int round) {
  const int place = static_cast<int>(round % 2 == 0 ? blockIdx.x : gridDim.x - 1 - blockIdx.x);
  return round * static_cast<int>(gridDim.x) + place;
}

}  // namespace tbench::kernels::sm90
