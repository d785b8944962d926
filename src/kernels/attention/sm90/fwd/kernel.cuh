// Forward pass on Hopper, bf16 and fp16. A CTA has one producer warpgroup and two to four consumer warpgroups with 64 Q
// rows each. One producer thread per consumer group loads Q, K and V tiles by TMA. Each stage has a full mbarrier,
// which counts loaded bytes, and an empty mbarrier, at which the readers arrive. For the consumers see
// sm90/fwd/operands_16bit.cuh.
#pragma once

#include "kernels/attention/sm90/fwd/operands_16bit.cuh"
#include "kernels/attention/sm90/fwd/producer.cuh"
#include "kernels/attention/sm90/fwd/smem.cuh"

namespace tbench::kernels::sm90 {

/// Runs a CTA of the 16-bit or the TF32 forward kernel: initialises the mbarriers and assigns each warpgroup its role.
/// @tparam Copies  code of the producer, one thread per consumer group; see TmaProducer
/// @tparam Rows    code of the consumer warpgroups; see FwdMainloop
/// @param  memory  dynamic shared memory
/// @param  maps    TMA descriptors of `parameters`
template <class Shared, class Copies, class Rows, class Parameters, class... Maps>
__device__ __forceinline__ void forward_block(const Parameters& parameters, char* memory, const Maps&... maps) {
  constexpr int kTeams = Shared::kTile.teams, kTeamGroups = Shared::kTile.warp_groups, kMade = 0;
  constexpr int kThreads = threads(Shared::kTile);
  const std::uint32_t first = (shared_address(memory) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  // After a shuffle from one lane, the compiler treats the number as uniform in the warp.
  const int warp = __shfl_sync(kFullWarp, static_cast<int>(threadIdx.x) / kWarpSize, 0);
  if (threadIdx.x == kTeams * kWarpSize) {  // a warp that is otherwise idle
    for (const CUtensorMap* map : {&maps...}) prefetch(*map);
  }
  const int group = warp / kWarpGroupWarps - 1;
  const bool in_copying_group = group < 0;
  const int team = kTeams == 1 ? 0 : in_copying_group ? warp % kTeams : group / kTeamGroups;
  const Shared shared = Shared::of_team(first, team);
  const int item = first_tile<kTeams>(team);
  const FwdTileCoord place = forward_place(parameters, item, Shared::kRows);
  const bool copies = warp < kTeams && threadIdx.x % kWarpSize == 0;
  Copies copying{parameters, shared};
  // Up to this point there is neither a wait for another warp nor a jump, which would delay the first copies.
  if (in_copying_group) {
    if (copies) shared.make_barriers();
    __syncwarp();
    named_barrier_arrive<kThreads>(kMade);
    if (copies && item < parameters.order.items) copying.begin(place);
  }
  griddep_launch_dependents();
  if (in_copying_group) {
    setmaxnreg_dec<Shared::kTile.copying_registers>();
    if (copies && item < parameters.order.items) copying.run(place);
  } else {
    named_barrier_sync<kThreads>(kMade);
    setmaxnreg_inc<Shared::kTile.registers>();
    Rows{parameters, shared, group - team * kTeamGroups}.run(item, place);
  }
}

/// The producer of the 16-bit kernels: loads tiles of K and V from the tensors themselves.
template <int kHeadDim, class Tile, class Parameters>
class FwdLoad : public TmaProducer<FwdLoad<kHeadDim, Tile, Parameters>, Parameters, FwdSmem<kHeadDim, Tile>> {
  using Shared = FwdSmem<kHeadDim, Tile>;
  using Producer = typename FwdLoad::TmaProducer;
  friend Producer;
  using Producer::p_, Producer::shared_, Producer::keys_, Producer::values_, Producer::expect;

  static constexpr bool kWaitsForValues = false;

 public:
  using Producer::Producer;

 private:
  __device__ __forceinline__ void fetch_keys(const FwdTileCoord& place, int step) {
    fetch(p_.k, Shared::kKeysFull, shared_.k(keys_.stage), keys_, place, step);
  }
  __device__ __forceinline__ void fetch_values(const FwdTileCoord& place, int step) {
    fetch(p_.v, Shared::kValuesFull, shared_.v(values_.stage), values_, place, step);
  }

  __device__ __forceinline__ void fetch(const CUtensorMap& map, std::uint32_t full, std::uint32_t destination,
                                        PipelineState<Shared::kTile.stages>& ring, const FwdTileCoord& place,
                                        int step) {
    const std::uint32_t barrier = expect(full, ring);
    tma_load_tile<kHeadDim>(destination, Shared::kPanelBytes, map,
                            {step * Shared::kTile.cols, kv_head(p_, place.head), place.batch}, barrier,
                            l2_cache_hint<CacheHint::kEvictLast>());
    ring.advance();
  }
};

template <class Element, int kHeadDim, class Tile, class Parameters>
__device__ __forceinline__ void forward_block(const Parameters& parameters, char* memory) {
  forward_block<FwdSmem<kHeadDim, Tile>, FwdLoad<kHeadDim, Tile, Parameters>,
                Fwd16BitOperands<Element, kHeadDim, Tile, Parameters>>(parameters, memory, parameters.q, parameters.k,
                                                                       parameters.v, parameters.o);
}

template <class Element, int kHeadDim, class Tile>
__global__ void __launch_bounds__(threads(Tile::tile()), 1)
    attention_fwd_sm90_kernel(const __grid_constant__ FwdParams parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  forward_block<Element, kHeadDim, Tile>(parameters, shared);
#endif
}

/// The same for grouped-query attention. A kernel of its own, so that plain attention divides no head.
template <class Element, int kHeadDim, class Tile>
__global__ void __launch_bounds__(threads(Tile::tile()), 1)
    attention_fwd_sm90_gqa_kernel(const __grid_constant__ GqaFwdParams parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  forward_block<Element, kHeadDim, Tile>(parameters, shared);
#endif
}

}  // namespace tbench::kernels::sm90
