// Tests decisions and refusals of the norm's host code, without a GPU.
#include "tbench/kernels/rmsnorm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "kernels/rmsnorm/plan.hpp"

namespace tbench::kernels {
namespace {

using ::testing::HasSubstr;

constexpr NormTypes kMixed{.stream = Precision::kFp32, .branch = Precision::kBf16, .weight = Precision::kFp32};

constexpr NormTypes all_of(Precision precision) {
  return {.stream = precision, .branch = precision, .weight = precision};
}

NormShape shape_of(std::int64_t rows, std::int64_t width, const NormTypes& types = kMixed) {
  return {.rows = rows, .width = width, .types = types, .epsilon = 1e-5F};
}

constexpr NormDevice kHopper{.multiprocessors = 132, .shared_bytes = 228 << 10};

NormPlan forward_plan(const NormShape& shape, bool in_vectors = true) {
  return norm_plan(NormPass::kForward, shape, in_vectors, kHopper);
}
NormPlan backward_plan(const NormShape& shape, bool in_vectors = true, const NormDevice& device = kHopper) {
  return norm_plan(NormPass::kBackward, shape, in_vectors, device);
}

TEST(NormPlan, ForwardBlocksAreFourAMultiprocessorAndCopyThreeRowsAhead) {
  // 1,600 elements: 200 threads, 7 warps. 4 x 132 CTAs; 3 rows of 224 x 8 elements of 4 + 2 bytes.
  const NormPlan xl{
      .width_of_vector = 4, .elements = 8, .threads = 224, .groups = 1, .blocks = 528, .shared_bytes = 32'256};
  EXPECT_EQ(forward_plan(shape_of(2048, 1600)), xl);
  // 768: 3 warps, two rows in 256 threads. 16-bit elements: 2 rows of 192 x 8 elements of 2 + 2 bytes.
  const NormPlan small{
      .width_of_vector = 8, .elements = 8, .threads = 96, .groups = 2, .blocks = 528, .shared_bytes = 12'288};
  EXPECT_EQ(forward_plan(shape_of(2049, 768, all_of(Precision::kBf16))), small);
  EXPECT_EQ(forward_plan(shape_of(2048, 2560)).blocks, 3 * 132);  // 1,024 threads hold three rows of 320
  EXPECT_EQ(forward_plan(shape_of(100, 2560)).blocks, 100);
}

TEST(NormPlan, SharedMemoryIsAskedForWithTheKernelsOwnArraysCounted) {
  // 3 rows of 256 x 8 elements of 4 + 4 bytes are 48 KiB. A launch may have this much without the opt-in, but not
  // together with static arrays.
  const NormPlan all_of_it = forward_plan(shape_of(700, 96, all_of(Precision::kFp32)));
  EXPECT_EQ(all_of_it.shared_bytes, 48 << 10);
  EXPECT_TRUE(norm_asks_for_shared(all_of_it));
  EXPECT_FALSE(norm_asks_for_shared(forward_plan(shape_of(2048, 1600))));
}

TEST(NormPlan, ElementByElementWhereVectorsDoNotFit) {
  EXPECT_EQ(forward_plan(shape_of(4, 768), false).width_of_vector, 1);
  EXPECT_EQ(forward_plan(shape_of(4, 770)).width_of_vector, 1);
  EXPECT_EQ(forward_plan(shape_of(4, 772)).width_of_vector, 4);
  EXPECT_EQ(forward_plan(shape_of(4, 772, all_of(Precision::kFp16))).width_of_vector, 1);
  // Nothing is copied ahead: one CTA per row, or per two rows.
  const NormPlan plan{
      .width_of_vector = 1, .elements = 8, .threads = 96, .groups = 2, .blocks = 1025, .shared_bytes = 0};
  EXPECT_EQ(forward_plan(shape_of(2049, 768), false), plan);
}

TEST(NormPlan, LongRowsAre32ElementsAThread) {
  EXPECT_EQ(forward_plan(shape_of(1, 4096)).elements, 8);  // 512 threads
  const NormPlan longer = forward_plan(shape_of(2000, 4100));
  EXPECT_EQ(longer.elements, 32);
  EXPECT_EQ(longer.threads, 160);  // 129 rounded up to warps
  EXPECT_EQ(longer.shared_bytes, 0);
  EXPECT_EQ(longer.blocks, 2000);
  EXPECT_EQ(forward_plan(shape_of(1, kNormMaxWidth)).threads, 512);
}

TEST(NormPlan, BackwardBlocksAreTwoAMultiprocessor) {
  // Two rows of 224 threads, two of each in slots: 2 x 448 x (8 elements of 4 + 4 + 2 bytes, and rstd).
  const NormPlan xl{
      .width_of_vector = 4, .elements = 8, .threads = 224, .groups = 2, .blocks = 264, .shared_bytes = 75'264};
  EXPECT_EQ(backward_plan(shape_of(2048, 1600)), xl);
  const NormPlan largest{
      .width_of_vector = 4, .elements = 8, .threads = 320, .groups = 1, .blocks = 264, .shared_bytes = 53'760};
  EXPECT_EQ(backward_plan(shape_of(2048, 2560)), largest);
  // 32 elements take 128 registers: one CTA with 512 threads per SM
  EXPECT_EQ(backward_plan(shape_of(2048, kNormMaxWidth)).blocks, 132);
  EXPECT_EQ(backward_plan(shape_of(1, 1600)).blocks, 1);
  EXPECT_EQ(backward_plan(shape_of(1, 1600)).groups, 1);
  // Each group has a named barrier, and there are 15.
  EXPECT_EQ(backward_plan(shape_of(10'000, 8)).groups, 15);
}

TEST(NormPlan, BackwardBlocksFitTheSharedMemoryAndDoNotDependOnVectors) {
  // All CTAs must run at the same time. 512 threads with float32 have 98 KiB of slots, and 164 KiB hold one such CTA.
  const NormShape shape = shape_of(2048, 1024, all_of(Precision::kFp32));
  EXPECT_EQ(backward_plan(shape).blocks, 264);
  EXPECT_EQ(backward_plan(shape, true, {.multiprocessors = 108, .shared_bytes = 164 << 10}).blocks, 108);
  EXPECT_EQ(backward_plan(shape, false, {.multiprocessors = 108, .shared_bytes = 164 << 10}).blocks, 108);
  EXPECT_EQ(backward_plan(shape, false).shared_bytes, 4096);  // only the groups' sums
  // 100 KiB hold no such CTA, so rows are not copied ahead.
  const NormPlan little = backward_plan(shape, true, {.multiprocessors = 84, .shared_bytes = 100 << 10});
  EXPECT_EQ(little.width_of_vector, 1);
  EXPECT_EQ(little.shared_bytes, 4096);
  EXPECT_EQ(little.blocks, 84);
}

std::string plan_refusal(const NormShape& shape) {
  try {
    static_cast<void>(forward_plan(shape));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(NormPlan, RefusesWhatItHasNoKernelFor) {
  EXPECT_THAT(plan_refusal(shape_of(0, 8)), HasSubstr("rows is 0"));
  EXPECT_THAT(plan_refusal(shape_of(1, 0)), HasSubstr("width is 0"));
  EXPECT_THAT(plan_refusal(shape_of(1, kNormMaxWidth + 1)), HasSubstr("16385"));
  EXPECT_THAT(plan_refusal(shape_of(1, 8, all_of(Precision::kTf32))), HasSubstr("no kernel"));
  EXPECT_THAT(plan_refusal(shape_of(1, 8, {Precision::kBf16, Precision::kFp16, Precision::kBf16})),
              HasSubstr("a stream of bf16, a branch of fp16"));
  EXPECT_THAT(plan_refusal(shape_of(1, 8, {Precision::kFp32, Precision::kBf16, Precision::kBf16})),
              HasSubstr("no kernel"));
  EXPECT_THROW(static_cast<void>(backward_plan(shape_of(1, 8), true, {.multiprocessors = 0, .shared_bytes = 1})),
               std::invalid_argument);
}

std::string refusal(const NormForward& tensors) {
  try {
    norm_forward(shape_of(1, 8), tensors, nullptr);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Norm, RefusesNullPointers) {
  float value{};
  const NormForward good{
      .x = &value, .branch = &value, .weight = &value, .sum = &value, .normed = &value, .rstd = nullptr};
  NormForward bad = good;
  bad.x = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("null"));
  bad = good;
  bad.normed = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("null"));
  bad = good;
  bad.sum = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("two terms"));
  bad = good;
  bad.branch = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("two terms"));
  EXPECT_THROW(norm_backward(shape_of(1, 8), {}, nullptr), std::invalid_argument);
  const NormShares no_sum{.workspace = &value, .dweight = nullptr};
  EXPECT_THROW(norm_weight_gradients(shape_of(1, 8), {&no_sum, 1}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::kernels
