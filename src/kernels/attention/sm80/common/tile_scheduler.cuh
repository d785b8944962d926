// The tile and head that a CTA works on.
#pragma once

namespace tbench::kernels::sm80 {

struct TileScheduler {
  int tile;
  unsigned packed;  // batch and head, 16 bits each, as for gridDim.y and .z; saves a register throughout the kernel

  __device__ __forceinline__ int batch() const { return static_cast<int>(packed >> 16); }
  __device__ __forceinline__ int head() const { return static_cast<int>(packed & 0xffff); }
};

/// Schedules a CTA of a grid [tiles, heads, batch] with fewer than 2^31 CTAs. The hardware starts CTAs in the order of
/// x, then y, then z: all tiles of a head come before the next head, so that the head's keys and values may stay in the
/// L2 cache meanwhile. If `heads_first`, the first tiles of all heads come before all second tiles. If tiles are
/// ordered by decreasing work, the lightest tiles of all heads then come last, so that SMs finish at about the same
/// time.
__device__ __forceinline__ TileScheduler schedule_tile(bool heads_first) {
  if (!heads_first) return {static_cast<int>(blockIdx.x), blockIdx.z << 16 | blockIdx.y};
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned heads = gridDim.y * gridDim.z;
  const unsigned head = block % heads;
  return {static_cast<int>(block / heads), head / gridDim.y << 16 | head % gridDim.y};
}

/// Whether this CTA of a split pass has a K/V tile. `kv_blocks` of a head's CTAs have a K/V tile and the others a Q
/// tile. Sets `place.tile` to the index of that tile. The heaviest tiles come first: with a causal mask the first keys
/// are seen by the most queries, and the last queries see the most keys. If `heads_first`, K/V tiles and Q tiles are
/// equal in number and alternate; otherwise K/V tiles, which have more work, come first.
__device__ __forceinline__ bool keeps_keys(TileScheduler& place, bool heads_first, int kv_blocks) {
  const int block = place.tile, blocks = static_cast<int>(gridDim.x);
  const bool keys = heads_first ? block % 2 == 0 : block < kv_blocks;
  const int from_end = blocks - 1 - block;
  place.tile = keys ? (heads_first ? block / 2 : block) : (heads_first ? from_end / 2 : from_end);
  return keys;
}

}  // namespace tbench::kernels::sm80
