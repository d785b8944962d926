#include "kernels/attention/sm90/bwd_persistent/per_head_config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/plan_problem.hpp"

namespace tbench::kernels::sm90 {
namespace {

/// Returns a problem with `heads` heads in one batch.
AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  AttentionProblem one = problem_of(Precision::kBf16, seq, head_dim, heads, causal);
  one.shape.batch = 1;
  return one;
}

TEST(TileOfShare, GoesThereAndBack) {
  // With four tiles one CTA has the first and the last; with five the last one goes to the first CTA.
  EXPECT_EQ(tiles_of_share(4, 0, 2), 2);
  EXPECT_EQ(tile_of_share(0, 0, 2), 0);
  EXPECT_EQ(tile_of_share(1, 0, 2), 3);
  EXPECT_EQ(tile_of_share(0, 1, 2), 1);
  EXPECT_EQ(tile_of_share(1, 1, 2), 2);
  EXPECT_EQ(tiles_of_share(5, 0, 2), 3);
  EXPECT_EQ(tiles_of_share(5, 1, 2), 2);
}

TEST(TileOfShare, GivesEveryTileToOneShareInAscendingOrder) {
  for (int tiles = 1; tiles <= kMaxHeadRows / kBackwardKeys; ++tiles) {
    for (int shares = 1; shares <= std::min(tiles, kMaxHeadShares); ++shares) {
      std::vector<int> given;
      for (int share = 0; share < shares; ++share) {
        ASSERT_GE(tiles_of_share(tiles, share, shares), 1);
        EXPECT_EQ(tile_of_share(0, share, shares), share) << "the kernel after reads shares up to a query's tile";
        for (int nth = 0; nth < tiles_of_share(tiles, share, shares); ++nth) {
          given.push_back(tile_of_share(nth, share, shares));
          EXPECT_TRUE(nth == 0 || given.back() > given[given.size() - 2]);
        }
      }
      std::sort(given.begin(), given.end());
      ASSERT_EQ(given.size(), static_cast<std::size_t>(tiles));
      for (int tile = 0; tile < tiles; ++tile) EXPECT_EQ(given[static_cast<std::size_t>(tile)], tile);
    }
  }
}

TEST(HeadsLaunch, HasABlockAShare) {
  const AttentionShape shape = problem(512, 64, 64).shape;
  EXPECT_EQ(backward_heads_launch(shape, 1, kH200).grid, (Grid{64, 1, 1}));
  EXPECT_EQ(backward_heads_launch(shape, 2, kH200).grid, (Grid{128, 1, 1}));
  EXPECT_EQ(backward_heads_launch(problem(512, 64, 100).shape, 2, kH200).grid, (Grid{132, 1, 1}));
  for (const std::int64_t head_dim : {64, 80}) {
    const Launch launch = backward_heads_launch(problem(512, head_dim, 64).shape, 1, kH200);
    EXPECT_EQ(launch.threads, 384);
    EXPECT_LE(launch.shared_bytes, kH200.shared_bytes_per_block);
  }
}

TEST(BackwardWorkspace, HasSumsOfEveryShareButNoneOfASingleTile) {
  const AttentionShape two = problem(200, 64, 48).shape, one = problem(128, 64, 48).shape;
  const BwdWorkspace whole = backward_workspace(two, {.sums = DqAccumulation::kPerHead});
  EXPECT_EQ(whole.sums_bytes, 48u * 256 * 64 * 4);
  EXPECT_EQ(backward_workspace(two, {.sums = DqAccumulation::kPerHead, .shares = 2}).sums_bytes, 2 * whole.sums_bytes);
  EXPECT_EQ(backward_workspace(one, {.sums = DqAccumulation::kPerHead}).sums_bytes, 0u);
  EXPECT_EQ(backward_workspace(one, {.sums = DqAccumulation::kPerHead}).bytes(), 2u * 48 * 128 * 4);
  EXPECT_GT(backward_workspace(one, {.sums = DqAccumulation::kAtomic}).sums_bytes, 0u);
}

}  // namespace
}  // namespace tbench::kernels::sm90
