// TF32 forward pass on Hopper: the 16-bit kernel's CTA (sm90/fwd/kernel.cuh) with tiles of float32. The producer loads
// Q, K (which TMA rounds to TF32), and V^T, which the preprocess kernel has computed.
#pragma once

#include "kernels/attention/sm90/fwd/kernel.cuh"
#include "kernels/attention/sm90/fwd/producer.cuh"
#include "kernels/attention/sm90_tf32/fwd/operands.cuh"

namespace tbench::kernels::sm90_tf32 {

/// The producer: loads K by TMA, and a tile of V^T as contiguous bytes.
template <int kHeadDim>
class FwdLoad : public TmaProducer<FwdLoad<kHeadDim>, FwdParams, FwdSmem<kHeadDim>> {
  using Tiles = FwdSmem<kHeadDim>;
  using Producer = typename FwdLoad::TmaProducer;
  friend Producer;
  using Producer::p_, Producer::shared_, Producer::keys_, Producer::values_, Producer::expect;

  // The preprocess kernel writes V^T. Loads of Q and K need not wait for it, because it has itself waited until Q and K
  // were written.
  static constexpr bool kWaitsForValues = true;

 public:
  using Producer::Producer;

 private:
  __device__ __forceinline__ void fetch_keys(const FwdTileCoord& place, int step) {
    const std::uint32_t destination = shared_.k(keys_.stage), barrier = expect(Tiles::kKeysFull, keys_);
    keys_.advance();
    tma_load_tile<Tiles::kColumns>(destination, Tiles::kPanelBytes, p_.k,
                                   {step * Tiles::kTile.cols, place.head, place.batch}, barrier,
                                   l2_cache_hint<CacheHint::kEvictLast>());
  }
  __device__ __forceinline__ void fetch_values(const FwdTileCoord& place, int step) {
    const std::uint32_t destination = shared_.v(values_.stage), barrier = expect(Tiles::kValuesFull, values_);
    values_.advance();
    const std::int64_t head = static_cast<std::int64_t>(place.batch) * p_.heads + place.head;
    const float* const tile = p_.values + (head * p_.key_tiles + step) * kTileElements<kHeadDim>;
    bulk_load(destination, tile, Tiles::kStageBytes, barrier, l2_cache_hint<CacheHint::kEvictLast>());
  }
};

template <int kHeadDim>
__device__ __forceinline__ void forward_block(const FwdParams& parameters, char* memory) {
  sm90::forward_block<FwdSmem<kHeadDim>, FwdLoad<kHeadDim>, FwdTf32Operands<kHeadDim>>(parameters, memory, parameters.q,
                                                                                       parameters.k);
}

template <int kHeadDim>
__global__ void __launch_bounds__(threads(FwdConfigFor<kHeadDim>::tile()), 1)
    attention_fwd_sm90_tf32_kernel(const __grid_constant__ FwdParams parameters) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSharedAlignment) char shared[];
  forward_block<kHeadDim>(parameters, shared);
#endif
}

}  // namespace tbench::kernels::sm90_tf32
