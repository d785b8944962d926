// Compares descriptions of plans with ones worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/attention/common/device_limits.hpp"
#include "support/plan_problem.hpp"
#include "tbench/kernels/attention.hpp"

namespace tbench::kernels {
namespace {

using testing::ElementsAre;

constexpr DeviceLimits kHopper = sm90::kH200;
constexpr DeviceLimits kA100{
    .compute_capability_major = 8, .multiprocessors = 108, .shared_bytes_per_block = 163 * 1024};

AttentionProblem problem(std::int64_t seq, std::int64_t head_dim = 64, Precision precision = Precision::kBf16,
                         bool causal = true) {
  AttentionProblem one = sm90::problem_of(precision, seq, head_dim, 12, causal);
  one.layout = contiguous_layout(one.shape);
  return one;
}

std::vector<std::string> names_of(const PlanDescription& description) {
  std::vector<std::string> names;
  for (const KernelDescription& kernel : description.kernels) names.push_back(kernel.name);
  return names;
}

class DescriptionOnHopper : public testing::Test {
 protected:
  void SetUp() override {
    if (!runs_sm90a(kHopper, built_architectures())) GTEST_SKIP() << "a build without Hopper's kernels";
  }
};

TEST_F(DescriptionOnHopper, OfAForwardPass) {
  const PlanDescription one = plan_attention_forward(problem(512), kHopper).describe();
  ASSERT_THAT(names_of(one), ElementsAre("attention_fwd_sm90_kernel<bf16, 64, FwdM128N64x2>"));
  EXPECT_EQ(one.kernels[0].launch, "132 CTAs x 640 threads, 199,680 B shared memory, programmatic dependent launch");
  // 48 heads of four tiles of 128 queries; two consumer groups per CTA
  EXPECT_EQ(one.schedule, "static persistent, snake order: 192 work tiles for 264 consumer groups");
  EXPECT_EQ(one.workspace_bytes, 0U);
  EXPECT_THAT(one.rules, ElementsAre("sm90_fwd[head_dim 64] #3: causal, seq_kv < 4,096"));
  EXPECT_EQ(one.config, "FwdM128N64x2");
}

AttentionProblem grouped(std::int64_t heads, std::int64_t kv_heads, std::int64_t seq, std::int64_t head_dim,
                         Precision precision = Precision::kBf16) {
  AttentionProblem one = problem(seq, head_dim, precision);
  one.shape.batch = 2;
  one.shape.heads = heads;
  one.shape.kv_heads = kv_heads;
  one.layout = contiguous_layout(one.shape);
  return one;
}

TEST_F(DescriptionOnHopper, OfGroupedQueries) {
  const AttentionProblem one = grouped(32, 8, 1024, 128);
  EXPECT_THAT(names_of(plan_attention_forward(one, kHopper).describe()),
              ElementsAre("attention_fwd_sm90_gqa_kernel<bf16, 128, FwdM128N128>"));
  const PlanDescription backward = plan_attention_backward(one, kHopper).describe();
  EXPECT_THAT(names_of(backward), ElementsAre("attention_bwd_sm90_preprocess_kernel<bf16, 128>",
                                              "attention_bwd_sm90_tile_gqa_kernel<bf16, 128>",
                                              "attention_bwd_sm90_postprocess_kernel<bf16, 128>",
                                              "attention_bwd_sm90_add_parts_kernel<bf16, 128>"));
  // 16 heads of K and V with 8 tiles
  EXPECT_EQ(backward.schedule, "one tile per CTA: 256 K/V tiles, 2 parts of 2 query heads");
}

TEST_F(DescriptionOnHopper, OfADynamicSchedule) {
  const PlanDescription one = plan_attention_forward(problem(4096, 128), kHopper).describe();
  // 48 heads of 32 tiles
  EXPECT_EQ(one.schedule, "dynamic persistent, atomic counter: 1,536 work tiles for 132 consumer groups");
  EXPECT_EQ(one.workspace_bytes, 256U);
}

TEST_F(DescriptionOnHopper, OfAPathThatIsSlower) {
  const PlanDescription one = plan_attention_forward(problem(64), kHopper).describe();
  EXPECT_THAT(names_of(one), ElementsAre("attention_fwd_sm80_16bit_kernel<bf16, 64, FwdM64N64>"));
  EXPECT_EQ(one.schedule, "one tile per CTA: 48 work tiles");
  EXPECT_THAT(one.rules, ElementsAre("sm90_fwd[path] #3: at most 64 queries or keys",
                                     "sm80_fwd[16 bits] #5: causal, seq_kv <= 1,024 (head_dim > 64: 512)"));
  EXPECT_EQ(one.config, "sm80");
}

TEST_F(DescriptionOnHopper, OfBackwardPasses) {
  EXPECT_THAT(names_of(plan_attention_backward(problem(128), kHopper).describe()),
              ElementsAre("attention_bwd_sm90_split_kernel<bf16, 64, SplitFusedStats>"));
  const PlanDescription split = plan_attention_backward(problem(512), kHopper).describe();
  EXPECT_THAT(names_of(split), ElementsAre("attention_bwd_sm90_preprocess_kernel<bf16, 64>",
                                           "attention_bwd_sm90_split_kernel<bf16, 64, SplitPreprocessed>"));
  EXPECT_EQ(split.config, "split");
  const PlanDescription tile = plan_attention_backward(problem(1024, 128), kHopper).describe();
  EXPECT_THAT(names_of(tile), ElementsAre("attention_bwd_sm90_preprocess_kernel<bf16, 128>",
                                          "attention_bwd_sm90_tile_kernel<bf16, 128>",
                                          "attention_bwd_sm90_postprocess_kernel<bf16, 128>"));
  EXPECT_EQ(tile.schedule, "one tile per CTA: 384 K/V tiles");
  const PlanDescription tf32 = plan_attention_backward(problem(1024, 64, Precision::kTf32), kHopper).describe();
  EXPECT_THAT(names_of(tf32), ElementsAre("attention_bwd_sm90_tf32_preprocess_kernel<tf32, 64>",
                                          "attention_bwd_sm90_tf32_dkdv_kernel<tf32, 64>",
                                          "attention_bwd_sm90_tf32_dq_kernel<tf32, 64>"));
}

TEST(Description, OfAnA100) {
  AttentionProblem one_head = problem(4096, 64, Precision::kBf16, /*causal=*/false);
  one_head.shape.batch = one_head.shape.heads = 1;
  const PlanDescription split = plan_attention_forward(one_head, kA100).describe();
  EXPECT_THAT(names_of(split), ElementsAre("attention_fwd_sm80_16bit_kernel<bf16, 64, FwdWarpSplit<64>>"));
  one_head.shape.seq_q = one_head.shape.seq_kv = 3072;  // 48 tiles, at most half of 108
  const PlanDescription few = plan_attention_forward(one_head, kA100).describe();
  EXPECT_THAT(names_of(few), ElementsAre("attention_fwd_sm80_16bit_kernel<bf16, 64, FwdSplitKv>",
                                         "attention_fwd_sm80_splitkv_combine_kernel<bf16, 64>"));
  EXPECT_THAT(few.schedule, testing::EndsWith("work tiles, keys in 6 parts of 512"));
  EXPECT_THAT(names_of(plan_attention_backward(problem(1024), kA100).describe()),
              ElementsAre("attention_bwd_sm80_preprocess_16bit_kernel<bf16, 64>",
                          "attention_bwd_sm80_atomic_16bit_kernel<bf16, 64>",
                          "attention_bwd_sm80_postprocess_16bit_kernel<bf16, 64>"));
  EXPECT_THAT(names_of(plan_attention_backward(problem(256, 64, Precision::kFp32), kA100).describe()),
              ElementsAre("attention_bwd_sm80_split_fp32_kernel<fp32, 64>"));
}

TEST(DescriptionOnAmpere, OfGroupedQueries) {
  AttentionProblem one = grouped(8, 2, 512, 64);
  const PlanDescription forward = plan_attention_forward(one, kA100).describe();
  // 4 heads of K and V with 4 heads of Q each, 8 tiles of 64 queries
  EXPECT_EQ(forward.schedule, "one tile per CTA: 128 work tiles");
  const PlanDescription backward = plan_attention_backward(one, kA100).describe();
  EXPECT_EQ(backward.kernels.back().name, "attention_bwd_sm80_add_groups_kernel<bf16>");
  // [batch, seq, heads, head_dim]: the heads of K and V of two sequences have no common stride
  for (TensorLayout* const tensor : {&one.layout.q, &one.layout.k, &one.layout.v, &one.layout.o}) {
    tensor->strides = {512 * 8 * 64, 64, 8 * 64};
  }
  EXPECT_EQ(plan_attention_forward(one, kA100).describe().schedule,
            "one tile per CTA: 64 work tiles, one launch for each of 2 sequences");
}

}  // namespace
}  // namespace tbench::kernels
