// Kernels that only move memory, or do nothing at all, to measure a GPU's limits. Every buffer is a whole number of
// tiles of 16-byte words, so that no access needs a bounds check.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace tbench::kernels {

/// Tiling of a buffer by a streaming kernel: a tile is 64 bytes per thread, contiguous.
struct StreamGrid {
  int threads{};          // per CTA: 32, 64, 128, 256 or 512
  int blocks{};           // CTAs of the grid; CTA i takes tiles i, i + blocks, and so on
  bool keeps_in_cache{};  // stores keep their lines in L2 with normal priority, instead of marking them to be evicted
                          // first
  bool operator==(const StreamGrid&) const = default;
};

/// Size that divides the bytes of every buffer: a tile of the largest CTA.
inline constexpr std::int64_t kStreamGranularity = 512 * 64;

/// Returns the grids among which autotuning chooses for a buffer: one wave of threads, half a wave, and one CTA per
/// tile.
/// @param bytes            bytes of the buffer, > 0, a multiple of kStreamGranularity, at most 2^40
/// @param multiprocessors  SMs of the device, > 0
/// @param stores           whether the kernel writes, which adds the choice of keeps_in_cache
/// @throws                 std::invalid_argument if `bytes` is invalid
[[nodiscard]] std::vector<StreamGrid> stream_grids(std::int64_t bytes, int multiprocessors, bool stores);

/// Bytes of the pattern that write_stream() repeats: a tile of the largest CTA.
inline constexpr std::int64_t kStreamPatternBytes = kStreamGranularity;

// Each of the following functions enqueues one kernel on `stream` and does not synchronise. Pointers are to device
// memory and 16-byte aligned; `bytes` is as for stream_grids().
// @throws  std::invalid_argument  if `bytes` or `grid` is invalid; CudaError if the launch fails

/// Copies: to[i] = from[i].
void copy_stream(void* to, const void* from, std::int64_t bytes, const StreamGrid& grid, cudaStream_t stream);
/// Adds up all 32-bit words modulo 2^32, each of them `passes` times, through L2 alone: loads bypass L1, and in each
/// pass a tile goes to another CTA.
/// @param sums    [grid.blocks], one partial sum per CTA
/// @param passes  > 0
void read_stream(std::uint32_t* sums, const void* from, std::int64_t bytes, int passes, const StreamGrid& grid,
                 cudaStream_t stream);
/// Fills a buffer with the pattern: to[i] = pattern[i mod kStreamPatternBytes].
void write_stream(void* to, const void* pattern, std::int64_t bytes, const StreamGrid& grid, cudaStream_t stream);
/// Increments *counter, in one thread.
void increment(std::uint32_t* counter, cudaStream_t stream);
/// Increments *counter once, with a grid of `blocks` CTAs of 256 threads each. Every CTA first waits for `cycles`
/// cycles of its SM's clock.
/// @param cycles  >= 0
/// @param blocks  > 0
void increment_after(std::int64_t cycles, int blocks, std::uint32_t* counter, cudaStream_t stream);

}  // namespace tbench::kernels
