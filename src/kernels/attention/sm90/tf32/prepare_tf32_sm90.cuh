// The kernel before the TF32 forward kernel: V^T, rounded to TF32, in tiles as they lie in shared memory, zeros beyond
// the last key; and a cleared counter.
//
// Of eight keys the tile holds the even ones first: 0 2 4 6 1 3 5 7. A thread has the columns 2 l and 2 l + 1 of each
// eight of P (l = lane % 4), and as a left operand of eight keys the inner places l and l + 4 are its own: in this
// order of the keys its P is an operand as it stands.
#pragma once

#include "kernels/attention/common/tile.cuh"
#include "kernels/attention/sm90/primitives_sm90.cuh"
#include "kernels/attention/sm90/tf32/plan_tf32_sm90.hpp"

namespace tbench::kernels::sm90::tf32 {

struct PrepareParameters {
  Matrix<const float> v;
  float* values;      // see ForwardWorkspace
  unsigned* counter;  // null: there is none
  int heads, seq_kv;
  int padded_keys;  // of a head's tiles
};

/// Four floats in a row of a panel [rows, 32] with the 128-byte swizzle; `vector` of eight.
__device__ __forceinline__ float4* panel_vector(float* panel, int row, int vector) {
  return reinterpret_cast<float4*>(panel + row * kPanelFloats) + (vector ^ row % 8);
}

__device__ __forceinline__ float4 rounded(float x, float y, float z, float w) {
  const auto round = [](float value) { return __uint_as_float(round_to_tf32(value)); };
  return {round(x), round(y), round(z), round(w)};
}

/// A warp's 16 keys by 32 columns: eight lanes a row, four rows at a time.
struct PreparePlace {
  int first_key, first_column, lane;
};

/// A lane has four columns of four keys, every second of eight. They are transposed in registers; a row of the result
/// leaves in pieces of 64 bytes.
template <int kHeadDim>
__device__ __forceinline__ void transpose_values(const PrepareParameters& p, const float* head, float* tiles,
                                                 PreparePlace place) {
  const int group = place.lane / 8, column = place.first_column + place.lane % 8 * 4;
  const int key = place.first_key + group / 2 * 8 + group % 2;
  float4 read[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const bool exists = key + 2 * i < p.seq_kv;
    read[i] = exists ? *reinterpret_cast<const float4*>(head + (key + 2 * i) * p.v.row_stride + column) : float4{};
  }
  float* const panel = tiles + static_cast<std::int64_t>(place.first_key / kPanelFloats) * kPanelFloats * kHeadDim;
  const int vector = place.first_key % kPanelFloats / kPrepareKeys * 4 + group;
  *panel_vector(panel, column, vector) = rounded(read[0].x, read[1].x, read[2].x, read[3].x);
  *panel_vector(panel, column + 1, vector) = rounded(read[0].y, read[1].y, read[2].y, read[3].y);
  *panel_vector(panel, column + 2, vector) = rounded(read[0].z, read[1].z, read[2].z, read[3].z);
  *panel_vector(panel, column + 3, vector) = rounded(read[0].w, read[1].w, read[2].w, read[3].w);
}

template <int kHeadDim>
__global__ void __launch_bounds__(kPrepareThreads)
    attention_forward_tf32_prepare_kernel(const __grid_constant__ PrepareParameters p) {
  constexpr int kColumnBlocks = kHeadDim / kPrepareColumns, kWarps = kPrepareThreads / kWarpSize;
  const std::int64_t elements = static_cast<std::int64_t>(p.padded_keys) * kHeadDim;  // of a head's tiles
  const std::int64_t tiles = (static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y) * elements;
  const int unit = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarpSize;
  const PreparePlace place{.first_key = unit / kColumnBlocks * kPrepareKeys,
                           .first_column = unit % kColumnBlocks * kPrepareColumns,
                           .lane = static_cast<int>(threadIdx.x) % kWarpSize};
  // In this order: the next kernel fetches Q and K before it waits for this one.
  wait_for_last_kernel();
  allow_next_kernel();
  const bool is_first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && threadIdx.x == 0;
  if (is_first && p.counter != nullptr) *p.counter = 0;
  transpose_values<kHeadDim>(p, p.v.head(blockIdx.z, blockIdx.y), p.values + tiles, place);
}

}  // namespace tbench::kernels::sm90::tf32
