#include "kernels/attention/sm80/gqa/ungroup.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "tbench/kernels/attention.hpp"

namespace tbench::kernels::sm80 {
namespace {

/// Two sequences of 6 heads of Q and 2 heads of K and V, 100 tokens, head_dim 16.
AttentionProblem grouped() {
  AttentionProblem problem{
      .shape = {.batch = 2, .heads = 6, .seq_q = 100, .seq_kv = 100, .head_dim = 16, .kv_heads = 2},
      .precision = Precision::kBf16,
      .scale = 0.25f};
  problem.layout = contiguous_layout(problem.shape);
  return problem;
}

using Strides = std::array<std::int64_t, 3>;

TEST(Ungroup, TakesAHeadOfKAndVAsASequence) {
  const AttentionProblem problem = grouped();
  ASSERT_TRUE(folds_batch(problem));
  const AttentionProblem one = ungrouped(problem);
  EXPECT_EQ(one.shape.batch, 4);
  EXPECT_EQ(one.shape.heads, 3);
  EXPECT_EQ(one.shape.group(), 1);
  EXPECT_EQ(ungrouped(problem, false).shape.batch, 2);
}

TEST(Ungroup, LeavesAProblemWithoutGroups) {
  AttentionProblem problem = grouped();
  problem.shape.kv_heads = 0;
  EXPECT_EQ(ungrouped(problem).shape.heads, 6);
  EXPECT_EQ(ungrouped(problem).shape.batch, 2);
}

TEST(Ungroup, RepeatsKAndVByAStrideOfZero) {
  const AttentionProblem problem = grouped();
  char* const address = reinterpret_cast<char*>(std::uintptr_t{4096});
  const AttentionForward arguments{.q = {address, problem.layout.q.strides},
                                   .k = {address, problem.layout.k.strides},
                                   .v = {address, problem.layout.v.strides},
                                   .o = {address, problem.layout.o.strides}};
  const AttentionForward second = arguments_of_launch(problem, arguments, 1);
  EXPECT_EQ(second.q.strides, (Strides{3 * 1600, 1600, 16}));
  EXPECT_EQ(second.k.strides, (Strides{1600, 0, 16}));
  EXPECT_EQ(static_cast<char*>(second.q.data) - address, 6 * 1600 * 2);
  EXPECT_EQ(static_cast<char*>(second.k.data) - address, 2 * 1600 * 2);
  EXPECT_EQ(second.lse - arguments.lse, 6 * 100);
}

TEST(Ungroup, TakesSequencesAloneWithoutACommonStride) {
  AttentionProblem problem = grouped();
  problem.layout.q.strides = {100 * 6 * 16, 16, 6 * 16};
  EXPECT_FALSE(folds_batch(problem));
  problem.shape.batch = 1;
  EXPECT_TRUE(folds_batch(problem));
}

TEST(Ungroup, KeepsGradientsOfEveryHeadBehindTheKernelsWorkspace) {
  const AttentionProblem problem = grouped();
  const GqaWorkspace workspace = gqa_workspace(problem, 300);
  EXPECT_EQ(workspace.of_kernels, 512U);
  EXPECT_EQ(workspace.dk_bytes, 2U * 6 * 100 * 16 * 2);
  EXPECT_EQ(workspace.bytes(), 512U + 2 * workspace.dk_bytes);
  EXPECT_EQ(add_groups_launch(problem.shape).grid, (Grid{2 * 7, 2, 2}));
}

}  // namespace
}  // namespace tbench::kernels::sm80
