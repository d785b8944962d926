// Streaming kernels with four independent accesses of 16 bytes per thread and tile. An SM with 2,048 threads then has
// 128 KiB in flight, several times the product of bandwidth and latency (29 KiB per SM for 4.8 TB/s and 0.8 us on an
// H200).
#include <stdexcept>
#include <string>

#include "kernels/common/vectors.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/ceiling.hpp"

namespace tbench::kernels {
namespace {

constexpr int kStreamMaxThreads = 512;
/// Bytes per thread and tile: four independent accesses of 16 bytes.
constexpr int kStreamTileBytes = 64;
static_assert(kStreamGranularity == std::int64_t{kStreamMaxThreads} * kStreamTileBytes, "a tile of the largest block");

constexpr int kUnroll = kStreamTileBytes / sizeof(uint4);

/// Returns the index of this thread's word in the tile. The words of a warp are contiguous.
__device__ std::int64_t place_in_tile(int access) { return access * static_cast<int>(blockDim.x) + threadIdx.x; }

template <bool kKeepsInCache>
__device__ void store(uint4* to, const uint4& word) {
  if constexpr (kKeepsInCache) {
    *to = word;
  } else {
    __stcs(to, word);
  }
}

template <bool kKeepsInCache>
__global__ void __launch_bounds__(kStreamMaxThreads)
    copy_kernel(uint4* __restrict__ to, const uint4* __restrict__ from, unsigned tiles) {
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t begin = std::int64_t{tile} * blockDim.x * kUnroll;
    uint4 words[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) words[i] = __ldcs(from + begin + place_in_tile(i));
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) store<kKeepsInCache>(to + begin + place_in_tile(i), words[i]);
  }
}

/// Returns the sum of the CTA's values in its first thread.
__device__ unsigned sum_of_block(unsigned value) {
  __shared__ unsigned of_warps[kStreamMaxThreads / kWarpThreads];
  value = warp_sum(value);
  if (threadIdx.x % kWarpThreads == 0) of_warps[threadIdx.x / kWarpThreads] = value;
  __syncthreads();
  if (threadIdx.x >= kWarpThreads) return 0;
  return warp_sum(threadIdx.x < blockDim.x / kWarpThreads ? of_warps[threadIdx.x] : 0U);
}

__global__ void __launch_bounds__(kStreamMaxThreads)
    read_kernel(unsigned* __restrict__ sums, const uint4* __restrict__ from, unsigned tiles, unsigned passes) {
  unsigned sum = 0;
  for (unsigned pass = 0; pass < passes; ++pass) {
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const std::int64_t begin = std::int64_t{(tile + pass) % tiles} * blockDim.x * kUnroll;
      uint4 words[kUnroll];
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) words[i] = __ldcg(from + begin + place_in_tile(i));
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) sum += (words[i].x + words[i].y) + (words[i].z + words[i].w);
    }
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <bool kKeepsInCache>
__global__ void __launch_bounds__(kStreamMaxThreads)
    write_kernel(uint4* __restrict__ to, const uint4* __restrict__ pattern, unsigned tiles) {
  const unsigned tiles_of_pattern = kStreamMaxThreads / blockDim.x;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const uint4* const part = pattern + (tile % tiles_of_pattern) * blockDim.x * kUnroll;
    const std::int64_t begin = std::int64_t{tile} * blockDim.x * kUnroll;
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      store<kKeepsInCache>(to + begin + place_in_tile(i), __ldg(part + place_in_tile(i)));
    }
  }
}

__global__ void increment_kernel(unsigned* counter) { *counter += 1; }

__global__ void increment_after_kernel(long long cycles, unsigned* counter) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *counter += 1;
}

unsigned blocks_of(const StreamGrid& grid) { return static_cast<unsigned>(grid.blocks); }
unsigned threads_of(const StreamGrid& grid) { return static_cast<unsigned>(grid.threads); }

void check_bytes(std::int64_t bytes) {
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 40;  // so that tile indices fit into 32 bits
  if (bytes > 0 && bytes % kStreamGranularity == 0 && bytes <= kMaxBytes) return;
  throw std::invalid_argument{"a streaming kernel over " + std::to_string(bytes) + " bytes: expected a multiple of " +
                              std::to_string(kStreamGranularity) + " up to 2^40"};
}

/// Returns the number of tiles of a buffer. Throws if `bytes` or `grid` is invalid.
unsigned checked_tiles(std::int64_t bytes, const StreamGrid& grid) {
  check_bytes(bytes);
  const bool is_valid =
      grid.blocks > 0 && grid.threads > 0 && grid.threads % kWarpThreads == 0 && kStreamMaxThreads % grid.threads == 0;
  if (!is_valid) {
    throw std::invalid_argument{"a streaming kernel's grid of " + std::to_string(grid.blocks) + " blocks of " +
                                std::to_string(grid.threads) + " threads: expected at least 1 of 32, 64, ... " +
                                std::to_string(kStreamMaxThreads)};
  }
  return static_cast<unsigned>(bytes / (std::int64_t{grid.threads} * kStreamTileBytes));
}

}  // namespace

std::vector<StreamGrid> stream_grids(std::int64_t bytes, int multiprocessors, bool stores) {
  check_bytes(bytes);
  std::vector<StreamGrid> grids;
  for (const int threads : {256, 512}) {
    const auto tiles = static_cast<int>(bytes / (threads * kStreamTileBytes));
    // One wave with 1,024 threads per SM, one wave with 2,048 threads per SM, and one CTA per tile.
    for (const int blocks : {multiprocessors * 1024 / threads, multiprocessors * 2048 / threads, tiles}) {
      grids.push_back({.threads = threads, .blocks = blocks, .keeps_in_cache = false});
      if (stores) grids.push_back({.threads = threads, .blocks = blocks, .keeps_in_cache = true});
    }
  }
  return grids;
}

void copy_stream(void* to, const void* from, std::int64_t bytes, const StreamGrid& grid, cudaStream_t stream) {
  const unsigned tiles = checked_tiles(bytes, grid);
  const auto kernel = grid.keeps_in_cache ? &copy_kernel<true> : &copy_kernel<false>;
  kernel<<<blocks_of(grid), threads_of(grid), 0, stream>>>(static_cast<uint4*>(to), static_cast<const uint4*>(from),
                                                           tiles);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void read_stream(std::uint32_t* sums, const void* from, std::int64_t bytes, int passes, const StreamGrid& grid,
                 cudaStream_t stream) {
  const unsigned tiles = checked_tiles(bytes, grid);
  if (passes <= 0) {
    throw std::invalid_argument{"a streaming kernel of " + std::to_string(passes) + " passes: expected 1 or more"};
  }
  read_kernel<<<blocks_of(grid), threads_of(grid), 0, stream>>>(sums, static_cast<const uint4*>(from), tiles,
                                                                static_cast<unsigned>(passes));
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void write_stream(void* to, const void* pattern, std::int64_t bytes, const StreamGrid& grid, cudaStream_t stream) {
  const unsigned tiles = checked_tiles(bytes, grid);
  const auto kernel = grid.keeps_in_cache ? &write_kernel<true> : &write_kernel<false>;
  kernel<<<blocks_of(grid), threads_of(grid), 0, stream>>>(static_cast<uint4*>(to), static_cast<const uint4*>(pattern),
                                                           tiles);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void increment(std::uint32_t* counter, cudaStream_t stream) {
  increment_kernel<<<1, 1, 0, stream>>>(counter);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void increment_after(std::int64_t cycles, int blocks, std::uint32_t* counter, cudaStream_t stream) {
  if (cycles < 0 || blocks < 1) {
    throw std::invalid_argument{"increment_after: " + std::to_string(cycles) + " cycles, " + std::to_string(blocks) +
                                " blocks"};
  }
  constexpr int kThreads = 256;
  increment_after_kernel<<<blocks, kThreads, 0, stream>>>(cycles, counter);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tbench::kernels
