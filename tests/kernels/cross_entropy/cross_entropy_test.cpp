// Tests decisions and refusals of cross entropy's host code, without a GPU.
#include "tbench/kernels/cross_entropy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tbench::kernels {
namespace {

using ::testing::HasSubstr;

TEST(CrossEntropyPlan, ARowIsFewVectorsAThreadInBlocksThatShareAMultiprocessor) {
  // 10,000 tokens are 1,250 vectors of 8 elements: 4 for each of 313 threads, 10 warps; with vectors of 4 elements: 8
  // for each of 313
  const CrossEntropyPlan bf16{.width_of_vector = 8, .vectors = 4, .threads = 320};
  EXPECT_EQ(cross_entropy_plan(2048, 10'000, Precision::kBf16, true), bf16);
  const CrossEntropyPlan fp32{.width_of_vector = 4, .vectors = 8, .threads = 320};
  EXPECT_EQ(cross_entropy_plan(2048, 10'000, Precision::kFp32, true), fp32);
  const CrossEntropyPlan one{.width_of_vector = 1, .vectors = 1, .threads = 32};
  EXPECT_EQ(cross_entropy_plan(1, 1, Precision::kFp16, true), one);
}

TEST(CrossEntropyPlan, ElementByElementWhereVectorsDoNotFit) {
  EXPECT_EQ(cross_entropy_plan(4, 4001, Precision::kBf16, true).width_of_vector, 1);
  EXPECT_EQ(cross_entropy_plan(4, 4000, Precision::kBf16, false).width_of_vector, 1);
  EXPECT_EQ(cross_entropy_plan(4, 4001, Precision::kBf16, true).vectors, 8);  // 501 threads, 16 warps
}

TEST(CrossEntropyPlan, ARowThatRegistersDoNotHoldIsReadTwice) {
  // 512 threads with 8 vectors of 8
  EXPECT_EQ(cross_entropy_plan(1, 32'768, Precision::kBf16, true).vectors, 8);
  EXPECT_EQ(cross_entropy_plan(1, 32'768, Precision::kBf16, true).threads, 512);
  const CrossEntropyPlan twice{.width_of_vector = 8, .vectors = 0, .threads = 1024};
  EXPECT_EQ(cross_entropy_plan(1, 32'776, Precision::kBf16, true), twice);
  EXPECT_EQ(cross_entropy_plan(1, 10'001, Precision::kBf16, true).vectors, 0);
}

std::string refusal(const CrossEntropy& problem) {
  try {
    cross_entropy(problem, nullptr);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(CrossEntropyRefusal, OfExtentsTypesAndNullPointers) {
  float value{};
  const std::int64_t target{};
  const CrossEntropy good{.rows = 1,
                          .width = 8,
                          .precision = Precision::kBf16,
                          .logits = &value,
                          .targets = &target,
                          .gradient = &value,
                          .factor = 1,
                          .scale = nullptr,
                          .losses = &value,
                          .lse = nullptr};
  CrossEntropy bad = good;
  bad.rows = 0;
  EXPECT_THAT(refusal(bad), HasSubstr("rows is 0"));
  bad = good;
  bad.width = std::int64_t{1} << 31;
  EXPECT_THAT(refusal(bad), HasSubstr("width is 2147483648"));
  bad = good;
  bad.precision = Precision::kTf32;
  EXPECT_THAT(refusal(bad), HasSubstr("not a storage type"));
  bad = good;
  bad.targets = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("null"));
  bad = good;
  bad.gradient = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("null"));
  bad = good;
  bad.losses = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("null"));
}

}  // namespace
}  // namespace tbench::kernels
