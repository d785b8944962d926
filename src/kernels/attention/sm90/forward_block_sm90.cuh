// A block of Hopper's forward kernels: its barriers, and who of its warpgroups does what.
#pragma once

#include "kernels/attention/sm90/forward_shared_sm90.cuh"

namespace tbench::kernels::sm90 {

/// @tparam Copies  what the copying warpgroup's first thread runs, of teams a thread each; see ForwardProducer
/// @tparam Rows    what the computing warpgroups run; see ForwardSteps
/// @param  memory  dynamic shared memory
/// @param  maps    the copy engine's, of `parameters`
template <class Shared, class Copies, class Rows, class Parameters, class... Maps>
__device__ __forceinline__ void forward_block(const Parameters& parameters, char* memory, const Maps&... maps) {
  constexpr int kTeams = Shared::kTile.teams, kTeamGroups = Shared::kTile.warp_groups, kMade = 0;
  constexpr int kThreads = threads(Shared::kTile);
  const std::uint32_t first = (shared_address(memory) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  // From one lane, so that the compiler knows it to be the same for all of a warp.
  const int warp = __shfl_sync(kFullWarp, static_cast<int>(threadIdx.x) / kWarpSize, 0);
  if (threadIdx.x == kTeams * kWarpSize) {  // of a warp that has nothing else to do
    for (const CUtensorMap* map : {&maps...}) prefetch(*map);
  }
  const int group = warp / kWarpGroupWarps - 1;
  const bool in_copying_group = group < 0;
  const int team = kTeams == 1 ? 0 : in_copying_group ? warp % kTeams : group / kTeamGroups;
  const Shared shared = Shared::of_team(first, team);
  const int item = first_item<kTeams>(team);
  const ForwardPlace place = forward_place(parameters, item, Shared::kRows);
  const bool copies = warp < kTeams && threadIdx.x % kWarpSize == 0;
  Copies copying{parameters, shared};
  // Between here and the kernel's begin there is nothing that the first copies could wait for: no other warp, no jump.
  if (in_copying_group) {
    if (copies) shared.make_barriers();
    __syncwarp();
    arrive_at_barrier<kThreads>(kMade);
    if (copies && item < parameters.order.items) copying.begin(place);
  }
  allow_next_kernel();
  if (in_copying_group) {
    shrink_registers<Shared::kTile.copying_registers>();
    if (copies && item < parameters.order.items) copying.run(place);
  } else {
    wait_at_barrier<kThreads>(kMade);
    grow_registers<Shared::kTile.registers>();
    Rows{parameters, shared, group - team * kTeamGroups}.run(item, place);
  }
}

}  // namespace tbench::kernels::sm90
