// Kernels that do nothing but move memory, or nothing at all: what this GPU's limits are measured with. Buffers are
// whole tiles of 16-byte words, so that no access needs a bound.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace tbench::kernels {

/// How a streaming kernel covers its buffer, tile by tile: a tile is 64 bytes a thread, contiguous.
struct StreamGrid {
  int threads{};          // a block: 32, 64, 128, 256 or 512
  int blocks{};           // of the grid; each takes tile after tile, as many apart
  bool keeps_in_cache{};  // stores leave their lines in L2 as others do, instead of as the first to go
  bool operator==(const StreamGrid&) const = default;
};

/// Every buffer's bytes are a multiple of this: a tile of the largest block.
inline constexpr std::int64_t kStreamGranularity = 512 * 64;

/// Grids to autotune over for a buffer: one wave of threads, half of one, and a block for each tile.
/// @param bytes            of the buffer, > 0, a multiple of kStreamGranularity, at most 2^40
/// @param multiprocessors  of the device, > 0
/// @param stores           whether the kernel writes, so that what becomes of its lines is a choice
/// @throws                 std::invalid_argument
[[nodiscard]] std::vector<StreamGrid> stream_grids(std::int64_t bytes, int multiprocessors, bool stores);

/// Bytes of the pattern that write_stream repeats: a tile of the largest block.
inline constexpr std::int64_t kStreamPatternBytes = kStreamGranularity;

// Each of the following enqueues one kernel on `stream` and does not synchronise. Pointers are of device memory,
// aligned to 16 bytes; `bytes` as above.
// @throws  std::invalid_argument  if `bytes` or `grid` is not as required; CudaError if the launch fails

/// to[i] = from[i].
void copy_stream(void* to, const void* from, std::int64_t bytes, const StreamGrid& grid, cudaStream_t stream);
/// Adds up all 32-bit words modulo 2^32, every one `passes` times, through L2 alone: L1 is passed by, and in each pass
/// a tile is another block's.
/// @param sums    [grid.blocks], a partial sum of each block
/// @param passes  > 0
void read_stream(std::uint32_t* sums, const void* from, std::int64_t bytes, int passes, const StreamGrid& grid,
                 cudaStream_t stream);
/// to[i] = pattern[i mod kStreamPatternBytes].
void write_stream(void* to, const void* pattern, std::int64_t bytes, const StreamGrid& grid, cudaStream_t stream);
/// *counter += 1, by one thread.
void increment(std::uint32_t* counter, cudaStream_t stream);
/// As increment(), by a grid of `blocks` blocks of 256 threads, each of which first waits for `cycles` of its
/// multiprocessor's clock.
/// @param cycles  >= 0
/// @param blocks  > 0
void increment_after(std::int64_t cycles, int blocks, std::uint32_t* counter, cudaStream_t stream);

}  // namespace tbench::kernels
