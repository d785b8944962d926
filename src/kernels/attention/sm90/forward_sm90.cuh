// Forward pass on Hopper, bf16 and fp16. A block has one warpgroup that copies and two to four that compute 64 queries
// each. The copying one's first thread, of teams a thread each, fetches tiles of Q, K and V by the tensor copy engine;
// a barrier per buffer says when its bytes have come, another when nobody reads them any more. What the others do:
// forward_rows_sm90.cuh.
#pragma once

#include "kernels/attention/sm90/forward_block_sm90.cuh"
#include "kernels/attention/sm90/forward_producer_sm90.cuh"
#include "kernels/attention/sm90/forward_rows_sm90.cuh"

namespace tbench::kernels::sm90 {

/// K and V as they are in memory.
template <int kHeadDim, class Tile>
class ForwardCopies
    : public ForwardProducer<ForwardCopies<kHeadDim, Tile>, ForwardParameters, SharedForward<kHeadDim, Tile>> {
  using Shared = SharedForward<kHeadDim, Tile>;
  using Producer = typename ForwardCopies::ForwardProducer;
  friend Producer;
  using Producer::p_, Producer::shared_, Producer::keys_, Producer::values_, Producer::expect;

  static constexpr bool kWaitsForValues = false;

 public:
  using Producer::Producer;

 private:
  __device__ __forceinline__ void fetch_keys(const ForwardPlace& place, int step) {
    fetch(p_.k, Shared::kKeysFull, shared_.k(keys_.stage), keys_, place, step);
  }
  __device__ __forceinline__ void fetch_values(const ForwardPlace& place, int step) {
    fetch(p_.v, Shared::kValuesFull, shared_.v(values_.stage), values_, place, step);
  }

  __device__ __forceinline__ void fetch(const CUtensorMap& map, std::uint32_t full, std::uint32_t destination,
                                        Ring<Shared::kTile.stages>& ring, const ForwardPlace& place, int step) {
    const std::uint32_t barrier = expect(full, ring);
    copy_boxes<kHeadDim>(destination, Shared::kPanelBytes, map, {step * Shared::kTile.cols, place.head, place.batch},
                         barrier, cache_policy<Reuse::kOften>());
    ring.advance();
  }
};

template <class Element, int kHeadDim, class Tile>
__device__ __forceinline__ void forward_block(const ForwardParameters& parameters, char* memory) {
  forward_block<SharedForward<kHeadDim, Tile>, ForwardCopies<kHeadDim, Tile>, ForwardRows<Element, kHeadDim, Tile>>(
      parameters, memory, parameters.q, parameters.k, parameters.v, parameters.o);
}

template <class Element, int kHeadDim, class Tile>
__global__ void __launch_bounds__(threads(Tile::tile()), 1)
    attention_forward_wgmma_kernel(const __grid_constant__ ForwardParameters parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  forward_block<Element, kHeadDim, Tile>(parameters, shared);
#endif
}

}  // namespace tbench::kernels::sm90
