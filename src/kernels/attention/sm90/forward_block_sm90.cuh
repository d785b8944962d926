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
  constexpr int kTeams = Shared::kTile.teams, kTeamGroups = Shared::kTile.warp_groups;
  const std::uint32_t first = (shared_address(memory) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  // From one lane, so that the compiler knows it to be the same for all of a warp.
  const int warp_group = __shfl_sync(kFullWarp, static_cast<int>(threadIdx.x) / kWarpGroupThreads, 0);
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&maps...}) prefetch(*map);
    for (int team = 0; team < kTeams; ++team) Shared::of_team(first, team).make_barriers();
  }
  __syncthreads();
  allow_next_kernel();
  if (warp_group == 0) {
    shrink_registers<Shared::kTile.copying_registers>();
    const int thread = static_cast<int>(threadIdx.x), team = kTeams == 1 ? 0 : thread / kWarpSize;
    if (thread == team * kWarpSize && team < kTeams) Copies{parameters, Shared::of_team(first, team)}.run();
  } else {
    grow_registers<Shared::kTile.registers>();
    const int team = kTeams == 1 ? 0 : (warp_group - 1) / kTeamGroups;
    Rows{parameters, Shared::of_team(first, team), warp_group - 1 - team * kTeamGroups}.run();
  }
}

}  // namespace tbench::kernels::sm90
