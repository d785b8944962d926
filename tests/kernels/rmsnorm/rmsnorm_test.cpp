// What the norm's host code decides and refuses, without a GPU.
#include "tbench/kernels/rmsnorm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

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

TEST(NormPlan, ForwardRowsAreEightElementsAThread) {
  // 1,600 elements: 200 threads, 7 warps; 768: 3 warps, two rows in 256 threads
  const NormPlan xl{.width_of_vector = 4, .elements = 8, .threads = 224, .groups = 1, .blocks = 2048};
  EXPECT_EQ(norm_forward_plan(shape_of(2048, 1600), true), xl);
  const NormPlan small{.width_of_vector = 8, .elements = 8, .threads = 96, .groups = 2, .blocks = 1025};
  EXPECT_EQ(norm_forward_plan(shape_of(2049, 768, all_of(Precision::kBf16)), true), small);
}

TEST(NormPlan, ElementByElementWhereVectorsDoNotFit) {
  EXPECT_EQ(norm_forward_plan(shape_of(4, 768), false).width_of_vector, 1);
  EXPECT_EQ(norm_forward_plan(shape_of(4, 770), true).width_of_vector, 1);
  EXPECT_EQ(norm_forward_plan(shape_of(4, 772), true).width_of_vector, 4);
  EXPECT_EQ(norm_forward_plan(shape_of(4, 772, all_of(Precision::kFp16)), true).width_of_vector, 1);
}

TEST(NormPlan, LongRowsAre32ElementsAThread) {
  EXPECT_EQ(norm_forward_plan(shape_of(1, 4096), true).elements, 8);  // 512 threads
  const NormPlan longer = norm_forward_plan(shape_of(1, 4100), true);
  EXPECT_EQ(longer.elements, 32);
  EXPECT_EQ(longer.threads, 160);  // 129 rounded up to warps
  EXPECT_EQ(norm_forward_plan(shape_of(1, kNormMaxWidth), true).threads, 512);
}

TEST(NormPlan, BackwardBlocksAreAsManyAsRunAtOnce) {
  // Two rows of 224 threads; 1,024 threads a multiprocessor hold two such blocks, and three of a row of 320.
  const NormPlan xl{.width_of_vector = 4, .elements = 8, .threads = 224, .groups = 2, .blocks = 264};
  EXPECT_EQ(norm_backward_plan(shape_of(2048, 1600), true, 132), xl);
  const NormPlan largest{.width_of_vector = 4, .elements = 8, .threads = 320, .groups = 1, .blocks = 396};
  EXPECT_EQ(norm_backward_plan(shape_of(2048, 2560), true, 132), largest);
  // 32 elements take 128 registers: one block of 512 threads
  EXPECT_EQ(norm_backward_plan(shape_of(2048, kNormMaxWidth), true, 132).blocks, 132);
  EXPECT_EQ(norm_backward_plan(shape_of(1, 1600), true, 132).blocks, 1);
  EXPECT_EQ(norm_backward_plan(shape_of(1, 1600), true, 132).groups, 1);
  // Groups have a named barrier each, of which there are 15.
  EXPECT_EQ(norm_backward_plan(shape_of(10'000, 8), true, 132).groups, 15);
}

std::string plan_refusal(const NormShape& shape) {
  try {
    static_cast<void>(norm_forward_plan(shape, true));
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
  EXPECT_THROW(static_cast<void>(norm_backward_plan(shape_of(1, 8), true, 0)), std::invalid_argument);
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
