#include "kernels/attention/sm80/fwd/config.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/resident_tile.hpp"
#include "support/sm80_problems.hpp"

namespace tbench::kernels::sm80 {
namespace {

constexpr int kHeadDims[]{16, 32, 64, 80, 96, 128, 256};
constexpr int kHeadDims32Bit[]{16, 32, 64, 80, 96, 128};

TEST(ForwardLaunch, CoversEveryQuery) {
  // ceil(129 / 64) = 3 tiles of 64 queries, ceil(129 / 128) = 2 of 128.
  const AttentionShape shape = problem_16bit(129, 64).shape;
  EXPECT_EQ(forward_launch(shape, FwdM64N64::tile(64)).grid, (Grid{3, 12, 4}));
  EXPECT_EQ(forward_launch(shape, FwdM128N64::tile(64)).grid, (Grid{2, 12, 4}));
  EXPECT_EQ(forward_launch(shape, FwdM128N64::tile(64)).threads, 128);
}

TEST(ForwardLaunch, SharedBytesAreThoseOfThreeTiles) {
  // (128 queries + 2 * 64 keys and values) * (128 * 2 + 16) bytes
  EXPECT_EQ(forward_shared_bytes({.rows = 128, .cols = 64, .warps = 4, .blocks_per_multiprocessor = 2}, 128), 69632u);
}

TEST(ForwardSplitKv, AreSoManyThatAllBlocksRunAtOnce) {
  // 64 tiles: 396 CTAs at once at head_dim 64, 264 at 128; 6 and 4 parts per tile.
  EXPECT_EQ(forward_split_kv(square(1, 4096, 64), kH200), (SplitKv{.num_splits = 6, .keys = 704}));
  EXPECT_EQ(forward_split_kv(square(1, 4096, 128), kH200), (SplitKv{.num_splits = 4, .keys = 1024}));
  // With a mask a tile has work for each part that begins before the tile's end: 6 * (1 + ... + 10) + 4 * 11 = 374
  // CTAs, and 9 * (1 + ... + 7) + 8 = 260.
  EXPECT_EQ(forward_split_kv(causal(square(1, 4096, 64)), kH200), (SplitKv{.num_splits = 11, .keys = 384}));
  EXPECT_EQ(forward_split_kv(causal(square(1, 4096, 128)), kH200), (SplitKv{.num_splits = 8, .keys = 576}));
}

TEST(ForwardSplitKv, AreWholeTilesOfQueriesAndNotTooSmall) {
  EXPECT_EQ(forward_split_kv(square(1, 1025, 64), kH200), (SplitKv{.num_splits = 5, .keys = 256}));
  AttentionShape one_query = square(1, 65536, 64);
  one_query.seq_q = 1;
  EXPECT_EQ(forward_split_kv(one_query, kH200), (SplitKv{.num_splits = 256, .keys = 256}));
}

TEST(ForwardSplitKv, IsOneWhereTilesAreEnoughOrKeysFew) {
  EXPECT_EQ(forward_split_kv(square(1, 1024, 64), kH200), SplitKv{});
  EXPECT_EQ(forward_split_kv(square(1, 4096, 256), kH200), SplitKv{});
  EXPECT_GT(forward_split_kv(square(2, 2112, 64), kH200).num_splits, 1);  // 66 tiles
  EXPECT_EQ(forward_split_kv(square(2, 2113, 64), kH200), SplitKv{});
  EXPECT_GT(forward_split_kv(causal(square(4, 2112, 64)), kH200).num_splits, 1);  // 132
  EXPECT_EQ(forward_split_kv(causal(square(4, 2113, 64)), kH200), SplitKv{});
}

TEST(ForwardWorkspace, HoldsThePartsOfOAndTheirLse) {
  // 4096 queries in 6 parts, with 64 floats and one each
  EXPECT_EQ(forward_workspace(square(1, 4096, 64), {.num_splits = 6, .keys = 704}).o_bytes, 6291456u);
  EXPECT_EQ(forward_workspace(square(1, 4096, 64), {.num_splits = 6, .keys = 704}).bytes(), 6389760u);
}

TEST(ForwardCombineLaunch, CoversEveryElement) {
  // 129 rows of 20 times four elements in CTAs with 128 threads
  EXPECT_EQ(forward_combine_launch(problem_16bit(129, 80).shape).grid, (Grid{21, 12, 4}));
}

TEST(Tiles, FitAHopperMultiprocessor) {
  for (const int head_dim : kHeadDims) {
    std::vector<FwdConfig> tiles{FwdM128N64::tile(head_dim), FwdM64N64::tile(head_dim)};
    if (head_dim <= 128) {
      tiles.insert(tiles.end(), {FwdWarpSplit<16>::tile(head_dim), FwdWarpSplit<32>::tile(head_dim),
                                 FwdWarpSplit<64>::tile(head_dim)});
    }
    for (const FwdConfig& tile : tiles) {
      const auto blocks = static_cast<std::size_t>(tile.blocks_per_multiprocessor);
      EXPECT_LE(blocks * forward_shared_bytes(tile, head_dim), kHopperSharedBytes) << head_dim;
    }
  }
}

TEST(Tiles32Bit, TheBlocksOfEachTileFitAMultiprocessor) {
  for (const int head_dim : kHeadDims32Bit) {
    SCOPED_TRACE(head_dim);
    expect_resident(FwdFp32Long::tile(head_dim), forward_32bit_shared_bytes(FwdFp32Long::tile(head_dim), head_dim));
    expect_resident(FwdFp32Short<false>::tile(head_dim),
                    forward_32bit_shared_bytes(FwdFp32Short<false>::tile(head_dim), head_dim));
    expect_resident(FwdFp32Short<true>::tile(head_dim),
                    forward_32bit_shared_bytes(FwdFp32Short<true>::tile(head_dim), head_dim));
    for (const FwdConfig tile :
         {FwdFp32WarpSplit<true, 64>::tile(head_dim), FwdFp32WarpSplit<false, 64>::tile(head_dim),
          FwdFp32WarpSplit<false, 32>::tile(head_dim), FwdFp32WarpSplit<false, 16>::tile(head_dim)})
      expect_resident(tile, forward_32bit_shared_bytes(tile, head_dim));
    // Sixteen queries with sixteen keys at once take 128 registers per thread of a warp.
    constexpr std::size_t kRegistersOfSplitWarps = 128;
    const FwdConfig four_groups = FwdFp32WarpSplit<true, 32>::tile(head_dim);
    expect_resident(four_groups, forward_32bit_shared_bytes(four_groups, head_dim), kRegistersOfSplitWarps);
  }
}

TEST(Forward32Bit, SharedBytesOfForward) {
  // (128 + 2 * 32) rows of 128 * 4 + 16 bytes
  EXPECT_EQ(forward_32bit_shared_bytes({.rows = 128, .cols = 32, .warps = 4, .blocks_per_multiprocessor = 2}, 128),
            101376u);
  // as many rows for 64 queries in two parts
  EXPECT_EQ(forward_32bit_shared_bytes(
                {.rows = 64, .cols = 32, .warps = 4, .query_parts = 2, .blocks_per_multiprocessor = 2}, 128),
            101376u);
}

TEST(Forward32Bit, ForwardGridCoversTheLastRows) {
  const FwdConfig tile{.rows = 128, .cols = 64, .warps = 4, .blocks_per_multiprocessor = 2};
  EXPECT_EQ(forward_32bit_launch(problem_32bit(2, 3, 129, 64).shape, tile),
            (Launch{.grid = {2, 3, 2}, .threads = 128, .shared_bytes = 69632}));
  EXPECT_EQ(forward_32bit_launch(problem_32bit(2, 3, 128, 64).shape, tile).grid, (Grid{1, 3, 2}));
}

TEST(Forward32Bit, LaunchOfAGroupedForward) {
  // 2 tiles of 32 rows, or 1 of 64; 8 warps; (2 * 32 + 2 * 64) or (2 * 64 + 2 * 2 * 64) rows of 528 bytes
  const AttentionShape shape = problem_32bit(2, 3, 33, 128).shape;
  EXPECT_EQ(forward_32bit_launch(shape, FwdFp32WarpSplit<true, 32>::tile(128)),
            (Launch{.grid = {2, 3, 2}, .threads = 256, .shared_bytes = 101376}));
  EXPECT_EQ(forward_32bit_launch(shape, FwdFp32WarpSplit<true, 64>::tile(128)),
            (Launch{.grid = {1, 3, 2}, .threads = 256, .shared_bytes = 202752}));
  // TF32: 3 tiles of 16 rows, 4 warps, (16 + 2 * 2 * 64) rows; or (64 + 2 * 128)
  EXPECT_EQ(forward_32bit_launch(shape, FwdFp32WarpSplit<false, 16>::tile(128)),
            (Launch{.grid = {3, 3, 2}, .threads = 128, .shared_bytes = 143616}));
  EXPECT_EQ(forward_32bit_launch(shape, FwdFp32WarpSplit<false, 64>::tile(128)),
            (Launch{.grid = {1, 3, 2}, .threads = 256, .shared_bytes = 168960}));
}

}  // namespace
}  // namespace tbench::kernels::sm80
