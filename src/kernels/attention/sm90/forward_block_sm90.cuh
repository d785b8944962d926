// A block of Hopper's forward kernels: its barriers, and who of its warpgroups does what.
#pragma once

#include "kernels/attention/sm90/forward_shared_sm90.cuh"

namespace tbench::kernels::sm90 {

/// @tparam Copies  what the copying warpgroup's first thread runs; see ForwardProducer
/// @tparam Rows    what the computing warpgroups run; see ForwardSteps
/// @param  memory  dynamic shared memory
/// @param  maps    the copy engine's, of `parameters`
template <class Shared, class Copies, class Rows, class Parameters, class... Maps>
__device__ __forceinline__ void forward_block(const Parameters& parameters, char* memory, const Maps&... maps) {
  const Shared shared{(shared_address(memory) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment};
  // From one lane, so that the compiler knows it to be the same for all of a warp.
  const int warp_group = __shfl_sync(kFullWarp, static_cast<int>(threadIdx.x) / kWarpGroupThreads, 0);
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&maps...}) prefetch(*map);
    shared.make_barriers();
  }
  __syncthreads();
  allow_next_kernel();
  if (warp_group == 0) {
    shrink_registers<Shared::kTile.copying_registers>();
    if (threadIdx.x == 0) Copies{parameters, shared}.run();
  } else {
    grow_registers<Shared::kTile.registers>();
    Rows{parameters, shared, warp_group - 1}.run();
  }
}

}  // namespace tbench::kernels::sm90
