// Streaming kernels: four independent accesses of 16 bytes a thread and tile, so that a multiprocessor of 2,048 threads
// has 128 KiB under way, several times what bandwidth times latency asks for (4.8 TB/s and 0.8 us on an H200: 29 KiB).
#include "stream_launch.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {
namespace {

constexpr int kUnroll = kStreamTileBytes / sizeof(uint4);
constexpr int kWarp = 32;

/// The tile's words of this thread: a warp's lie side by side.
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

/// The sum of the block's values, in its first thread.
__device__ unsigned sum_of_block(unsigned value) {
  __shared__ unsigned of_warps[kStreamMaxThreads / kWarp];
  value = __reduce_add_sync(0xffffffffU, value);
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  if (threadIdx.x >= kWarp) return 0;
  return __reduce_add_sync(0xffffffffU, threadIdx.x < blockDim.x / kWarp ? of_warps[threadIdx.x] : 0U);
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

unsigned blocks_of(const StreamGrid& grid) { return static_cast<unsigned>(grid.blocks); }
unsigned threads_of(const StreamGrid& grid) { return static_cast<unsigned>(grid.threads); }

}  // namespace

void launch_copy(void* to, const void* from, unsigned tiles, const StreamGrid& grid, cudaStream_t stream) {
  const auto kernel = grid.keeps_in_cache ? &copy_kernel<true> : &copy_kernel<false>;
  kernel<<<blocks_of(grid), threads_of(grid), 0, stream>>>(static_cast<uint4*>(to), static_cast<const uint4*>(from),
                                                           tiles);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void launch_read(std::uint32_t* sums, const void* from, unsigned tiles, unsigned passes, const StreamGrid& grid,
                 cudaStream_t stream) {
  read_kernel<<<blocks_of(grid), threads_of(grid), 0, stream>>>(sums, static_cast<const uint4*>(from), tiles, passes);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void launch_write(void* to, const void* pattern, unsigned tiles, const StreamGrid& grid, cudaStream_t stream) {
  const auto kernel = grid.keeps_in_cache ? &write_kernel<true> : &write_kernel<false>;
  kernel<<<blocks_of(grid), threads_of(grid), 0, stream>>>(static_cast<uint4*>(to), static_cast<const uint4*>(pattern),
                                                           tiles);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void launch_increment(std::uint32_t* counter, cudaStream_t stream) {
  increment_kernel<<<1, 1, 0, stream>>>(counter);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tbench::kernels
