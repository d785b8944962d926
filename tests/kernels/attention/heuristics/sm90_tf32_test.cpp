// Tests the selection of the sm90 TF32 kernels of both passes.
#include "kernels/attention/heuristics/sm90_tf32.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "support/plan_problem.hpp"
#include "support/selections.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  return problem_of(Precision::kTf32, seq, head_dim, heads, causal);
}

bool uses_pingpong(const AttentionProblem& one) { return select_backward(one, kH200).plan->pingpong; }

TEST(Tf32ForwardWorkspace, IsOfTheChoice) {
  EXPECT_EQ(forward_workspace_bytes(problem(127, 64, 12), kH200), 0u);
  const AttentionProblem one = problem(1024, 64, 12);
  ASSERT_TRUE(choose_forward(one, kH200));
  EXPECT_EQ(forward_workspace_bytes(one, kH200), forward_workspace(one.shape, *choose_forward(one, kH200)).bytes());
}

TEST(ChooseTf32Forward, TakesWhatHasAnInstanceOnHopper) {
  for (const std::int64_t head_dim : {16, 32, 64, 80, 96, 128}) {
    EXPECT_EQ(choose_forward(problem(1024, head_dim, 12), kH200).has_value(), head_dim == 64 || head_dim == 128)
        << head_dim;
  }
  for (const Precision precision : kAllOf<Precision>) {
    AttentionProblem one = problem(1024, 128, 12);
    one.precision = precision;
    EXPECT_EQ(choose_forward(one, kH200).has_value(), precision == Precision::kTf32);
  }
  for (const auto& [major, minor] : {std::pair{8, 0}, {9, 1}, {10, 0}, {12, 0}}) {
    DeviceLimits other = kH200;
    other.compute_capability_major = major;
    other.compute_capability_minor = minor;
    EXPECT_FALSE(choose_forward(problem(1024, 64, 12), other)) << major << "." << minor;
  }
}

TEST(ChooseTf32Forward, LeavesShortSequencesAndFewTilesToAmperesKernels) {
  AttentionProblem one = problem(128, 64, 100, false);
  EXPECT_TRUE(choose_forward(one, kH200));
  one.shape.seq_q = 127;
  EXPECT_FALSE(choose_forward(one, kH200));
  one.shape.seq_q = 128;
  one.shape.seq_kv = 127;
  EXPECT_FALSE(choose_forward(one, kH200));
  // 4 * 6 * 2 = 48 tiles of 64 queries, less than 2 / 5 of 132; 4 * 7 * 2 = 56
  EXPECT_FALSE(choose_forward(problem(128, 64, 6), kH200));
  EXPECT_TRUE(choose_forward(problem(128, 64, 7), kH200));
  // 4 * 3 * 2 = 24 tiles, less than 1 / 5 of 132; 4 * 4 * 2 = 32
  EXPECT_FALSE(choose_forward(problem(128, 128, 3), kH200));
  EXPECT_TRUE(choose_forward(problem(128, 128, 4), kH200));
  for (const std::int64_t head_dim : kHeadDims) {
    one = problem(128, head_dim, 1, false);  // 8 tiles
    one.shape.seq_kv = 1023;
    EXPECT_FALSE(choose_forward(one, kH200));
    one.shape.seq_kv = 1024;
    EXPECT_TRUE(choose_forward(one, kH200));
  }
}

TEST(ChooseTf32Forward, ACounterForUnequalItemsOfMoreThanOneRound) {
  // 4 * 4 * 8 = 128 work tiles with 1,024 queries per head, 4 * 5 * 8 = 160
  EXPECT_FALSE(choose_forward(problem(1024, 128, 4), kH200)->counted);
  EXPECT_TRUE(choose_forward(problem(1024, 128, 5), kH200)->counted);
  EXPECT_FALSE(choose_forward(problem(1024, 128, 5, false), kH200)->counted);
  EXPECT_TRUE(choose_forward(problem(4096, 128, 5), kH200)->in_turns);
  EXPECT_FALSE(choose_forward(problem(4097, 128, 5), kH200)->in_turns);
  EXPECT_FALSE(choose_forward(problem(4096, 128, 5, false), kH200)->in_turns);
}

TEST(Tf32BackwardWorkspace, IsOfWhatIsTaken) {
  for (const std::int64_t head_dim : kHeadDims) {
    const AttentionProblem one = problem(4096, head_dim, 12);
    EXPECT_EQ(backward_workspace_bytes(one, kH200), backward_workspace(one.shape).bytes());
    EXPECT_EQ(backward_workspace_bytes(problem(16, head_dim, 12), kH200), 0u);
  }
}

TEST(TakesTf32Backward, TakesWhatHasAnInstanceOnHopper) {
  for (const std::int64_t head_dim : {16, 32, 64, 80, 96, 128, 256}) {
    EXPECT_EQ(takes_backward(problem(4096, head_dim, 12), kH200), head_dim == 64 || head_dim == 128) << head_dim;
  }
  for (const Precision precision : kAllOf<Precision>) {
    AttentionProblem one = problem(4096, 128, 12);
    one.precision = precision;
    EXPECT_EQ(takes_backward(one, kH200), precision == Precision::kTf32);
  }
  for (const auto& [major, minor] : {std::pair{8, 0}, {9, 1}, {10, 0}, {12, 0}}) {
    DeviceLimits other = kH200;
    other.compute_capability_major = major;
    other.compute_capability_minor = minor;
    EXPECT_FALSE(takes_backward(problem(4096, 64, 12), other)) << major << "." << minor;
    EXPECT_EQ(backward_workspace_bytes(problem(4096, 64, 12), other), 0u);
  }
}

TEST(TakesTf32Backward, LeavesShortSequencesAndFewTilesToAmperesKernels) {
  for (const std::int64_t head_dim : kHeadDims) {
    EXPECT_FALSE(takes_backward(problem(127, head_dim, 100), kH200));
    EXPECT_TRUE(takes_backward(problem(128, head_dim, 100), kH200));
    // 4 * 6 tiles are less than 1 / 5 of 132, 4 * 7 are not
    EXPECT_FALSE(takes_backward(problem(128, head_dim, 6), kH200));
    EXPECT_TRUE(takes_backward(problem(128, head_dim, 7), kH200));
    EXPECT_TRUE(takes_backward(problem(256, head_dim, 1), kH200));
    AttentionProblem one = problem(128, head_dim, 100, false);
    one.shape.seq_kv = 127;
    EXPECT_FALSE(takes_backward(one, kH200));
    one.shape.seq_kv = 4096;  // 400 Q tiles
    EXPECT_TRUE(takes_backward(one, kH200));
    one.shape.batch = one.shape.heads = 1;  // one Q tile
    EXPECT_FALSE(takes_backward(one, kH200));
  }
}

TEST(TakesTf32BackwardTurns, OfWideHeadsAndManyQueries) {
  EXPECT_TRUE(uses_pingpong(problem(1024, 128, 12)));
  EXPECT_FALSE(uses_pingpong(problem(1023, 128, 12)));
  EXPECT_FALSE(uses_pingpong(problem(4096, 64, 12)));
}

TEST(TakesTf32Backward, GivesTheSameBitsEveryTimeWhetherAskedToOrNot) {
  AttentionProblem one = problem(4096, 64, 12);
  one.deterministic = true;
  EXPECT_TRUE(takes_backward(one, kH200));
}

TEST(TakesTf32Backward, CountsItemsAsInt) {
  // 2^21 tiles per head; 4 * 256 heads have 2^31 work tiles, 4 * 255 heads fewer
  AttentionProblem one = problem(std::int64_t{1} << 28, 64, 256);
  EXPECT_FALSE(takes_backward(one, kH200));
  one.shape.heads = 255;
  EXPECT_TRUE(takes_backward(one, kH200));
}

}  // namespace
}  // namespace tbench::kernels::sm90_tf32
