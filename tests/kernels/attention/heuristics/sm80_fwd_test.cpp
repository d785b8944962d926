#include "kernels/attention/heuristics/sm80_fwd.hpp"

#include <gtest/gtest.h>

#include "support/sm80_problems.hpp"

namespace tbench::kernels::sm80 {
namespace {

constexpr int kHeadDims32Bit[]{16, 32, 64, 80, 96, 128};

FwdConfigId tiles_of(const AttentionShape& shape, const DeviceLimits& limits = kH200) {
  return plan_forward({.shape = shape, .precision = Precision::kBf16}, limits).tiles;
}
bool wants_long_forward_tile(const AttentionShape& shape) { return tiles_of(shape) == FwdConfigId::kM128N64; }

/// Returns the queries per CTA if warps are split; 0 if they are not.
int rows_of_split_warps(FwdConfigId tiles) {
  switch (tiles) {
    case FwdConfigId::kWarpSplitM16:
      return 16;
    case FwdConfigId::kWarpSplitM32:
      return 32;
    case FwdConfigId::kWarpSplitM64:
      return 64;
    default:
      return 0;
  }
}
int split_warps_forward_rows(const AttentionShape& shape, const DeviceLimits& limits) {
  return rows_of_split_warps(tiles_of(shape, limits));
}
int split_warps_forward_32bit_rows(const AttentionProblem& problem, const DeviceLimits& limits) {
  return rows_of_split_warps(plan_forward(problem, limits).tiles);
}
bool wants_long_forward_32bit_tile(const AttentionProblem& problem, const DeviceLimits& limits) {
  return plan_forward(problem, limits).tiles == FwdConfigId::kM128N64;
}

TEST(WantsLongForwardTile, WithACausalMaskOnlyWhereTheyFillTheGpuTwice) {
  // 4 * 12 * ceil(seq / 128) tiles, compared with 2 * 132.
  EXPECT_FALSE(wants_long_forward_tile(problem_16bit(640, 80).shape));  // 240
  EXPECT_TRUE(wants_long_forward_tile(problem_16bit(768, 80).shape));   // 288
}

TEST(WantsLongForwardTile, WithoutAMaskWhereShortTilesDoNotRunAllAtOnce) {
  // 4 * 12 * ceil(seq / 64) short tiles, compared with 3 * 132, or with 2 * 132 above head_dim 80.
  const auto wants = [](std::int64_t seq, std::int64_t head_dim) {
    AttentionShape shape = problem_16bit(seq, head_dim).shape;
    shape.causal = false;
    return wants_long_forward_tile(shape);
  };
  EXPECT_FALSE(wants(512, 80));  // 384
  EXPECT_TRUE(wants(576, 80));   // 432
  EXPECT_FALSE(wants(320, 96));  // 240
  EXPECT_TRUE(wants(384, 96));   // 288
}

TEST(WantsLongForwardTile, NotForACausalMaskOverFewKeys) {
  AttentionShape shape = problem_16bit(1024, 64).shape;  // 4 * 12 * 8 = 384 tiles
  EXPECT_FALSE(wants_long_forward_tile(shape));
  shape.causal = false;
  EXPECT_TRUE(wants_long_forward_tile(shape));
}

TEST(SplitWarpsForwardRows, FollowTheNumberOfShortTiles) {
  // batch * ceil(seq / 64) tiles, compared with 132 / 8, 132 / 2 and 132.
  EXPECT_EQ(split_warps_forward_rows(square(2, 512, 64), kH200), 16);   // 16
  EXPECT_EQ(split_warps_forward_rows(square(2, 576, 64), kH200), 32);   // 18
  EXPECT_EQ(split_warps_forward_rows(square(6, 704, 64), kH200), 32);   // 66
  EXPECT_EQ(split_warps_forward_rows(square(6, 768, 64), kH200), 64);   // 72
  EXPECT_EQ(split_warps_forward_rows(square(12, 704, 64), kH200), 64);  // 132
  EXPECT_EQ(split_warps_forward_rows(square(12, 768, 64), kH200), 0);   // 144
}

TEST(SplitWarpsForwardRows, AreNoneWhereKeysAreTooFewToBeDivided) {
  EXPECT_EQ(split_warps_forward_rows(square(8, 64, 64), kH200), 0);
  EXPECT_EQ(split_warps_forward_rows(square(8, 65, 64), kH200), 16);
  EXPECT_EQ(split_warps_forward_rows(square(24, 128, 64), kH200), 0);
  EXPECT_EQ(split_warps_forward_rows(square(16, 129, 64), kH200), 32);
  EXPECT_EQ(split_warps_forward_rows(square(16, 512, 64), kH200), 0);
  EXPECT_EQ(split_warps_forward_rows(square(14, 513, 64), kH200), 64);
}

TEST(SplitWarpsForwardRows, AreNoneWhereSuchABlockDoesNotFit) {
  // (32 + 4 * 256) * 144 bytes
  EXPECT_EQ(split_warps_forward_rows(square(4, 512, 64), kA100), 32);
  EXPECT_EQ(split_warps_forward_rows(square(4, 512, 64), kSmall), 0);
  EXPECT_EQ(split_warps_forward_rows(square(8, 512, 256), kH200), 0);
}

TEST(PlanForward16Bit, TakesSplitKeysFirstThenSplitWarpsThenTheLongerTilesThatPay) {
  const auto tiles = [](const AttentionShape& shape) {
    return plan_forward({.shape = shape, .precision = Precision::kBf16}, kH200).tiles;
  };
  EXPECT_EQ(tiles(square(1, 4096, 64)), FwdConfigId::kSplitKv);
  EXPECT_EQ(tiles(square(2, 512, 64)), FwdConfigId::kWarpSplitM16);
  EXPECT_EQ(tiles(square(2, 576, 64)), FwdConfigId::kWarpSplitM32);
  EXPECT_EQ(tiles(square(6, 768, 64)), FwdConfigId::kWarpSplitM64);
  EXPECT_EQ(tiles(square(12, 768, 64)), FwdConfigId::kM64N64);
  EXPECT_EQ(tiles(square(48, 576, 80)), FwdConfigId::kM128N64);
}

TEST(Forward32BitRules, LongTilesOnlyForTf32AndWhereTheyFillTheGpu) {
  // Without a mask, more than 2 * 132 short tiles of 64 rows are needed. At head_dim 32, three CTAs fit an SM.
  EXPECT_TRUE(wants_long_forward_32bit_tile(problem_32bit(1, 133, 128, 64), kH200));
  EXPECT_FALSE(wants_long_forward_32bit_tile(problem_32bit(1, 132, 128, 64), kH200));
  EXPECT_FALSE(wants_long_forward_32bit_tile(problem_32bit(1, 198, 128, 32), kH200));
  EXPECT_TRUE(wants_long_forward_32bit_tile(problem_32bit(1, 199, 128, 32), kH200));
  EXPECT_FALSE(wants_long_forward_32bit_tile(problem_32bit(1, 264, 128, 64, Precision::kFp32), kH200));
  // With a mask, 2 * 132 tiles of 128 rows are needed.
  EXPECT_TRUE(wants_long_forward_32bit_tile(causal(problem_32bit(1, 264, 128, 64)), kH200));
  EXPECT_FALSE(wants_long_forward_32bit_tile(causal(problem_32bit(1, 263, 128, 64)), kH200));
  // (128 + 4 * 64) rows of 272 bytes are 104448 bytes, more than a CTA may have on this GPU. With rows of 144 bytes
  // they are 55296.
  EXPECT_FALSE(wants_long_forward_32bit_tile(problem_32bit(1, 264, 128, 64), kSmall));
  EXPECT_TRUE(wants_long_forward_32bit_tile(problem_32bit(1, 264, 128, 32), kSmall));
}

TEST(Forward32BitRules, GroupsDivideTheKeysOfSmallGrids) {
  // The rules compare the number of tiles of 64 rows with 132: 32 rows up to half of it, 64 rows below all of it. With
  // a causal mask the limits are doubled.
  const auto exact = [](std::int64_t batch) { return problem_32bit(batch, 1, 64, 64, Precision::kFp32); };
  EXPECT_EQ(split_warps_forward_32bit_rows(exact(66), kH200), 32);
  EXPECT_EQ(split_warps_forward_32bit_rows(exact(67), kH200), 64);
  EXPECT_EQ(split_warps_forward_32bit_rows(exact(131), kH200), 64);
  EXPECT_EQ(split_warps_forward_32bit_rows(exact(132), kH200), 0);
  EXPECT_EQ(split_warps_forward_32bit_rows(causal(exact(132)), kH200), 32);
  EXPECT_EQ(split_warps_forward_32bit_rows(causal(exact(133)), kH200), 64);
  EXPECT_EQ(split_warps_forward_32bit_rows(causal(exact(263)), kH200), 64);
  EXPECT_EQ(split_warps_forward_32bit_rows(causal(exact(264)), kH200), 0);
  // TF32 has 16 rows up to an eighth of 132, 32 up to half, and 64 up to all, with any mask.
  for (const bool is_causal : {false, true}) {
    const auto tf32 = [is_causal](std::int64_t batch) {
      return is_causal ? causal(problem_32bit(batch, 1, 64, 64)) : problem_32bit(batch, 1, 64, 64);
    };
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(16), kH200), 16);
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(17), kH200), 32);
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(66), kH200), 32);
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(67), kH200), 64);
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(132), kH200), 64);
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(133), kH200), 0);
  }
  for (const int head_dim : kHeadDims32Bit) {
    for (const std::int64_t seq : {1, 64, 256, 1024}) {
      for (const Precision precision : {Precision::kFp32, Precision::kTf32}) {
        EXPECT_GT(split_warps_forward_32bit_rows(problem_32bit(8, 1, seq, head_dim, precision), kH200), 0)
            << head_dim << ", " << seq;
      }
    }
  }
  // (2 * 32 + 2 * 2 * 64) rows of 80 * 4 + 16 bytes are 107520 bytes, more than a CTA may have on this GPU.
  EXPECT_EQ(split_warps_forward_32bit_rows(problem_32bit(1, 1, 64, 80, Precision::kFp32), kSmall), 0);
  EXPECT_EQ(split_warps_forward_32bit_rows(problem_32bit(1, 1, 64, 64, Precision::kFp32), kSmall), 32);
}

}  // namespace
}  // namespace tbench::kernels::sm80
