// The streaming kernels behind the public functions, which have checked the arguments: `tiles` tiles of `grid.threads`
// threads each. Each enqueues its launch on `stream`, checks it, and does not synchronise.
#pragma once

#include "tbench/kernels/ceiling.hpp"

namespace tbench::kernels {

inline constexpr int kStreamMaxThreads = 512;
/// Of a thread in a tile: four independent accesses of 16 bytes.
inline constexpr int kStreamTileBytes = 64;
static_assert(kStreamGranularity == std::int64_t{kStreamMaxThreads} * kStreamTileBytes, "a tile of the largest block");

void launch_copy(void* to, const void* from, unsigned tiles, const StreamGrid& grid, cudaStream_t stream);
void launch_read(std::uint32_t* sums, const void* from, unsigned tiles, unsigned passes, const StreamGrid& grid,
                 cudaStream_t stream);
void launch_write(void* to, const void* pattern, unsigned tiles, const StreamGrid& grid, cudaStream_t stream);
void launch_increment(std::uint32_t* counter, cudaStream_t stream);

}  // namespace tbench::kernels
