// Tests decisions and refusals of the streaming kernels' host code, without a GPU.
#include "tbench/kernels/ceiling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace tbench::kernels {
namespace {

constexpr std::int64_t kBytes = 8 * kStreamGranularity;  // 256 KiB: 16 tiles with 256 threads, 8 with 512

TEST(StreamGrids, AreWavesOfThreadsAndOneTileABlock) {
  const std::vector<StreamGrid> grids = stream_grids(kBytes, 132, /*stores=*/false);
  const std::vector<StreamGrid> expected{
      {.threads = 256, .blocks = 528}, {.threads = 256, .blocks = 1056}, {.threads = 256, .blocks = 16},
      {.threads = 512, .blocks = 264}, {.threads = 512, .blocks = 528},  {.threads = 512, .blocks = 8},
  };
  EXPECT_EQ(grids, expected);
}

TEST(StreamGrids, OfStoresHaveBothWaysToLeaveTheirLines) {
  const std::vector<StreamGrid> grids = stream_grids(kBytes, 132, /*stores=*/true);
  EXPECT_EQ(grids.size(), 12U);
  EXPECT_EQ(std::ranges::count_if(grids, &StreamGrid::keeps_in_cache), 6);
}

TEST(Stream, RefusesWhatIsNotWholeTiles) {
  const StreamGrid good{.threads = 256, .blocks = 4};
  const auto copy = [&](std::int64_t bytes, const StreamGrid& grid) {
    copy_stream(nullptr, nullptr, bytes, grid, nullptr);
  };
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-32768}, kBytes + 16, std::int64_t{1} << 41}) {
    EXPECT_THROW(copy(bytes, good), std::invalid_argument) << bytes;
    EXPECT_THROW(static_cast<void>(stream_grids(bytes, 132, false)), std::invalid_argument) << bytes;
  }
  for (const StreamGrid& grid : {StreamGrid{.threads = 0, .blocks = 1}, StreamGrid{.threads = 16, .blocks = 1},
                                 StreamGrid{.threads = 96, .blocks = 1}, StreamGrid{.threads = 1024, .blocks = 1},
                                 StreamGrid{.threads = 256, .blocks = 0}}) {
    EXPECT_THROW(copy(kBytes, grid), std::invalid_argument) << grid.threads << " x " << grid.blocks;
    EXPECT_THROW(write_stream(nullptr, nullptr, kBytes, grid, nullptr), std::invalid_argument);
    EXPECT_THROW(read_stream(nullptr, nullptr, kBytes, 1, grid, nullptr), std::invalid_argument);
  }
  EXPECT_THROW(read_stream(nullptr, nullptr, kBytes, 0, good, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::kernels
