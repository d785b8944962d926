// Tests decisions and refusals of AdamW's host code, without a GPU.
#include "tbench/kernels/adamw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tbench::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<AdamWTensor> tensors_of(const std::vector<std::int64_t>& counts) {
  std::vector<AdamWTensor> tensors(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) tensors[i].count = counts[i];
  return tensors;
}

TEST(AdamWLaunches, AreBlocksOfWholeChunks) {
  // 1, 1, 2 and no chunks of 1,024 elements
  EXPECT_THAT(adamw_launches(tensors_of({1, 1024, 1025, 0})),
              ElementsAre(AdamWLaunch{.first = 0, .tensors = 4, .chunks = 4}));
}

TEST(AdamWLaunches, AreOneForEvery64Tensors) {
  EXPECT_THAT(adamw_launches(tensors_of(std::vector<std::int64_t>(130, 2048))),
              ElementsAre(AdamWLaunch{.first = 0, .tensors = 64, .chunks = 128},
                          AdamWLaunch{.first = 64, .tensors = 64, .chunks = 128},
                          AdamWLaunch{.first = 128, .tensors = 2, .chunks = 4}));
}

TEST(AdamWLaunches, AreNoneForNothing) {
  EXPECT_THAT(adamw_launches({}), ElementsAre());
  EXPECT_THAT(adamw_launches(tensors_of({0, 0})), ElementsAre());
}

TEST(AdamWFewBlocks, AreNoMoreThanTakeFourChunksAtOnce) {
  EXPECT_EQ(adamw_few_blocks({.chunks = 1}, 33), 1);
  EXPECT_EQ(adamw_few_blocks({.chunks = 4}, 33), 1);
  EXPECT_EQ(adamw_few_blocks({.chunks = 5}, 33), 2);
  EXPECT_EQ(adamw_few_blocks({.chunks = 132}, 33), 33);
  EXPECT_EQ(adamw_few_blocks({.chunks = 100'000}, 33), 33);
}

class AdamWRefusal : public testing::Test {
 protected:
  float value_{};
  AdamWTensor tensor_{.parameter = &value_,
                      .gradient = &value_,
                      .first_moment = &value_,
                      .second_moment = &value_,
                      .copy = nullptr,
                      .count = 1};
  AdamWStep step_{.learning_rate = 1e-3,
                  .beta1 = 0.9,
                  .beta2 = 0.999,
                  .epsilon = 1e-8,
                  .weight_decay = 0.01,
                  .copy_precision = Precision::kBf16,
                  .step = &value_,
                  .found_inf = nullptr,
                  .gradient_scale = nullptr};

  static std::string refusal(std::span<const AdamWTensor> tensors, const AdamWStep& step) {
    try {
      adamw(tensors, step, nullptr);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::string refusal() const { return refusal({&tensor_, 1}, step_); }
};

TEST_F(AdamWRefusal, OfABetaThatIsNoShare) {
  for (const double beta : {0.0, 1.0, -0.5, 1.5}) {
    step_.beta2 = beta;
    EXPECT_THAT(refusal(), HasSubstr("expected one between 0 and 1")) << beta;
  }
}

TEST_F(AdamWRefusal, OfGradientsThatItHasNoKernelFor) {
  step_.gradient_precision = Precision::kFp16;
  EXPECT_THAT(refusal(), HasSubstr("the gradients' precision is fp16; expected fp32 or bf16"));
  step_.gradient_precision = Precision::kBf16;
  step_.copy_precision = Precision::kFp16;
  tensor_.copy = &value_;
  EXPECT_THAT(refusal(), HasSubstr("expected bf16 copies or none"));
}

TEST_F(AdamWRefusal, OfNullPointers) {
  for (auto member : {&AdamWTensor::parameter, &AdamWTensor::first_moment, &AdamWTensor::second_moment}) {
    AdamWTensor tensor = tensor_;
    tensor.*member = nullptr;
    EXPECT_THAT(refusal({&tensor, 1}, step_), HasSubstr("null"));
  }
  tensor_.gradient = nullptr;
  EXPECT_THAT(refusal(), HasSubstr("null"));
  tensor_.gradient = &value_;
  step_.step = nullptr;
  EXPECT_THAT(refusal(), HasSubstr("the step's number"));
}

TEST_F(AdamWRefusal, OfCopiesOfSomeTensors) {
  const AdamWTensor without = tensor_;
  tensor_.copy = &value_;
  const std::vector<AdamWTensor> both{tensor_, without};
  EXPECT_THAT(refusal(both, step_), HasSubstr("some have none"));
}

TEST_F(AdamWRefusal, OfACopyThatIsNot16Bits) {
  step_.copy_precision = Precision::kFp32;
  EXPECT_THAT(refusal(), HasSubstr("expected bf16 or fp16"));
}

TEST_F(AdamWRefusal, OfANegativeCount) {
  tensor_.count = -1;
  EXPECT_THAT(refusal(), HasSubstr("count is -1"));
}

TEST_F(AdamWRefusal, OfNoBlocks) { EXPECT_THROW(adamw({&tensor_, 1}, step_, nullptr, 0), std::invalid_argument); }

TEST_F(AdamWRefusal, NeedsNoPointersOfNothing) {
  const AdamWTensor nothing{};
  EXPECT_NO_THROW(adamw({&nothing, 1}, step_, nullptr));
}

}  // namespace
}  // namespace tbench::kernels
