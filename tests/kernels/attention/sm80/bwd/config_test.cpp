#include "kernels/attention/sm80/bwd/config.hpp"

#include <gtest/gtest.h>

#include "support/resident_tile.hpp"
#include "support/sm80_problems.hpp"

namespace tbench::kernels::sm80 {
namespace {

constexpr int kHeadDims[]{16, 32, 64, 80, 96, 128, 256};
constexpr int kHeadDims32Bit[]{16, 32, 64, 80, 96, 128};

TEST(Tiles, FitAHopperMultiprocessor) {
  for (const int head_dim : kHeadDims) {
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

TEST(BackwardLaunch, HasBlocksForKeysAndIfSplitForQueries) {
  // 1000 keys: ceil(1000 / 128) = 8 CTAs, 16 of 64 keys at head_dim 256; split: 16 with K/V tiles and as many with Q
  // tiles, three times 16 at head_dim 256.
  EXPECT_EQ(backward_launch(problem_16bit(1000, 64), BwdAtomic::tile(64), BwdAlgorithm::kAtomicDq).grid,
            (Grid{8, 12, 4}));
  EXPECT_EQ(backward_launch(problem_16bit(1000, 256), BwdAtomic::tile(256), BwdAlgorithm::kAtomicDq).grid,
            (Grid{16, 12, 4}));
  EXPECT_EQ(backward_launch(problem_16bit(1000, 64), BwdSplit::tile(64), BwdAlgorithm::kSplit).grid, (Grid{32, 12, 4}));
  EXPECT_EQ(backward_launch(problem_16bit(1000, 256), BwdSplit::tile(256), BwdAlgorithm::kSplit).grid,
            (Grid{48, 12, 4}));
}

TEST(SplitsHeadsFirst, IfCausalWithMoreBlocksThanMultiprocessors) {
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

TEST(Tiles32Bit, TheBlocksOfEachTileFitAMultiprocessor) {
  // Sixteen stationary rows with sixteen streamed ones at once take 128 registers per thread of a warp.
  constexpr std::size_t kRegistersOfSplitWarps = 128;
  for (const int head_dim : kHeadDims32Bit) {
    SCOPED_TRACE(head_dim);
    for (const Precision precision : {Precision::kTf32, Precision::kFp32}) {
      for (const BwdAlgorithm method : {BwdAlgorithm::kAtomicDq, BwdAlgorithm::kSplit}) {
        for (const bool splits_warps : {false, true}) {
          const BwdConfig tile =
              backward_32bit_tile(problem_32bit(1, 1, 4096, head_dim, precision), method, splits_warps);
          expect_resident(tile, backward_32bit_shared_bytes(tile, head_dim, method == BwdAlgorithm::kAtomicDq),
                          splits_warps ? kRegistersOfSplitWarps : kMinRegisters);
        }
      }
    }
  }
}

TEST(Backward32Bit, SharedBytesOfBackward) {
  const BwdConfig tile{.kept_rows = 64,
                       .streamed_rows = 32,
                       .cols_at_once = 32,
                       .warps = 4,
                       .stages = 1,
                       .dq_dim_warps = 2,
                       .blocks_per_multiprocessor = 2};
  // 2 * (64 + 32) rows of 528 bytes, lse and delta of 64 rows
  EXPECT_EQ(backward_32bit_shared_bytes(tile, 128, false), 101376u + 512u);
  // and dS: 32 rows of 64 * 4 + 16 bytes
  EXPECT_EQ(backward_32bit_shared_bytes(tile, 128, true), 101376u + 512u + 8704u);
}

TEST(Backward32Bit, BackwardGridHasBlocksOfBothKindsOnlyWhenSplit) {
  AttentionProblem one = problem_32bit(2, 3, 0, 64);
  one.shape.seq_q = 65;    // 2 tiles of 64
  one.shape.seq_kv = 300;  // 5 tiles of 64, 3 of 128
  const BwdConfig split = backward_32bit_tile(one, BwdAlgorithm::kSplit, false);
  EXPECT_EQ(split.kept_rows, 64);
  EXPECT_EQ(backward_32bit_launch(one.shape, split, BwdAlgorithm::kSplit).grid, (Grid{7, 3, 2}));
  EXPECT_EQ(backward_32bit_launch(one.shape, split, BwdAlgorithm::kSplitFusedDelta).grid, (Grid{7, 3, 2}));
  const BwdConfig atomic = backward_32bit_tile(one, BwdAlgorithm::kAtomicDq, false);
  EXPECT_EQ(atomic.kept_rows, 128);
  const BwdConfig grouped = backward_32bit_tile(one, BwdAlgorithm::kSplit, true);  // 3 and 10 tiles of 32
  EXPECT_EQ(backward_32bit_launch(one.shape, grouped, BwdAlgorithm::kSplit).grid, (Grid{13, 3, 2}));
  EXPECT_EQ(backward_32bit_launch(one.shape, atomic, BwdAlgorithm::kAtomicDq).grid, (Grid{3, 3, 2}));
}

}  // namespace
}  // namespace tbench::kernels::sm80
