// Tests AdamW's arithmetic, its skip on the device, and the loss scale. None of these tests needs a GPU, even for fp16.
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "model/fused/update_plan.hpp"
#include "model/training/optimizer.hpp"

namespace tbench::model {
namespace {

const auto kOptimizerOptions = at::TensorOptions{}.dtype(at::kDouble);

/// Returns a leaf with a gradient.
at::Tensor parameter(double value, double gradient) {
  at::Tensor leaf = at::full({1}, value, kOptimizerOptions).requires_grad_(true);
  leaf.mutable_grad() = at::full({1}, gradient, kOptimizerOptions);
  return leaf;
}

/// Returns the result of two steps with the gradients 0.5 and -0.25, following the paper's formulas.
double two_steps_by_hand(double p) {
  const double g1 = 0.5, g2 = -0.25, lr = 1e-3, eps = 1e-8, decay = 1 - 1e-3 * 0.01;
  p = p * decay - lr * g1 / (std::abs(g1) + eps);
  const double m = 0.9 * (0.1 * g1) + 0.1 * g2, v = 0.999 * (0.001 * g1 * g1) + 0.001 * g2 * g2;
  return p * decay - lr * (m / (1 - 0.81)) / (std::sqrt(v / (1 - 0.998001)) + eps);
}

class AdamWVariants : public testing::TestWithParam<AdamWVariant> {};

TEST_P(AdamWVariants, TwoStepsByHand) {
  const at::Tensor leaf = parameter(2.0, 0.5);
  AdamW optimizer{{leaf}, GetParam()};
  optimizer.step();
  leaf.mutable_grad().fill_(-0.25);
  optimizer.step();
  EXPECT_NEAR(leaf.item<double>(), two_steps_by_hand(2.0), 1e-12);
}

TEST_P(AdamWVariants, MomentsAreThoseOfTheirParameter) {
  AdamW optimizer{{parameter(2.0, 4.0), parameter(2.0, 0.5)}, GetParam()};
  optimizer.step();
  EXPECT_NEAR(optimizer.first_moment(1).item<double>(), 0.1 * 0.5, 1e-9);
  EXPECT_NEAR(optimizer.second_moment(1).item<double>(), 0.001 * 0.25, 1e-8);
  EXPECT_NEAR(optimizer.first_moment(0).item<double>(), 0.1 * 4.0, 1e-8);
}

TEST_P(AdamWVariants, ResetForgetsEverything) {
  const at::Tensor leaf = parameter(2.0, 0.5);
  AdamW optimizer{{leaf}, GetParam()};
  optimizer.step();
  const double first = leaf.item<double>();
  optimizer.reset();
  leaf.detach().fill_(2.0);
  optimizer.step();
  EXPECT_EQ(leaf.item<double>(), first);
}

TEST_P(AdamWVariants, StateIsTwoMomentsAndAStepCount) {
  AdamW optimizer{{parameter(2.0, 0.5)}, GetParam()};
  const std::int64_t count_bytes = GetParam() == AdamWVariant::kForeach           ? 0  // counted on the host
                                   : GetParam() == AdamWVariant::kForeachOnDevice ? 8
                                                                                  : 4;
  EXPECT_EQ(optimizer.state_bytes(), 2 * 8 + count_bytes);
}

INSTANTIATE_TEST_SUITE_P(All, AdamWVariants,
                         testing::Values(AdamWVariant::kForeach, AdamWVariant::kForeachOnDevice, AdamWVariant::kFused));

TEST(AdamW, ForeachCountsAsWellInFloat32OnTheDevice) {
  const at::Tensor values = at::randn({50}, at::kFloat), gradients = at::randn({50}, at::kFloat);
  std::vector<at::Tensor> after;
  for (const AdamWVariant variant : {AdamWVariant::kForeach, AdamWVariant::kForeachOnDevice}) {
    const at::Tensor leaf = values.clone().requires_grad_(true);
    leaf.mutable_grad() = gradients;
    AdamW optimizer{{leaf}, variant};
    for (int step = 0; step < 10; ++step) optimizer.step();
    after.push_back(leaf.detach());
  }
  EXPECT_TRUE(after[0].allclose(after[1], 1e-6, 1e-7)) << after[0].sub(after[1]).abs().max();
  EXPECT_FALSE(after[0].allclose(values, 1e-6, 1e-7));
}

TEST(AdamW, FirstStepReferenceIsTheFirstStep) {
  const at::Tensor leaf = at::randn({50}, kOptimizerOptions).requires_grad_(true);
  leaf.mutable_grad() = at::randn({50}, kOptimizerOptions);
  const at::Tensor expected = adamw_first_step(leaf.detach(), leaf.grad(), {});
  AdamW{{leaf}, AdamWVariant::kForeach}.step();
  EXPECT_TRUE(leaf.detach().allclose(expected, 1e-12, 1e-12));
}

TEST(AdamW, FoundInfSkipsTheStepAndItsCount) {
  const at::Tensor skipped = parameter(2.0, 0.5), plain = parameter(2.0, 0.5);
  AdamW with_skip{{skipped}, AdamWVariant::kFused}, without{{plain}, AdamWVariant::kFused};
  with_skip.step(at::full({}, 1.0F));
  EXPECT_EQ(skipped.item<double>(), 2.0);
  with_skip.step(at::full({}, 0.0F));
  without.step();
  EXPECT_EQ(skipped.item<double>(), plain.item<double>());
}

TEST(AdamW, ForeachRefusesToSkip) {
  AdamW optimizer{{parameter(2.0, 0.5)}, AdamWVariant::kForeach};
  EXPECT_THROW(optimizer.step(at::full({}, 1.0F)), std::invalid_argument);
}

TEST(AdamW, OurKernelAloneWritesCopiesOneOfEachParameter) {
  const at::Tensor leaf = parameter(1.0, 1.0);
  AdamW fused{{leaf}, AdamWVariant::kFused};
  EXPECT_NO_THROW(fused.keep_up_to_date({}));
  EXPECT_THROW(fused.keep_up_to_date({leaf}), std::invalid_argument);
  AdamW own{{leaf}, AdamWVariant::kFusedKernel};
  EXPECT_NO_THROW(own.keep_up_to_date({leaf}));
  EXPECT_THROW(own.keep_up_to_date({leaf, leaf}), std::invalid_argument);
}

TEST(AdamW, AStepInPartsIsOfOurKernelAndUpdatesAParameterOnce) {
  const at::Tensor leaf = parameter(1.0, 1.0);
  AdamW fused{{leaf}, AdamWVariant::kFused};
  EXPECT_THROW(AdamW::ChunkedStep{fused}, std::invalid_argument);
  AdamW own{{leaf}, AdamWVariant::kFusedKernel};
  AdamW::ChunkedStep step{own};
  for (const std::vector<std::size_t>& refused : {std::vector<std::size_t>{1}, {0, 0}}) {
    EXPECT_THROW(step.update(refused, 1), std::invalid_argument);
  }
  EXPECT_EQ(leaf.item<double>(), 1.0);
}

TEST(UpdatePlan, TakesAShareByWidthAndLeavesTheRestToProducts) {
  EXPECT_EQ(update_plan(1024, 132), (UpdatePlan{.multiprocessors = 33, .beside_all = false}));
  EXPECT_EQ(update_plan(1025, 132), (UpdatePlan{.multiprocessors = 44, .beside_all = false}));
  EXPECT_EQ(update_plan(2048, 132), (UpdatePlan{.multiprocessors = 44, .beside_all = false}));
  EXPECT_EQ(update_plan(2049, 132), (UpdatePlan{.multiprocessors = 44, .beside_all = true}));
  EXPECT_EQ(update_plan(768, 1).multiprocessors, 1);
}

TEST(GradScaler, UnscalesAndAdapts) {
  GradScaler scaler{at::Device{at::kCPU}};
  EXPECT_EQ(scaler.scaled(at::full({}, 2.0F)).item<double>(), 2.0 * 65536.0);
  std::vector<at::Tensor> gradients{at::full({3}, 65536.0F)};
  EXPECT_EQ(scaler.unscale(gradients).item<double>(), 0.0);
  EXPECT_EQ(gradients[0][1].item<double>(), 1.0);
  scaler.update();
  EXPECT_EQ(scaler.scale(), 65536.0);
  EXPECT_EQ(scaler.skipped_steps(), 0.0);
}

TEST(GradScaler, ANonFiniteGradientHalvesTheScaleAndCounts) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    GradScaler scaler{at::Device{at::kCPU}};
    std::vector<at::Tensor> gradients{at::full({3}, 1.0F), at::full({3}, bad)};
    EXPECT_EQ(scaler.unscale(gradients).item<double>(), 1.0);
    scaler.update();
    EXPECT_EQ(scaler.scale(), 32768.0);
    EXPECT_EQ(scaler.skipped_steps(), 1.0);
    scaler.reset();
    EXPECT_EQ(scaler.scale(), 65536.0);
    EXPECT_EQ(scaler.skipped_steps(), 0.0);
  }
}

TEST(AdamW, VariantsOfOneKindHaveOneName) {
  EXPECT_EQ(optimizer_name(AdamWVariant::kForeach), optimizer_name(AdamWVariant::kForeachOnDevice));
  EXPECT_EQ(optimizer_name(AdamWVariant::kForeach), "adamw_foreach");
  EXPECT_EQ(optimizer_name(AdamWVariant::kFused), "adamw_fused");
  EXPECT_EQ(optimizer_name(AdamWVariant::kFusedKernel), "adamw_own");
}

}  // namespace
}  // namespace tbench::model
