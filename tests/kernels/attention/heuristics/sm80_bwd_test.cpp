#include "kernels/attention/heuristics/sm80_bwd.hpp"

#include <gtest/gtest.h>

#include "support/sm80_problems.hpp"

namespace tbench::kernels::sm80 {
namespace {

BwdAlgorithm backward_method(const AttentionProblem& problem, const DeviceLimits& limits) {
  return plan_backward(problem, limits).method;
}

/// Returns whether warps divide the streamed rows. Expects the rules to select the algorithm `method`.
bool splits_warps(const AttentionProblem& problem, BwdAlgorithm method, const DeviceLimits& limits) {
  const BwdPlan plan = plan_backward(problem, limits);
  EXPECT_EQ(plan.method, method);
  return plan.splits_warps;
}

TEST(BackwardMethod, ShortSequencesTakeOneLaunchLongOnesAtomicAdditions) {
  EXPECT_EQ(backward_method(problem_16bit(256, 64), kH200), BwdAlgorithm::kSplitFusedDelta);
  EXPECT_EQ(backward_method(problem_16bit(257, 64), kH200), BwdAlgorithm::kAtomicDq);
  EXPECT_EQ(backward_method(problem_16bit(513, 64, true), kH200), BwdAlgorithm::kSplit);
  EXPECT_EQ(backward_method(problem_16bit(513, 256), kH200), BwdAlgorithm::kAtomicDq);
}

TEST(BackwardMethod, FewBlocksOfKeysDoNotAddAtomically) {
  // ceil(1000 / 128) = 8 CTAs per head, compared with 132 / 2.
  AttentionProblem few = problem_16bit(1000, 64);
  few.shape.batch = 1;
  few.shape.heads = 8;
  EXPECT_EQ(backward_method(few, kH200), BwdAlgorithm::kSplit);
  EXPECT_EQ(plan_backward(few, kH200).workspace.bytes(), 32000u);  // delta alone
  few.shape.heads = 9;
  EXPECT_EQ(backward_method(few, kH200), BwdAlgorithm::kAtomicDq);
}

TEST(BackwardMethod, AtomicAdditionsNeedSharedMemoryForTheirScores) {
  EXPECT_EQ(backward_method(problem_16bit(513, 128), kH200), BwdAlgorithm::kAtomicDq);
  EXPECT_EQ(backward_method(problem_16bit(513, 128), kA100), BwdAlgorithm::kSplit);
  EXPECT_EQ(backward_method(problem_16bit(513, 96), kA100), BwdAlgorithm::kAtomicDq);
  EXPECT_EQ(plan_backward(problem_16bit(1000, 128), kA100).workspace.bytes(), 192000u);  // delta alone
}

TEST(BackwardWorkspace, HoldsDeltaAndTheSumsOfDq) {
  // delta: 48 heads * 1000 * 4 bytes; sums: 48 heads * ceil(1000 / 64) * 64 rows * 64 * 4 bytes
  EXPECT_EQ(plan_backward(problem_16bit(1000, 64), kH200).workspace.delta_bytes, 192000u);
  EXPECT_EQ(plan_backward(problem_16bit(1000, 64), kH200).workspace.lse_bytes, 192000u);
  EXPECT_EQ(plan_backward(problem_16bit(1000, 64), kH200).workspace.dq_sums_bytes, 12582912u);
  EXPECT_EQ(plan_backward(problem_16bit(1000, 64, true), kH200).workspace.bytes(), 192000u);
  EXPECT_EQ(plan_backward(problem_16bit(256, 64), kH200).workspace.bytes(), 0u);
}

TEST(Backward32BitRules, GroupsDivideWhatSmallGridsOfBackwardStream) {
  // 8 + 8 CTAs with 64 rows per head: 128 in 8 heads, 144 in 9
  const auto exact = [](std::int64_t batch) { return problem_32bit(batch, 1, 512, 128, Precision::kFp32); };
  EXPECT_TRUE(splits_warps(exact(8), BwdAlgorithm::kSplitFusedDelta, kH200));
  EXPECT_FALSE(splits_warps(exact(9), BwdAlgorithm::kSplitFusedDelta, kH200));
  EXPECT_TRUE(splits_warps(causal(exact(9)), BwdAlgorithm::kSplitFusedDelta, kH200));
  EXPECT_FALSE(splits_warps(causal(exact(17)), BwdAlgorithm::kSplitFusedDelta, kH200));
  // TF32: half of 132; 64 CTAs in 4 heads
  EXPECT_TRUE(splits_warps(problem_32bit(4, 1, 512, 128), BwdAlgorithm::kSplitFusedDelta, kH200));
  EXPECT_FALSE(splits_warps(problem_32bit(5, 1, 512, 128), BwdAlgorithm::kSplitFusedDelta, kH200));
  // 2 * 32 + 4 * 64 rows of 336 bytes, and lse and delta of 128 rows, are 108544 bytes, more than a CTA has there.
  EXPECT_FALSE(splits_warps(problem_32bit(1, 1, 64, 80), BwdAlgorithm::kSplitFusedDelta, kSmall));
  EXPECT_TRUE(splits_warps(problem_32bit(1, 1, 64, 64), BwdAlgorithm::kSplitFusedDelta, kSmall));
}

TEST(Backward32BitRules, AtomicAdditionsWithGroupsFromHalfAGpuOn) {
  // 8 heads with 16 CTAs of 64 keys each: 128 against at least 66. With 128 keys per CTA: 64.
  const AttentionProblem one = problem_32bit(8, 1, 1024, 128);
  EXPECT_EQ(backward_method(one, kH200), BwdAlgorithm::kAtomicDq);
  EXPECT_TRUE(splits_warps(one, BwdAlgorithm::kAtomicDq, kH200));
  const BwdConfig tile = backward_32bit_tile(one, BwdAlgorithm::kAtomicDq, true);
  // 2 * 64 + 4 * 32 rows of 528 bytes, dS of 32 rows of 272, lse and delta of 64 rows
  EXPECT_EQ(backward_32bit_launch(one.shape, tile, BwdAlgorithm::kAtomicDq),
            (Launch{.grid = {16, 1, 8}, .threads = 256, .shared_bytes = 144384}));
  // 17 heads fill the GPU with 136 CTAs of 128 keys.
  EXPECT_EQ(backward_method(problem_32bit(17, 1, 1024, 128), kH200), BwdAlgorithm::kAtomicDq);
  EXPECT_FALSE(splits_warps(problem_32bit(17, 1, 1024, 128), BwdAlgorithm::kAtomicDq, kH200));
  // With a causal mask the CTA of the first keys takes as long as without a mask. 256 CTAs of the split pass are then
  // few, but not for TF32.
  const AttentionProblem exact = problem_32bit(8, 1, 1024, 128, Precision::kFp32);
  EXPECT_EQ(backward_method(causal(exact), kH200), BwdAlgorithm::kSplit);
  EXPECT_TRUE(splits_warps(causal(exact), BwdAlgorithm::kSplit, kH200));
  EXPECT_EQ(backward_method(causal(one), kH200), BwdAlgorithm::kSplit);
  EXPECT_FALSE(splits_warps(causal(one), BwdAlgorithm::kSplit, kH200));
  // The warps do not divide 80 columns evenly.
  EXPECT_EQ(backward_method(problem_32bit(8, 1, 1024, 80), kH200), BwdAlgorithm::kSplit);
}

TEST(Backward32BitRules, SplitWhereAtomicAdditionsDoNotPay) {
  EXPECT_EQ(backward_method(problem_32bit(4, 16, 512, 64), kH200), BwdAlgorithm::kSplitFusedDelta);
  EXPECT_EQ(backward_method(problem_32bit(4, 16, 513, 64), kH200), BwdAlgorithm::kAtomicDq);
  // 1024 keys have 8 CTAs of 128 in each of 4 heads: fewer than 132, and 16 of 64 are fewer than 66.
  EXPECT_EQ(backward_method(problem_32bit(4, 1, 1024, 64), kH200), BwdAlgorithm::kSplit);
  AttentionProblem same_bits = problem_32bit(4, 16, 4096, 64);
  same_bits.deterministic = true;
  EXPECT_EQ(backward_method(same_bits, kH200), BwdAlgorithm::kSplit);
  same_bits.shape.seq_q = same_bits.shape.seq_kv = 512;
  EXPECT_EQ(backward_method(same_bits, kH200), BwdAlgorithm::kSplitFusedDelta);
}

TEST(Backward32BitRules, ALongSequenceOnEitherSideIsLong) {
  AttentionProblem one = problem_32bit(4, 64, 512, 64);
  one.shape.seq_kv = 4096;
  EXPECT_EQ(backward_method(one, kH200), BwdAlgorithm::kAtomicDq);
  one.shape.seq_kv = 512;
  one.shape.seq_q = 4096;
  EXPECT_EQ(backward_method(one, kH200), BwdAlgorithm::kAtomicDq);
}

TEST(Backward32BitRules, TheWorkspaceIsDelta) {
  EXPECT_EQ(plan_backward(problem_32bit(2, 3, 512, 64), kH200).workspace.bytes(), 0u);
  EXPECT_EQ(plan_backward(problem_32bit(2, 3, 1000, 64), kH200).workspace.bytes(), 2u * 3 * 1000 * 4);
}

TEST(Backward32BitRules, ASmallerGpuGetsSmallerTiles) {
  // At head_dim 64 dS does not fit next to the tiles: 2 * (128 + 32) * 272 + 32 * 528 + 1024 = 104960 bytes
  EXPECT_EQ(backward_method(problem_32bit(4, 16, 4096, 64), kSmall), BwdAlgorithm::kSplit);
}

}  // namespace
}  // namespace tbench::kernels::sm80
