// The plan of the float32 kernels: worked-out launches, which GPU has room for which tiles, and the algorithm of the
// backward pass.
#include "kernels/attention/common/plan_32bit.hpp"

#include <gtest/gtest.h>

namespace tbench::kernels::sm80 {
namespace {

constexpr DeviceLimits kH200{.compute_capability_major = 9, .multiprocessors = 132, .shared_bytes_per_block = 232448};
// Compute capability 8.6 and 8.9: 99 KiB per CTA.
constexpr DeviceLimits kSmall{.compute_capability_major = 8, .multiprocessors = 84, .shared_bytes_per_block = 101376};
constexpr std::size_t kSharedBytesOfMultiprocessor =
    std::size_t{228} << 10;  // compute capability 9.0; both from CUDA's programming guide
constexpr std::size_t kReservedBytesOfBlock = std::size_t{1} << 10;
constexpr std::size_t kRegistersOfMultiprocessor = 65536;
constexpr int kHeadDims[]{16, 32, 64, 80, 96, 128};

AttentionProblem problem(std::int64_t batch, std::int64_t heads, std::int64_t seq, std::int64_t head_dim,
                         Precision precision = Precision::kTf32) {
  return {.shape = {.batch = batch, .heads = heads, .seq_q = seq, .seq_kv = seq, .head_dim = head_dim, .causal = false},
          .precision = precision,
          .scale = 1.0f};
}

/// A thread can have 255 registers. Fewer are left only with more than two CTAs of 128 threads per SM.
constexpr std::size_t kMinRegisters = 168;

template <class Tile>
void expect_resident(const Tile& tile, std::size_t shared_bytes, std::size_t min_registers = kMinRegisters) {
  const auto blocks = static_cast<std::size_t>(tile.blocks_per_multiprocessor);
  EXPECT_LE(blocks * (shared_bytes + kReservedBytesOfBlock), kSharedBytesOfMultiprocessor);
  EXPECT_GE(kRegistersOfMultiprocessor / (blocks * static_cast<std::size_t>(tile.warps) * 32), min_registers);
}

TEST(Plan32bit, TheBlocksOfEachTileFitAMultiprocessor) {
  for (const int head_dim : kHeadDims) {
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
    for (const Precision precision : {Precision::kTf32, Precision::kFp32}) {
      for (const BwdAlgorithm method : {BwdAlgorithm::kAtomicDq, BwdAlgorithm::kSplit}) {
        for (const bool splits_warps : {false, true}) {
          const BwdConfig tile = backward_32bit_tile(problem(1, 1, 4096, head_dim, precision), method, splits_warps);
          expect_resident(tile, backward_32bit_shared_bytes(tile, head_dim, method == BwdAlgorithm::kAtomicDq),
                          splits_warps ? kRegistersOfSplitWarps : kMinRegisters);
        }
      }
    }
  }
}

TEST(Plan32bit, SharedBytesOfForward) {
  // (128 + 2 * 32) rows of 128 * 4 + 16 bytes
  EXPECT_EQ(forward_32bit_shared_bytes({.rows = 128, .cols = 32, .warps = 4, .blocks_per_multiprocessor = 2}, 128),
            101376u);
  // as many rows for 64 queries in two parts
  EXPECT_EQ(forward_32bit_shared_bytes(
                {.rows = 64, .cols = 32, .warps = 4, .query_parts = 2, .blocks_per_multiprocessor = 2}, 128),
            101376u);
}

TEST(Plan32bit, SharedBytesOfBackward) {
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

TEST(Plan32bit, ForwardGridCoversTheLastRows) {
  const FwdConfig tile{.rows = 128, .cols = 64, .warps = 4, .blocks_per_multiprocessor = 2};
  EXPECT_EQ(forward_32bit_launch(problem(2, 3, 129, 64).shape, tile),
            (Launch{.grid = {2, 3, 2}, .threads = 128, .shared_bytes = 69632}));
  EXPECT_EQ(forward_32bit_launch(problem(2, 3, 128, 64).shape, tile).grid, (Grid{1, 3, 2}));
}

AttentionProblem causal(AttentionProblem one) {
  one.shape.causal = true;
  return one;
}

TEST(Plan32bit, LongTilesOnlyForTf32AndWhereTheyFillTheGpu) {
  // Without a mask: more than 2 * 132 short tiles of 64 rows; at head_dim 32 three fit an SM.
  EXPECT_TRUE(wants_long_forward_32bit_tile(problem(1, 133, 128, 64), kH200));
  EXPECT_FALSE(wants_long_forward_32bit_tile(problem(1, 132, 128, 64), kH200));
  EXPECT_FALSE(wants_long_forward_32bit_tile(problem(1, 198, 128, 32), kH200));
  EXPECT_TRUE(wants_long_forward_32bit_tile(problem(1, 199, 128, 32), kH200));
  EXPECT_FALSE(wants_long_forward_32bit_tile(problem(1, 264, 128, 64, Precision::kFp32), kH200));
  // With a mask: 2 * 132 tiles of 128 rows.
  EXPECT_TRUE(wants_long_forward_32bit_tile(causal(problem(1, 264, 128, 64)), kH200));
  EXPECT_FALSE(wants_long_forward_32bit_tile(causal(problem(1, 263, 128, 64)), kH200));
  // (128 + 4 * 64) rows of 272 bytes are 104448 bytes, more than a CTA has there; with rows of 144 bytes they are
  // 55296.
  EXPECT_FALSE(wants_long_forward_32bit_tile(problem(1, 264, 128, 64), kSmall));
  EXPECT_TRUE(wants_long_forward_32bit_tile(problem(1, 264, 128, 32), kSmall));
}

TEST(Plan32bit, GroupsDivideTheKeysOfSmallGrids) {
  // Tiles of 64 rows against 132: 32 rows up to half of them, 64 below all; with a causal mask twice as many
  const auto exact = [](std::int64_t batch) { return problem(batch, 1, 64, 64, Precision::kFp32); };
  EXPECT_EQ(split_warps_forward_32bit_rows(exact(66), kH200), 32);
  EXPECT_EQ(split_warps_forward_32bit_rows(exact(67), kH200), 64);
  EXPECT_EQ(split_warps_forward_32bit_rows(exact(131), kH200), 64);
  EXPECT_EQ(split_warps_forward_32bit_rows(exact(132), kH200), 0);
  EXPECT_EQ(split_warps_forward_32bit_rows(causal(exact(132)), kH200), 32);
  EXPECT_EQ(split_warps_forward_32bit_rows(causal(exact(133)), kH200), 64);
  EXPECT_EQ(split_warps_forward_32bit_rows(causal(exact(263)), kH200), 64);
  EXPECT_EQ(split_warps_forward_32bit_rows(causal(exact(264)), kH200), 0);
  // TF32: 16 rows up to an eighth of 132, 32 up to half, 64 up to all, with any mask
  for (const bool is_causal : {false, true}) {
    const auto tf32 = [is_causal](std::int64_t batch) {
      return is_causal ? causal(problem(batch, 1, 64, 64)) : problem(batch, 1, 64, 64);
    };
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(16), kH200), 16);
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(17), kH200), 32);
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(66), kH200), 32);
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(67), kH200), 64);
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(132), kH200), 64);
    EXPECT_EQ(split_warps_forward_32bit_rows(tf32(133), kH200), 0);
  }
  for (const int head_dim : kHeadDims) {
    for (const std::int64_t seq : {1, 64, 256, 1024}) {
      for (const Precision precision : {Precision::kFp32, Precision::kTf32}) {
        EXPECT_GT(split_warps_forward_32bit_rows(problem(8, 1, seq, head_dim, precision), kH200), 0)
            << head_dim << ", " << seq;
      }
    }
  }
  // (2 * 32 + 2 * 2 * 64) rows of 80 * 4 + 16 bytes are 107520 bytes, more than a CTA has there.
  EXPECT_EQ(split_warps_forward_32bit_rows(problem(1, 1, 64, 80, Precision::kFp32), kSmall), 0);
  EXPECT_EQ(split_warps_forward_32bit_rows(problem(1, 1, 64, 64, Precision::kFp32), kSmall), 32);
}

TEST(Plan32bit, LaunchOfAGroupedForward) {
  // 2 tiles of 32 rows, or 1 of 64; 8 warps; (2 * 32 + 2 * 64) or (2 * 64 + 2 * 2 * 64) rows of 528 bytes
  const AttentionShape shape = problem(2, 3, 33, 128).shape;
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

TEST(Plan32bit, GroupsDivideWhatSmallGridsOfBackwardStream) {
  // 8 + 8 CTAs with 64 rows per head: 128 in 8 heads, 144 in 9
  const auto exact = [](std::int64_t batch) { return problem(batch, 1, 512, 128, Precision::kFp32); };
  EXPECT_TRUE(wants_split_warps_backward_32bit_tile(exact(8), BwdAlgorithm::kSplitFusedDelta, kH200));
  EXPECT_FALSE(wants_split_warps_backward_32bit_tile(exact(9), BwdAlgorithm::kSplitFusedDelta, kH200));
  EXPECT_TRUE(wants_split_warps_backward_32bit_tile(causal(exact(9)), BwdAlgorithm::kSplitFusedDelta, kH200));
  EXPECT_FALSE(wants_split_warps_backward_32bit_tile(causal(exact(17)), BwdAlgorithm::kSplitFusedDelta, kH200));
  // TF32: half of 132; 64 CTAs in 4 heads
  EXPECT_TRUE(wants_split_warps_backward_32bit_tile(problem(4, 1, 512, 128), BwdAlgorithm::kSplitFusedDelta, kH200));
  EXPECT_FALSE(wants_split_warps_backward_32bit_tile(problem(5, 1, 512, 128), BwdAlgorithm::kSplitFusedDelta, kH200));
  // 2 * 32 + 4 * 64 rows of 336 bytes, and lse and delta of 128 rows, are 108544 bytes, more than a CTA has there.
  EXPECT_FALSE(wants_split_warps_backward_32bit_tile(problem(1, 1, 64, 80), BwdAlgorithm::kSplitFusedDelta, kSmall));
  EXPECT_TRUE(wants_split_warps_backward_32bit_tile(problem(1, 1, 64, 64), BwdAlgorithm::kSplitFusedDelta, kSmall));
}

TEST(Plan32bit, AtomicAdditionsWithGroupsFromHalfAGpuOn) {
  // 8 heads with 16 CTAs of 64 keys each: 128 against at least 66. With 128 keys per CTA: 64.
  const AttentionProblem one = problem(8, 1, 1024, 128);
  EXPECT_EQ(backward_32bit_method(one, kH200), BwdAlgorithm::kAtomicDq);
  EXPECT_TRUE(wants_split_warps_backward_32bit_tile(one, BwdAlgorithm::kAtomicDq, kH200));
  const BwdConfig tile = backward_32bit_tile(one, BwdAlgorithm::kAtomicDq, true);
  // 2 * 64 + 4 * 32 rows of 528 bytes, dS of 32 rows of 272, lse and delta of 64 rows
  EXPECT_EQ(backward_32bit_launch(one.shape, tile, BwdAlgorithm::kAtomicDq),
            (Launch{.grid = {16, 1, 8}, .threads = 256, .shared_bytes = 144384}));
  // 17 heads fill the GPU with 136 CTAs of 128 keys.
  EXPECT_EQ(backward_32bit_method(problem(17, 1, 1024, 128), kH200), BwdAlgorithm::kAtomicDq);
  EXPECT_FALSE(wants_split_warps_backward_32bit_tile(problem(17, 1, 1024, 128), BwdAlgorithm::kAtomicDq, kH200));
  // With a causal mask the CTA of the first keys would take as long as without. 256 CTAs of the split pass are few
  // then, but not for TF32.
  const AttentionProblem exact = problem(8, 1, 1024, 128, Precision::kFp32);
  EXPECT_EQ(backward_32bit_method(causal(exact), kH200), BwdAlgorithm::kSplit);
  EXPECT_TRUE(wants_split_warps_backward_32bit_tile(causal(exact), BwdAlgorithm::kSplit, kH200));
  EXPECT_EQ(backward_32bit_method(causal(one), kH200), BwdAlgorithm::kSplit);
  EXPECT_FALSE(wants_split_warps_backward_32bit_tile(causal(one), BwdAlgorithm::kSplit, kH200));
  // The warps do not divide 80 columns evenly.
  EXPECT_EQ(backward_32bit_method(problem(8, 1, 1024, 80), kH200), BwdAlgorithm::kSplit);
}

TEST(Plan32bit, SplitWhereAtomicAdditionsDoNotPay) {
  EXPECT_EQ(backward_32bit_method(problem(4, 16, 512, 64), kH200), BwdAlgorithm::kSplitFusedDelta);
  EXPECT_EQ(backward_32bit_method(problem(4, 16, 513, 64), kH200), BwdAlgorithm::kAtomicDq);
  // 1024 keys have 8 CTAs of 128 in each of 4 heads: fewer than 132, and 16 of 64 are fewer than 66.
  EXPECT_EQ(backward_32bit_method(problem(4, 1, 1024, 64), kH200), BwdAlgorithm::kSplit);
  AttentionProblem same_bits = problem(4, 16, 4096, 64);
  same_bits.deterministic = true;
  EXPECT_EQ(backward_32bit_method(same_bits, kH200), BwdAlgorithm::kSplit);
  same_bits.shape.seq_q = same_bits.shape.seq_kv = 512;
  EXPECT_EQ(backward_32bit_method(same_bits, kH200), BwdAlgorithm::kSplitFusedDelta);
}

TEST(Plan32bit, ALongSequenceOnEitherSideIsLong) {
  AttentionProblem one = problem(4, 64, 512, 64);
  one.shape.seq_kv = 4096;
  EXPECT_EQ(backward_32bit_method(one, kH200), BwdAlgorithm::kAtomicDq);
  one.shape.seq_kv = 512;
  one.shape.seq_q = 4096;
  EXPECT_EQ(backward_32bit_method(one, kH200), BwdAlgorithm::kAtomicDq);
}

TEST(Plan32bit, BackwardGridHasBlocksOfBothKindsOnlyWhenSplit) {
  AttentionProblem one = problem(2, 3, 0, 64);
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

TEST(Plan32bit, TheWorkspaceIsDelta) {
  EXPECT_EQ(plan_backward_32bit(problem(2, 3, 512, 64), kH200).workspace.bytes(), 0u);
  EXPECT_EQ(plan_backward_32bit(problem(2, 3, 1000, 64), kH200).workspace.bytes(), 2u * 3 * 1000 * 4);
}

TEST(Plan32bit, ASmallerGpuGetsSmallerTilesOrAReason) {
  // At head_dim 64 dS does not fit next to the tiles: 2 * (128 + 32) * 272 + 32 * 528 + 1024 = 104960 bytes
  EXPECT_EQ(backward_32bit_method(problem(4, 16, 4096, 64), kSmall), BwdAlgorithm::kSplit);
  EXPECT_EQ(unsupported_32bit_reason(problem(4, 16, 4096, 64), kSmall), std::nullopt);
  // At head_dim 128 two streamed tiles next to the stationary ones take 512 bytes more than there are.
  const auto reason = unsupported_32bit_reason(problem(4, 16, 4096, 128), kSmall);
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(reason->find("head_dim 128 in tf32 needs 101888 bytes"), std::string::npos) << *reason;
  EXPECT_NE(reason->find("101376"), std::string::npos) << *reason;
  for (const int head_dim : kHeadDims)
    EXPECT_EQ(unsupported_32bit_reason(problem(1, 1, 64, head_dim), kH200), std::nullopt) << head_dim;
}

TEST(Plan32bit, RefusesMoreBlocksThanAreCounted) {
  // one K/V and one Q tile in each of 2^30 - 1 heads, then in 2^30 heads
  EXPECT_EQ(unsupported_32bit_reason(problem(32768 - 1, 32768 + 1, 64, 64), kH200), std::nullopt);
  const auto reason = unsupported_32bit_reason(problem(32768, 32768, 64, 64), kH200);
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(reason->find("make 2147483648 blocks"), std::string::npos) << *reason;
}

}  // namespace
}  // namespace tbench::kernels::sm80
