// Parameters of the sm90 TF32 forward kernel. Its shared memory has the layout of the 16-bit kernel with twice the
// head_dim (FwdSmem), except that the tiles of V hold V^T.
#pragma once

#include "kernels/attention/sm90/fwd/smem.cuh"
#include "kernels/attention/sm90_tf32/fwd/config.hpp"

namespace tbench::kernels::sm90_tf32 {

struct FwdParams {
  CUtensorMap q, k;     // the descriptor of k rounds to TF32
  const float* values;  // tiles of V^T; see FwdWorkspace
  TensorView o;         // rows start on 16-byte boundaries
  float* lse;           // [batch, heads, seq_q]
  int heads, seq_q, seq_kv;
  int key_tiles;  // per head
  float scale;
  bool causal;
  TileOrder order;
  TileDivmods divisors;
  unsigned* counter;  // null with the static schedule
};

template <int kHeadDim>
using FwdSmem = sm90::FwdSmem<columns_of_16_bits(kHeadDim), FwdConfigFor<kHeadDim>>;

/// Bytes per panel [head_dim, 32] of V^T.
template <int kHeadDim>
constexpr int kValuePanelBytes = kHeadDim* kPanelRowBytes;
static_assert(kPanelRowBytes == kPanelFloats * sizeof(float));

/// Elements per tile of K or V^T.
template <int kHeadDim>
constexpr int kTileElements = FwdConfigFor<kHeadDim>::tile().cols* kHeadDim;
static_assert(kTileElements<64> * sizeof(float) == FwdSmem<64>::kStageBytes);
static_assert(kTileElements<128> * sizeof(float) == FwdSmem<128>::kStageBytes);

}  // namespace tbench::kernels::sm90_tf32
