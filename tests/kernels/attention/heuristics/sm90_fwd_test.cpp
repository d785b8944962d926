// Tests the selection of the sm90 forward kernels: which problems they serve, with which tiles, and in which order.
#include "kernels/attention/heuristics/sm90_fwd.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "support/plan_problem.hpp"
#include "support/selections.hpp"

namespace tbench::kernels::sm90 {
namespace {

AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  return problem_of(Precision::kBf16, seq, head_dim, heads, causal);
}

TEST(ChooseForward, TakesHopperAndNoOtherGpu) {
  EXPECT_TRUE(choose_forward(problem(1024, 64, 12), kH200));
  for (const auto& [major, minor] : {std::pair{8, 0}, {8, 9}, {9, 1}, {10, 0}, {12, 0}}) {
    DeviceLimits other = kH200;
    other.compute_capability_major = major;
    other.compute_capability_minor = minor;
    EXPECT_FALSE(choose_forward(problem(1024, 64, 12), other)) << major << "." << minor;
  }
}

TEST(ChooseForward, TakesWhatHasAnInstance) {
  for (const std::int64_t head_dim : {16, 48, 96, 512}) {
    EXPECT_FALSE(choose_forward(problem(1024, head_dim, 12), kH200)) << head_dim;
  }
  for (const std::int64_t head_dim : {32, 64, 80, 128, 256}) {
    EXPECT_TRUE(choose_forward(problem(1024, head_dim, 12), kH200)) << head_dim;
  }
  for (const Precision precision : kAllOf<Precision>) {
    AttentionProblem one = problem(1024, 128, 12);
    one.precision = precision;
    EXPECT_EQ(choose_forward(one, kH200).has_value(), precision == Precision::kBf16 || precision == Precision::kFp16);
  }
}

TEST(ChooseForward, LeavesShortSequencesAndFewTilesToAmperesKernels) {
  EXPECT_FALSE(choose_forward(problem(64, 128, 100), kH200));
  EXPECT_FALSE(choose_forward(problem(128, 128, 16), kH200));  // 4 * 16 * 2 = 128 tiles of 64 queries
  EXPECT_TRUE(choose_forward(problem(128, 128, 17), kH200));   // 136
  AttentionProblem one = problem(512, 128, 2);
  EXPECT_TRUE(choose_forward(one, kH200));  // 4 * 2 * 8 = 64 tiles, at least 3 / 8 of 132
  one.shape.batch = 1;
  EXPECT_FALSE(choose_forward(one, kH200));
  EXPECT_FALSE(choose_forward(problem(1088, 64, 1), kH200));  // 68 tiles; other kernels divide their keys among CTAs
}

TEST(ChooseForward, Of64ColumnsLeavesFewerTilesToAmperesKernels) {
  EXPECT_FALSE(choose_forward(problem(64, 64, 100), kH200));
  EXPECT_FALSE(choose_forward(problem(128, 64, 10), kH200));  // 80 tiles of 64 queries
  EXPECT_TRUE(choose_forward(problem(128, 64, 11), kH200));   // 88, 2 / 3 of 132
  EXPECT_FALSE(choose_forward(problem(256, 64, 5), kH200));   // 80
  EXPECT_FALSE(choose_forward(problem(512, 64, 1), kH200));   // 32
  EXPECT_TRUE(choose_forward(problem(512, 64, 2), kH200));    // 64, at least 3 / 8 of 132
  EXPECT_TRUE(choose_forward(problem(1024, 64, 1), kH200));   // 64
  // Beyond 1,024 keys per query the limit is 3 / 4, if the sm80 kernels do not split the keys: 4 * 24 = 96 and 4 * 25 =
  // 100.
  EXPECT_FALSE(choose_forward(problem(1536, 64, 1, false), kH200));
  EXPECT_TRUE(choose_forward(problem(1600, 64, 1, false), kH200));
}

TEST(ChooseForward, TakesOf32ColumnsWhatItTakesOf64) {
  // Batch 8, one head: 8 * 8 = 64 tiles of 64 queries at 512 tokens, 128 at 1,024, 256 at 2,048
  for (const auto& [seq, taken] : {std::pair{256, false}, {512, false}, {1024, true}, {2048, true}, {16384, true}}) {
    for (const bool causal : {true, false}) {
      AttentionProblem one = problem(seq, 32, 1, causal);
      one.shape.batch = 8;
      EXPECT_EQ(choose_forward(one, kH200).has_value(), taken) << seq;
    }
  }
  // For one causal sequence of one head, the sm80 kernels split the keys of up to 132 tiles.
  for (const auto& [seq, taken] : {std::pair{4096, false}, {8192, false}, {16384, true}}) {
    AttentionProblem one = problem(seq, 32, 1);
    one.shape.batch = 1;
    EXPECT_EQ(choose_forward(one, kH200).has_value(), taken) << seq;
  }
}

TEST(ChooseForward, TakesEvery256ColumnsFrom64TokensOn) {
  AttentionProblem one = problem(64, 256, 1);
  one.shape.batch = 1;
  for (const std::int64_t seq : {64, 128, 512, 4096, 16384}) {
    for (const bool causal : {true, false}) {
      one.shape.seq_q = one.shape.seq_kv = seq;
      one.shape.causal = causal;
      EXPECT_TRUE(choose_forward(one, kH200)) << seq;
    }
  }
  one.shape.seq_q = 63;
  EXPECT_FALSE(choose_forward(one, kH200));
  EXPECT_FALSE(choose_forward(problem(63, 256, 100), kH200));
}

FwdConfigId tiles_of_64_columns(std::int64_t batch, std::int64_t heads, std::int64_t seq, bool causal) {
  AttentionProblem one = problem(seq, 64, heads, causal);
  one.shape.batch = batch;
  return choose_forward(one, kH200)->tiles;
}

TEST(ChooseForward, PairTilesWhereTeamsHaveAnItemAtMost) {
  EXPECT_EQ(tiles_of_64_columns(4, 16, 128, true), FwdConfigId::kM64N128x2);  // 128 work tiles of 64 queries
  EXPECT_EQ(tiles_of_64_columns(4, 17, 128, true), FwdConfigId::kM128N64x2);  // 136
  EXPECT_EQ(tiles_of_64_columns(4, 17, 128, false), FwdConfigId::kM128N128);
  EXPECT_EQ(tiles_of_64_columns(4, 13, 320, true), FwdConfigId::kM64N128x2);   // 260
  EXPECT_EQ(tiles_of_64_columns(4, 14, 320, true), FwdConfigId::kM128N64x2);   // 280
  EXPECT_EQ(tiles_of_64_columns(8, 1, 2112, true), FwdConfigId::kM64N128x2);   // 264
  EXPECT_EQ(tiles_of_64_columns(8, 1, 2113, true), FwdConfigId::kM128N64x2);   // 272
  EXPECT_EQ(tiles_of_64_columns(1, 4, 4224, true), FwdConfigId::kM64N128x2);   // 264
  EXPECT_EQ(tiles_of_64_columns(1, 4, 4300, true), FwdConfigId::kM128N128);    // 272
  EXPECT_EQ(tiles_of_64_columns(4, 1, 2112, false), FwdConfigId::kM64N128x2);  // 132
  EXPECT_EQ(choose_forward(problem(256, 128, 20), kH200)->tiles, FwdConfigId::kM128N128);
}

TEST(ChooseForward, ShortTilesOfUpToSomeThousandTokens) {
  EXPECT_EQ(tiles_of_64_columns(4, 12, 4095, true), FwdConfigId::kM128N64x2);
  EXPECT_EQ(tiles_of_64_columns(4, 12, 4096, true), FwdConfigId::kM128N64x2);
  EXPECT_EQ(tiles_of_64_columns(4, 12, 4097, true), FwdConfigId::kM192N128);
  EXPECT_EQ(tiles_of_64_columns(4, 12, 4095, false), FwdConfigId::kM128N64x2);
  EXPECT_EQ(tiles_of_64_columns(4, 12, 4096, false), FwdConfigId::kM192N128);
  EXPECT_EQ(tiles_of_64_columns(1, 12, 4096, true), FwdConfigId::kM128N128);  // 12 * 22 = 264 work tiles of 192 queries
  EXPECT_EQ(tiles_of_64_columns(1, 12, 4096, false), FwdConfigId::kM128N128);  // 384 work tiles of 128 queries
  EXPECT_EQ(tiles_of_64_columns(1, 8, 4096, false), FwdConfigId::kM128N64x2);  // 256
  EXPECT_EQ(tiles_of_64_columns(1, 4, 8192, false), FwdConfigId::kM128N128);   // also 256, but longer than was measured
  // Up to 3 * 132 work tiles of 192 queries with a mask, 9 * 43 = 387, and 6 * 132 without one, 36 * 22 = 792
  EXPECT_EQ(tiles_of_64_columns(1, 9, 8192, true), FwdConfigId::kM128N64x2);
  EXPECT_EQ(tiles_of_64_columns(1, 10, 8192, true), FwdConfigId::kM192N128);
  EXPECT_EQ(tiles_of_64_columns(1, 9, 8193, true), FwdConfigId::kM192N128);
  EXPECT_EQ(tiles_of_64_columns(1, 36, 4096, false), FwdConfigId::kM128N64x2);
  EXPECT_EQ(tiles_of_64_columns(1, 37, 4096, false), FwdConfigId::kM192N128);
  EXPECT_EQ(tiles_of_64_columns(1, 8, 16385, false), FwdConfigId::kM192N128);
}

TEST(ChooseForward, WideTilesOf80ColumnsForManyKeysAndItems) {
  const auto choice = [](std::int64_t batch, std::int64_t heads, std::int64_t seq, bool causal) {
    AttentionProblem one = problem(seq, 80, heads, causal);
    one.shape.batch = batch;
    return *choose_forward(one, kH200);
  };
  EXPECT_EQ(choice(4, 32, 511, true).tiles, FwdConfigId::kM128N128);
  for (const std::int64_t seq : {512, 1024, 2048, 4096}) {
    EXPECT_EQ(choice(4, 32, seq, true).tiles, FwdConfigId::kM192N64);
    EXPECT_EQ(choice(4, 32, seq, false).tiles, FwdConfigId::kM192N64);
  }
  EXPECT_EQ(choice(4, 22, 512, true).tiles, FwdConfigId::kM128N128);  // 88 * 3 = 264, two per SM
  EXPECT_EQ(choice(4, 23, 512, true).tiles, FwdConfigId::kM192N64);
  EXPECT_EQ(choice(1, 12, 4096, true).tiles, FwdConfigId::kM128N128);  // 12 * 22 = 264, two per SM
  EXPECT_EQ(choice(1, 13, 4096, true).tiles, FwdConfigId::kM192N64);
  EXPECT_FALSE(choice(1, 13, 4096, true).counted);  // 286 work tiles
  EXPECT_FALSE(choice(4, 32, 512, true).counted);   // 528: four in each of 132 heads
  EXPECT_FALSE(choice(4, 33, 768, true).counted);   // 528 heads with four tiles each
  EXPECT_TRUE(choice(4, 32, 1024, true).counted);   // 768, more than four and a half per SM
  EXPECT_TRUE(choice(4, 32, 2048, true).counted);
  EXPECT_FALSE(choice(4, 32, 2048, false).counted);
}

TEST(ChooseForward, WideTilesOf128ColumnsWithoutAMaskWhereRoundsAreAsFull) {
  const auto is_wide = [](std::int64_t batch, std::int64_t heads, std::int64_t seq, bool causal = false) {
    AttentionProblem one = problem(seq, 128, heads, causal);
    one.shape.batch = batch;
    return choose_forward(one, kH200)->tiles == FwdConfigId::kM192N64Wide;
  };
  EXPECT_TRUE(is_wide(2, 24, 1500));   // 384 tiles of 192 rows in three rounds, 576 of 128 rows in five
  EXPECT_FALSE(is_wide(2, 24, 1000));  // 288 in three rounds, 384 in three
  EXPECT_TRUE(is_wide(2, 24, 2000));   // 528 in four rounds, 768 in six: the same rows
  EXPECT_FALSE(is_wide(2, 24, 2300));  // 576 in five rounds, 864 in seven: 1.07 times the rows
  EXPECT_TRUE(is_wide(4, 20, 2000));   // 880 in seven rounds, 1,280 in ten: exactly 1.05 times
  EXPECT_FALSE(is_wide(2, 24, 1500, /*causal=*/true));
}

TEST(ChooseForward, TallTilesWhereTheyFillTheGpu) {
  const auto is_tall = [](std::int64_t batch, std::int64_t heads, std::int64_t seq, bool causal) {
    AttentionProblem one = problem(seq, 32, heads, causal);
    one.shape.batch = batch;
    return choose_forward(one, kH200)->tiles == FwdConfigId::kM256N64;
  };
  // The limit is 0.9 * 132 = 118.8 work tiles without a mask, and 1.5 * 132 = 198 with one.
  EXPECT_TRUE(is_tall(8, 1, 4096, false));  // 8 * 16 = 128
  EXPECT_FALSE(is_tall(8, 1, 4096, true));
  EXPECT_TRUE(is_tall(8, 1, 8192, true));    // 256
  EXPECT_FALSE(is_tall(8, 1, 2048, false));  // 64
  EXPECT_FALSE(is_tall(1, 59, 512, false));  // 59 * 2 = 118
  EXPECT_TRUE(is_tall(1, 60, 512, false));   // 120
  EXPECT_FALSE(is_tall(1, 98, 512, true));   // 196
  EXPECT_TRUE(is_tall(1, 99, 512, true));    // 198
  EXPECT_TRUE(is_tall(1, 99, 257, true));
  EXPECT_TRUE(is_tall(4, 100, 129, false));  // 400 work tiles, or 800 of FwdM128N128
  EXPECT_FALSE(is_tall(4, 100, 128, false)) << "400 of either, and narrow ones are shorter";
}

TEST(ChooseForward, ACounterForManyItemsOfUnequalWork) {
  // head_dim 128: more than 4.5 * 132 = 594 work tiles. 4 * 18 * 8 = 576, 4 * 19 * 8 = 608
  EXPECT_FALSE(choose_forward(problem(1024, 128, 18), kH200)->counted);
  EXPECT_TRUE(choose_forward(problem(1024, 128, 19), kH200)->counted);
  EXPECT_FALSE(choose_forward(problem(1024, 128, 19, false), kH200)->counted);
  // At head_dim 64, more than 7 * 132 = 924 work tiles, here of 192 queries: 4 * 5 * 43 = 860, 4 * 6 * 43 = 1,032.
  EXPECT_FALSE(choose_forward(problem(8192, 64, 5), kH200)->counted);
  EXPECT_TRUE(choose_forward(problem(8192, 64, 6), kH200)->counted);
  EXPECT_EQ(forward_workspace_bytes(problem(8192, 64, 5), kH200), 0u);
  EXPECT_EQ(forward_workspace_bytes(problem(8192, 64, 6), kH200), 256u);
  EXPECT_FALSE(choose_forward(problem(4096, 64, 25), kH200)->counted) << "short tiles";
  // head_dim 32: the same limit, with 256 queries per tile: 4 * 14 * 16 = 896, 4 * 15 * 16 = 960
  EXPECT_FALSE(choose_forward(problem(4096, 32, 14), kH200)->counted);
  EXPECT_TRUE(choose_forward(problem(4096, 32, 15), kH200)->counted);
  for (const std::int64_t seq : {1024, 16384}) {
    EXPECT_FALSE(choose_forward(problem(seq, 256, 25), kH200)->counted);
    EXPECT_TRUE(choose_forward(problem(seq, 256, 25), kH200)->in_turns);
    EXPECT_TRUE(choose_forward(problem(seq, 256, 25), kH200)->overlaps);
    EXPECT_EQ(forward_workspace_bytes(problem(seq, 256, 25), kH200), 0u);
  }
}

TEST(ChooseForward, GroupsInTurnsOfItemsOfUnequalWork) {
  EXPECT_TRUE(choose_forward(problem(1024, 128, 18), kH200)->in_turns);
  EXPECT_TRUE(choose_forward(problem(4096, 128, 18), kH200)->in_turns);
  EXPECT_FALSE(choose_forward(problem(4097, 128, 18), kH200)->in_turns) << "they come from a counter";
  EXPECT_FALSE(choose_forward(problem(1024, 128, 18, false), kH200)->in_turns);
}

TEST(ChooseForward, OverlapsTheKernelBeforeWhereNoCounterIsCleared) {
  EXPECT_TRUE(choose_forward(problem(1024, 128, 18), kH200)->overlaps);
  EXPECT_FALSE(choose_forward(problem(1024, 128, 19), kH200)->overlaps);
}

}  // namespace
}  // namespace tbench::kernels::sm90
