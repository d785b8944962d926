#include "kernels/attention/sm90/bwd_persistent/per_head_config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/plan_problem.hpp"

namespace tbench::kernels::sm90 {
namespace {

/// A problem with `heads` heads in one batch.
AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  AttentionProblem one = problem_of(Precision::kBf16, seq, head_dim, heads, causal);
  one.shape.batch = 1;
  return one;
}

std::optional<int> shares(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true,
                          bool deterministic = false) {
  AttentionProblem one = problem(seq, head_dim, heads, causal);
  one.deterministic = deterministic;
  return head_shares(one, kH200.multiprocessors);
}
constexpr bool kCausal = true, kFull = false, kDeterministic = true;

/// Range of heads with one CTA per head: from `first` up to the number of SMs.
struct Taken {
  std::int64_t seq, head_dim;
  bool causal, deterministic;
  int first;  // 0: none
};

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

TEST(HeadShares, AreOneWhereABlockAHeadWasMeasuredToBeFaster) {
  for (const auto& [seq, head_dim, causal, deterministic, first] : {
           Taken{65, 64, kCausal, false, 44},
           {128, 80, kCausal, false, 44},
           {128, 64, kFull, false, 44},
           {129, 64, kCausal, false, 80},
           {256, 64, kFull, false, 80},
           {129, 80, kCausal, false, 44},
           {256, 80, kCausal, false, 44},
           {256, 80, kFull, false, 80},
           {257, 64, kCausal, false, 99},
           {384, 64, kFull, false, 99},
           {257, 80, kCausal, false, 80},
           {384, 80, kFull, false, 88},
           {385, 64, kCausal, false, 99},
           {512, 64, kFull, false, 99},
           {385, 80, kCausal, false, 88},
           {512, 80, kCausal, kDeterministic, 88},
           {512, 80, kFull, kDeterministic, 99},
           {513, 64, kFull, false, 0},
           {513, 80, kFull, false, 0},
           {640, 80, kCausal, false, 88},
           {641, 80, kCausal, false, 99},
           {768, 64, kCausal, false, 99},
           {769, 64, kCausal, false, 0},
           {769, 80, kCausal, false, 0},
           {513, 80, kCausal, kDeterministic, 80},
           {1024, 64, kCausal, kDeterministic, 80},
           {1024, 64, kFull, kDeterministic, 0},
           {64, 80, kCausal, false, 0},
           {1025, 64, kCausal, kDeterministic, 0},
           {512, 128, kCausal, kDeterministic, 0},
           {512, 256, kCausal, false, 0},
       }) {
    SCOPED_TRACE(testing::Message() << seq << " x " << head_dim << (causal ? ", causal" : "")
                                    << (deterministic ? ", deterministic" : ""));
    for (int heads = 1; heads <= 140; ++heads) {
      EXPECT_EQ(shares(seq, head_dim, heads, causal, deterministic) == 1, first > 0 && heads >= first && heads <= 132)
          << heads;
    }
  }
}

TEST(HeadShares, AreTwoWhereTheSameBitsAreWantedAndHeadsAreFew) {
  for (const std::int64_t seq : {513, 1024}) {
    EXPECT_EQ(shares(seq, 64, 43, kCausal, kDeterministic), std::nullopt) << seq;
    EXPECT_EQ(shares(seq, 64, 44, kCausal, kDeterministic), 2) << seq;
    EXPECT_EQ(shares(seq, 64, 66, kCausal, kDeterministic), 2) << seq;
    EXPECT_EQ(shares(seq, 64, 67, kCausal, kDeterministic), std::nullopt) << "more blocks than multiprocessors";
    EXPECT_EQ(shares(seq, 64, 64, kCausal), std::nullopt) << seq;
    EXPECT_EQ(shares(seq, 64, 64, kFull, kDeterministic), std::nullopt) << seq;
    EXPECT_EQ(shares(seq, 80, 64, kCausal, kDeterministic), std::nullopt) << seq;
  }
  EXPECT_EQ(shares(512, 64, 64, kCausal, kDeterministic), std::nullopt) << "sums apart";
}

TEST(HeadShares, AreOfAsManyTilesOfQueriesAsOfKeys) {
  AttentionProblem one = problem(256, 64, 100, kFull);
  one.shape.seq_q = 200;
  EXPECT_EQ(head_shares(one, kH200.multiprocessors), 1);
  for (const std::int64_t seq_q : {64, 128, 257}) {
    one.shape.seq_q = seq_q;
    EXPECT_EQ(head_shares(one, kH200.multiprocessors), std::nullopt) << seq_q;
  }
}

TEST(BeatsKinds, WithAMaskAndMoreThanHalfOfTheLastStep) {
  for (const auto& [seq, beats] :
       {std::pair{128, false}, {129, false}, {192, false}, {193, true}, {256, true}, {320, false}, {321, true}}) {
    EXPECT_EQ(beats_kinds(problem(seq, 64, 100).shape), beats) << seq;
    EXPECT_FALSE(beats_kinds(problem(seq, 64, 100, kFull).shape)) << seq;
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
  const BwdWorkspace whole = backward_workspace(two, DqAccumulation::kPerHead);
  EXPECT_EQ(whole.sums_bytes, 48u * 256 * 64 * 4);
  EXPECT_EQ(backward_workspace(two, DqAccumulation::kPerHead, /*shares=*/2).sums_bytes, 2 * whole.sums_bytes);
  EXPECT_EQ(backward_workspace(one, DqAccumulation::kPerHead).sums_bytes, 0u);
  EXPECT_EQ(backward_workspace(one, DqAccumulation::kPerHead).bytes(), 2u * 48 * 128 * 4);
  EXPECT_GT(backward_workspace(one, DqAccumulation::kAtomic).sums_bytes, 0u);
}

TEST(ChooseBackward, GoesByHeadsWhereThatIsFaster) {
  constexpr BwdPlan kWhole{BwdSchedule::kPersistent, DqAccumulation::kPerHead};
  EXPECT_EQ(choose_backward(problem(100, 80, 48), kH200), kWhole) << "where Ampere's kernels were taken before";
  EXPECT_EQ(choose_backward(problem(512, 80, 100), kH200), kWhole);
  EXPECT_EQ(choose_backward(problem(256, 64, 100, false), kH200), kWhole) << "where items of two kinds are slower";
  EXPECT_EQ(choose_backward(problem(256, 64, 80), kH200), kWhole);
  EXPECT_EQ(choose_backward(problem(256, 64, 79), kH200)->sums, DqAccumulation::kNone);
  EXPECT_EQ(choose_backward(problem(320, 64, 100), kH200)->sums, DqAccumulation::kNone);
  AttentionProblem same_bits = problem(1024, 64, 64);
  same_bits.deterministic = true;
  EXPECT_EQ(choose_backward(same_bits, kH200),
            (BwdPlan{BwdSchedule::kPersistent, DqAccumulation::kPerHead, /*shares=*/2}));
  EXPECT_EQ(backward_workspace_bytes(same_bits, kH200),
            backward_workspace(same_bits.shape, DqAccumulation::kPerHead, 2).bytes());
  AttentionProblem tf32 = problem(512, 64, 100);
  tf32.precision = Precision::kTf32;
  EXPECT_FALSE(choose_backward(tf32, kH200));
}

}  // namespace
}  // namespace tbench::kernels::sm90
