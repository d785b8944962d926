// What the TF32 forward kernel of Hopper is given. What lies in its shared memory is the 16-bit kernel's of twice the
// columns (FwdSmem), but for V, whose tiles are V^T.
#pragma once

#include "kernels/attention/sm90/fwd/smem.cuh"
#include "kernels/attention/sm90_tf32/fwd/config.hpp"

namespace tbench::kernels::sm90_tf32 {

struct FwdParams {
  CUtensorMap q, k;     // k's rounds to TF32
  const float* values;  // tiles of V^T; see FwdWorkspace
  TensorView o;         // whose rows start on 16-byte boundaries
  float* lse;           // [batch, heads, seq_q]
  int heads, seq_q, seq_kv;
  int key_tiles;  // of a head
  float scale;
  bool causal;
  TileOrder order;
  TileDivmods divisors;
  unsigned* counter;  // as the 16-bit kernel's
};

template <int kHeadDim>
using FwdSmem = sm90::FwdSmem<columns_of_16_bits(kHeadDim), FwdConfigFor<kHeadDim>>;

/// Of V^T: [head_dim, 32].
template <int kHeadDim>
constexpr int kValuePanelBytes = kHeadDim* kPanelRowBytes;
static_assert(kPanelRowBytes == kPanelFloats * sizeof(float));

/// Of a tile's elements, whether of K or of V^T.
template <int kHeadDim>
constexpr int kTileElements = FwdConfigFor<kHeadDim>::tile().cols* kHeadDim;
static_assert(kTileElements<64> * sizeof(float) == FwdSmem<64>::kStageBytes);
static_assert(kTileElements<128> * sizeof(float) == FwdSmem<128>::kStageBytes);

}  // namespace tbench::kernels::sm90_tf32
