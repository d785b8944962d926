#include "kernels/attention/common/plan_16bit.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tbench::kernels::sm80 {
namespace {

constexpr int kMultiprocessors = 132;
constexpr std::size_t kHopperSharedBytes = 227 * 1024;
constexpr DeviceLimits kH200{
    .compute_capability_major = 9, .multiprocessors = kMultiprocessors, .shared_bytes_per_block = kHopperSharedBytes};
// Shared memory per CTA: 163 and 99 KiB (CUDA C++ Programming Guide, compute capabilities 8.0 and 8.6).
constexpr DeviceLimits kA100{
    .compute_capability_major = 8, .multiprocessors = 108, .shared_bytes_per_block = 163 * 1024};
constexpr DeviceLimits kSmall{
    .compute_capability_major = 8, .multiprocessors = 84, .shared_bytes_per_block = 99 * 1024};
constexpr int kHeadDims[]{16, 32, 64, 80, 96, 128, 256};

AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, bool deterministic = false) {
  return {.shape = {.batch = 4, .heads = 12, .seq_q = seq, .seq_kv = seq, .head_dim = head_dim, .causal = true},
          .precision = Precision::kBf16,
          .scale = 0.125f,
          .deterministic = deterministic};
}

TEST(ForwardLaunch, CoversEveryQuery) {
  // ceil(129 / 64) = 3 tiles of 64 queries, ceil(129 / 128) = 2 of 128.
  const AttentionShape shape = problem(129, 64).shape;
  EXPECT_EQ(forward_launch(shape, FwdM64N64::tile(64)).grid, (Grid{3, 12, 4}));
  EXPECT_EQ(forward_launch(shape, FwdM128N64::tile(64)).grid, (Grid{2, 12, 4}));
  EXPECT_EQ(forward_launch(shape, FwdM128N64::tile(64)).threads, 128);
}

TEST(ForwardLaunch, SharedBytesAreThoseOfThreeTiles) {
  // (128 queries + 2 * 64 keys and values) * (128 * 2 + 16) bytes
  EXPECT_EQ(forward_shared_bytes({.rows = 128, .cols = 64, .warps = 4, .blocks_per_multiprocessor = 2}, 128), 69632u);
}

TEST(WantsLongForwardTile, WithACausalMaskOnlyWhereTheyFillTheGpuTwice) {
  // 4 * 12 * ceil(seq / 128) tiles against 2 * 132
  EXPECT_FALSE(wants_long_forward_tile(problem(640, 80).shape, kMultiprocessors));  // 240
  EXPECT_TRUE(wants_long_forward_tile(problem(768, 80).shape, kMultiprocessors));   // 288
}

TEST(WantsLongForwardTile, WithoutAMaskWhereShortTilesDoNotRunAllAtOnce) {
  // 4 * 12 * ceil(seq / 64) short tiles against 3 * 132, or 2 * 132 above 80
  const auto wants = [](std::int64_t seq, std::int64_t head_dim) {
    AttentionShape shape = problem(seq, head_dim).shape;
    shape.causal = false;
    return wants_long_forward_tile(shape, kMultiprocessors);
  };
  EXPECT_FALSE(wants(512, 80));  // 384
  EXPECT_TRUE(wants(576, 80));   // 432
  EXPECT_FALSE(wants(320, 96));  // 240
  EXPECT_TRUE(wants(384, 96));   // 288
}

TEST(WantsLongForwardTile, NotForACausalMaskOverFewKeys) {
  AttentionShape shape = problem(1024, 64).shape;  // 4 * 12 * 8 = 384 tiles
  EXPECT_FALSE(wants_long_forward_tile(shape, kMultiprocessors));
  shape.causal = false;
  EXPECT_TRUE(wants_long_forward_tile(shape, kMultiprocessors));
}

AttentionShape square(std::int64_t batch, std::int64_t seq, std::int64_t head_dim) {
  return {.batch = batch, .heads = 1, .seq_q = seq, .seq_kv = seq, .head_dim = head_dim, .causal = false};
}

TEST(SplitWarpsForwardRows, FollowTheNumberOfShortTiles) {
  // batch * ceil(seq / 64) tiles against 132 / 8, 132 / 2 and 132
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

AttentionShape causal(AttentionShape shape) {
  shape.causal = true;
  return shape;
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
  EXPECT_EQ(forward_combine_launch(problem(129, 80).shape).grid, (Grid{21, 12, 4}));
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
    const BwdConfig split = BwdSplit::tile(head_dim);
    EXPECT_LE(static_cast<std::size_t>(split.blocks_per_multiprocessor) * backward_shared_bytes(split, head_dim, false),
              kHopperSharedBytes)
        << head_dim;
    const BwdConfig atomic = BwdAtomic::tile(head_dim);
    EXPECT_LE(
        static_cast<std::size_t>(atomic.blocks_per_multiprocessor) * backward_shared_bytes(atomic, head_dim, true),
        kHopperSharedBytes)
        << head_dim;
  }
}

TEST(BackwardSharedBytes, HoldTheProbabilitiesOfWarpsThatShareRows) {
  // 2 * 128 keys and 2 * 2 * 64 queries of 272 bytes, 2 * 128 rows of dS of 144 bytes, 4 * 64 floats, 128 * 64 elements
  // of P in 16 bits
  BwdConfig tile = BwdAtomic::tile(128);
  EXPECT_EQ(tile.sharing_warps, 2);
  EXPECT_EQ(backward_shared_bytes(tile, 128, true), 193536u);
  tile.sharing_warps = 1;
  EXPECT_EQ(backward_shared_bytes(tile, 128, true), 177152u);
}

TEST(BackwardMethod, ShortSequencesTakeOneLaunchLongOnesAtomicAdditions) {
  EXPECT_EQ(backward_method(problem(256, 64), kH200), BwdAlgorithm::kSplitFusedDelta);
  EXPECT_EQ(backward_method(problem(257, 64), kH200), BwdAlgorithm::kAtomicDq);
  EXPECT_EQ(backward_method(problem(513, 64, true), kH200), BwdAlgorithm::kSplit);
  EXPECT_EQ(backward_method(problem(513, 256), kH200), BwdAlgorithm::kAtomicDq);
}

TEST(BackwardMethod, FewBlocksOfKeysDoNotAddAtomically) {
  // ceil(1000 / 128) = 8 CTAs per head against 132 / 2
  AttentionProblem few = problem(1000, 64);
  few.shape.batch = 1;
  few.shape.heads = 8;
  EXPECT_EQ(backward_method(few, kH200), BwdAlgorithm::kSplit);
  EXPECT_EQ(plan_backward_16bit(few, kH200).workspace.bytes(), 32000u);  // delta alone
  few.shape.heads = 9;
  EXPECT_EQ(backward_method(few, kH200), BwdAlgorithm::kAtomicDq);
}

TEST(BackwardMethod, AtomicAdditionsNeedSharedMemoryForTheirScores) {
  EXPECT_EQ(backward_method(problem(513, 128), kH200), BwdAlgorithm::kAtomicDq);
  EXPECT_EQ(backward_method(problem(513, 128), kA100), BwdAlgorithm::kSplit);
  EXPECT_EQ(backward_method(problem(513, 96), kA100), BwdAlgorithm::kAtomicDq);
  EXPECT_EQ(plan_backward_16bit(problem(1000, 128), kA100).workspace.bytes(), 192000u);  // delta alone
}

TEST(Unsupported16Bit, NamesWhatDoesNotFit) {
  for (const int head_dim : kHeadDims) {
    EXPECT_EQ(unsupported_16bit_reason(problem(4096, head_dim), kA100), std::nullopt) << head_dim;
  }
  EXPECT_EQ(unsupported_16bit_reason(problem(4096, 96), kSmall), std::nullopt);
  EXPECT_EQ(unsupported_16bit_reason(problem(4096, 128), kSmall),
            "head_dim 128 in bf16 needs 105472 bytes of shared memory a block, the GPU has 101376");
}

TEST(Unsupported16Bit, RefusesMoreBlocksThanAreCounted) {
  // one K/V and one Q tile in each of 2^30 - 1 heads, then in 2^30 heads
  AttentionProblem one = problem(64, 64);
  one.shape.batch = 32767;
  one.shape.heads = 32769;
  EXPECT_EQ(unsupported_16bit_reason(one, kH200), std::nullopt);
  one.shape.batch = one.shape.heads = 32768;
  EXPECT_EQ(
      unsupported_16bit_reason(one, kH200),
      "batch 32768, heads 32768, sequences of 64 and 64 make 2147483648 blocks: the kernels count up to 2147483647");
}

TEST(PlanForward16Bit, TakesSplitKeysFirstThenSplitWarpsThenTheLongerTilesThatPay) {
  const auto tiles = [](const AttentionShape& shape) {
    return plan_forward_16bit({.shape = shape, .precision = Precision::kBf16}, kH200).tiles;
  };
  EXPECT_EQ(tiles(square(1, 4096, 64)), FwdConfigId::kSplitKv);
  EXPECT_EQ(tiles(square(2, 512, 64)), FwdConfigId::kWarpSplitM16);
  EXPECT_EQ(tiles(square(2, 576, 64)), FwdConfigId::kWarpSplitM32);
  EXPECT_EQ(tiles(square(6, 768, 64)), FwdConfigId::kWarpSplitM64);
  EXPECT_EQ(tiles(square(12, 768, 64)), FwdConfigId::kM64N64);
  EXPECT_EQ(tiles(square(48, 576, 80)), FwdConfigId::kM128N64);
}

TEST(BackwardLaunch, HasBlocksForKeysAndIfSplitForQueries) {
  // 1000 keys: ceil(1000 / 128) = 8 CTAs, 16 of 64 keys at head_dim 256; split: 16 with K/V tiles and as many with Q
  // tiles, three times 16 at head_dim 256.
  EXPECT_EQ(backward_launch(problem(1000, 64), BwdAtomic::tile(64), BwdAlgorithm::kAtomicDq).grid, (Grid{8, 12, 4}));
  EXPECT_EQ(backward_launch(problem(1000, 256), BwdAtomic::tile(256), BwdAlgorithm::kAtomicDq).grid, (Grid{16, 12, 4}));
  EXPECT_EQ(backward_launch(problem(1000, 64), BwdSplit::tile(64), BwdAlgorithm::kSplit).grid, (Grid{32, 12, 4}));
  EXPECT_EQ(backward_launch(problem(1000, 256), BwdSplit::tile(256), BwdAlgorithm::kSplit).grid, (Grid{48, 12, 4}));
}

TEST(SplitsHeadsFirst, WithAMaskWhereBlocksAreMoreThanMultiprocessors) {
  // 8 * 2 * ceil(seq / 64) CTAs against 132
  const auto splits = [](std::int64_t seq, std::int64_t head_dim, bool causal) {
    AttentionShape shape = square(8, seq, head_dim);
    shape.causal = causal;
    return splits_heads_first({.shape = shape, .precision = Precision::kBf16}, kMultiprocessors);
  };
  EXPECT_FALSE(splits(512, 64, true));  // 128
  EXPECT_TRUE(splits(513, 64, true));   // 144
  EXPECT_FALSE(splits(513, 64, false));
  EXPECT_FALSE(splits(513, 256, true));
}

TEST(BackwardWorkspace, HoldsDeltaAndTheSumsOfDq) {
  // delta: 48 heads * 1000 * 4 bytes; sums: 48 heads * ceil(1000 / 64) * 64 rows * 64 * 4 bytes
  EXPECT_EQ(plan_backward_16bit(problem(1000, 64), kH200).workspace.delta_bytes, 192000u);
  EXPECT_EQ(plan_backward_16bit(problem(1000, 64), kH200).workspace.lse_bytes, 192000u);
  EXPECT_EQ(plan_backward_16bit(problem(1000, 64), kH200).workspace.dq_sums_bytes, 12582912u);
  EXPECT_EQ(plan_backward_16bit(problem(1000, 64, true), kH200).workspace.bytes(), 192000u);
  EXPECT_EQ(plan_backward_16bit(problem(256, 64), kH200).workspace.bytes(), 0u);
}

}  // namespace
}  // namespace tbench::kernels::sm80
