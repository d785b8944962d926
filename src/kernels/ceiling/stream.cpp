#include <fmt/format.h>

#include <stdexcept>

#include "stream_launch.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {
namespace {

constexpr int kWarp = 32;

void check_bytes(std::int64_t bytes) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;  // so that tiles fit 32 bits
  if (bytes > 0 && bytes % kStreamGranularity == 0 && bytes <= kMostBytes) return;
  throw std::invalid_argument{
      fmt::format("a streaming kernel over {} bytes: expected a multiple of {} up to 2^40", bytes, kStreamGranularity)};
}

/// Tiles of a buffer, once everything was found to be as required.
unsigned checked_tiles(std::int64_t bytes, const StreamGrid& grid) {
  check_bytes(bytes);
  const bool is_valid =
      grid.blocks > 0 && grid.threads > 0 && grid.threads % kWarp == 0 && kStreamMaxThreads % grid.threads == 0;
  if (!is_valid) {
    throw std::invalid_argument{
        fmt::format("a streaming kernel's grid of {} blocks of {} threads: expected at least 1 of 32, 64, ... {}",
                    grid.blocks, grid.threads, kStreamMaxThreads)};
  }
  return static_cast<unsigned>(bytes / (std::int64_t{grid.threads} * kStreamTileBytes));
}

}  // namespace

std::vector<StreamGrid> stream_grids(std::int64_t bytes, int multiprocessors, bool stores) {
  check_bytes(bytes);
  std::vector<StreamGrid> grids;
  for (const int threads : {256, 512}) {
    const auto tiles = static_cast<int>(bytes / (threads * kStreamTileBytes));
    // One wave of 1,024 and of 2,048 threads a multiprocessor, and as many blocks as there are tiles.
    for (const int blocks : {multiprocessors * 1024 / threads, multiprocessors * 2048 / threads, tiles}) {
      grids.push_back({.threads = threads, .blocks = blocks, .keeps_in_cache = false});
      if (stores) grids.push_back({.threads = threads, .blocks = blocks, .keeps_in_cache = true});
    }
  }
  return grids;
}

void copy_stream(void* to, const void* from, std::int64_t bytes, const StreamGrid& grid, cudaStream_t stream) {
  launch_copy(to, from, checked_tiles(bytes, grid), grid, stream);
}

void read_stream(std::uint32_t* sums, const void* from, std::int64_t bytes, int passes, const StreamGrid& grid,
                 cudaStream_t stream) {
  const unsigned tiles = checked_tiles(bytes, grid);
  if (passes <= 0)
    throw std::invalid_argument{fmt::format("a streaming kernel of {} passes: expected 1 or more", passes)};
  launch_read(sums, from, tiles, static_cast<unsigned>(passes), grid, stream);
}

void write_stream(void* to, const void* pattern, std::int64_t bytes, const StreamGrid& grid, cudaStream_t stream) {
  launch_write(to, pattern, checked_tiles(bytes, grid), grid, stream);
}

void increment(std::uint32_t* counter, cudaStream_t stream) { launch_increment(counter, stream); }

}  // namespace tbench::kernels
