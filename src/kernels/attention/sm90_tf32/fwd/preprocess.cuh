// The preprocess kernel of the TF32 forward pass: computes V^T, rounded to TF32, in tiles that have the layout of
// shared memory, with zeros past the last key, and clears the counter.
#pragma once

#include "kernels/attention/sm90_tf32/common/transpose.cuh"

namespace tbench::kernels::sm90_tf32 {

struct PreprocessParams {
  GlobalMatrix<const float> v;
  float* values;      // see FwdWorkspace
  unsigned* counter;  // null with the static schedule
  int heads, seq_kv;
  int padded_keys;  // keys per head, rounded up to whole tiles
};

template <int kHeadDim>
__global__ void __launch_bounds__(kPrepareThreads)
    attention_fwd_sm90_tf32_preprocess_kernel(const __grid_constant__ PreprocessParams p) {
  constexpr int kWarps = kPrepareThreads / kWarpSize;
  const std::int64_t elements = static_cast<std::int64_t>(p.padded_keys) * kHeadDim;  // elements per head
  const std::int64_t tiles = (static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y) * elements;
  const int warp = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarpSize;
  // This order is safe because the next kernel loads only Q and K before it waits for this one.
  griddep_wait();
  griddep_launch_dependents();
  const bool is_first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && threadIdx.x == 0;
  if (is_first && p.counter != nullptr) *p.counter = 0;
  transpose<kHeadDim>(p.v, p.v.head(blockIdx.z, blockIdx.y), p.seq_kv, p.values + tiles,
                      transpose_place<kHeadDim>(warp));
}

}  // namespace tbench::kernels::sm90_tf32
