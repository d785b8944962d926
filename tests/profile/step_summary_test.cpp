#include "tbench/profile/step_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/profile/kernel_rules.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::array<std::string_view, 2> kPhases{"forward", "optimizer"};
const std::string kAdam = "multi_tensor_apply_kernel<FusedAdam>";

StepTrace summary_of(const Trace& trace, const std::vector<EnqueuedStep>& steps, Regime regime = Regime::kSustained) {
  return summarise_steps(trace, KernelRules::built_in(), steps, kPhases, regime);
}

/// Three steps, the first of which does not count. The host enqueues in 0..30, 100..130 and 200..230. Forward lasts
/// until the 20th ns of each step.
///
///   step   calls          device
///   0      5, 25          nvjet_a 10..50, adam 50..60
///   1      105, 125       nvjet_a 110..150, adam 150..160
///   2      205, 210, 225  nvjet_a 215..255, copy 255..265, adam 270..280
const std::vector<EnqueuedStep> kSteps{{0, {20, 30}}, {100, {120, 130}}, {200, {220, 230}}};
Trace three_steps() {
  return TraceWriter{}
      .call(5, 6, 1)
      .call(25, 26, 2)
      .call(105, 106, 3)
      .call(125, 126, 4)
      .call(205, 206, 5)
      .call(210, 212, 6, 0, "cudaMemcpyAsync")
      .call(225, 226, 7, 1)  // on another thread, like autograd's
      .kernel(10, 50, 1, "nvjet_a")
      .kernel(50, 60, 2, kAdam)
      .kernel(110, 150, 3, "nvjet_a")
      .kernel(150, 160, 4, kAdam)
      .kernel(215, 255, 5, "nvjet_a")
      .copy(255, 265, 6, 4000)
      .kernel(270, 280, 7, kAdam)
      .take();
}

constexpr double kNs = 1e-9;

/// The window is 60 to 280, with a busy time of 40 + 10 + 40 + 10 + 10 = 110. The host caused the gaps 60..110 and
/// 160..215, 105 in all, because their next launches began at 105 and 205, after the gap had begun. The device caused
/// the gap 265..270, whose next launch began at 225: 5.
TEST(StepSummary, OfChainedStepsHasTheGapsBetweenThem) {
  const StepTrace step = summary_of(three_steps(), kSteps);
  EXPECT_EQ(step.steps, 2);
  EXPECT_DOUBLE_EQ(step.span.value, 220 * kNs / 2);
  EXPECT_DOUBLE_EQ(step.device.value, 110 * kNs / 2);
  EXPECT_DOUBLE_EQ(step.host_gaps.value, 105 * kNs / 2);
  EXPECT_DOUBLE_EQ(step.device_gaps.value, 5 * kNs / 2);
  EXPECT_EQ(step.other_gaps.value, 0);
  EXPECT_DOUBLE_EQ(step.longest_gap.value, 55 * kNs);
  EXPECT_EQ(step.launches, 2);  // kernels 3, 4, 5, 7 in two steps; a copy does not count
  EXPECT_EQ(kernels_per_step(step), 2);
  EXPECT_EQ(step.without_launch, 0);
}

/// The bursts are 110..160 without a gap, and 215..280 with the device's gap.
TEST(StepSummary, OfBurstsHasTheGapsInsideThemAlone) {
  const StepTrace step = summary_of(three_steps(), kSteps, Regime::kBurst);
  EXPECT_DOUBLE_EQ(step.span.value, (50 + 65) * kNs / 2);
  EXPECT_DOUBLE_EQ(step.device.value, 110 * kNs / 2);
  EXPECT_EQ(step.host_gaps.value, 0);
  EXPECT_DOUBLE_EQ(step.device_gaps.value, 5 * kNs / 2);
  EXPECT_DOUBLE_EQ(step.longest_gap.value, 5 * kNs);
  EXPECT_EQ(step.launches, 2);
}

TEST(StepSummary, KernelsAreByPhaseTheLongestFirst) {
  const StepTrace step = summary_of(three_steps(), kSteps);
  ASSERT_THAT(step.kernels, SizeIs(3));
  const TracedKernel& product = step.kernels[0];
  EXPECT_EQ(product.phase, "forward");
  EXPECT_EQ(product.kernel_class, "gemm");
  EXPECT_EQ(product.name, "nvjet_a");
  EXPECT_EQ(product.calls, 1);
  EXPECT_DOUBLE_EQ(product.total.value, 40 * kNs);
  EXPECT_DOUBLE_EQ(product.min.value, 40 * kNs);
  EXPECT_DOUBLE_EQ(product.max.value, 40 * kNs);
  ASSERT_TRUE(product.standard_deviation);
  EXPECT_THAT(product.standard_deviation->value, DoubleNear(0, 1e-18));
  const TracedKernel& copy = step.kernels[1];
  EXPECT_EQ(copy.name, "Memcpy HtoD");
  EXPECT_EQ(copy.kernel_class, "memcpy");
  EXPECT_EQ(copy.calls, 0.5);
  EXPECT_FALSE(copy.standard_deviation);
  EXPECT_EQ(step.kernels[2].phase, "optimizer");
  EXPECT_EQ(step.kernels[2].kernel_class, "optimizer");
}

TEST(StepSummary, WhatIsLaunchedOutsideOfStepsDoesNotCount) {
  const Trace trace = TraceWriter{}
                          .call(5, 6, 1)
                          .call(50, 51, 2)  // a flush between the steps
                          .call(105, 106, 3)
                          .call(230, 231, 4)  // after the last phase's end
                          .kernel(10, 20, 1, "nvjet_a")
                          .kernel(60, 90, 2, "flush")
                          .kernel(110, 120, 3, "nvjet_a")
                          .kernel(140, 150, 9, "nobody's")
                          .kernel(240, 250, 4, "later")
                          .take();
  const StepTrace step = summary_of(trace, {{0, {20, 30}}, {100, {120, 130}}}, Regime::kBurst);
  EXPECT_EQ(step.steps, 1);
  EXPECT_DOUBLE_EQ(step.device.value, 10 * kNs);
  EXPECT_THAT(step.kernels, SizeIs(1));
  EXPECT_EQ(step.without_launch, 1);
}

TEST(StepSummary, StepsThatDoNothingOnTheDeviceAreEmpty) {
  const StepTrace step = summary_of(Trace{}, kSteps);
  EXPECT_EQ(step.steps, 2);
  EXPECT_EQ(step.span.value, 0);
  EXPECT_EQ(step.device.value, 0);
  EXPECT_THAT(step.kernels, IsEmpty());
  EXPECT_EQ(summary_of(Trace{}, kSteps, Regime::kBurst), step);
}

/// No operation of the first step was traced, so the time counts from the first operation of the second.
TEST(StepSummary, WithoutOperationsOfTheFirstStep) {
  const Trace trace = TraceWriter{}.call(105, 106, 1).kernel(110, 120, 1, "nvjet_a").take();
  EXPECT_DOUBLE_EQ(summary_of(trace, {{0, {20, 30}}, {100, {120, 130}}}).span.value, 10 * kNs);
}

TEST(StepSummary, RefusesStepsThatSayNothing) {
  EXPECT_THROW(static_cast<void>(summary_of(Trace{}, {})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(summary_of(Trace{}, {{0, {20, 30}}})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(summary_of(Trace{}, {{0, {20, 30}}, {100, {120}}})), std::invalid_argument);
}

using Intervals = std::vector<Interval>;

TEST(Exposure, IsWhatNothingElseCovers) {
  // 10..30 and 20..50 cover 40. 15..25 and 45..60 overlap 10 + 5 of them, so 25 are exposed.
  EXPECT_EQ(exposure_of(Intervals{{10, 30}, {20, 50}}, Intervals{{15, 25}, {45, 60}}), (Exposure{40, 25}));
}

TEST(Exposure, OfWhatIsAloneIsAllOfIt) {
  EXPECT_EQ(exposure_of(Intervals{{10, 30}, {40, 50}}, {}), (Exposure{30, 30}));
  EXPECT_EQ(exposure_of(Intervals{{10, 30}}, Intervals{{30, 40}, {50, 60}}), (Exposure{20, 20}));
}

TEST(Exposure, OfWhatIsCoveredIsNothing) {
  EXPECT_EQ(exposure_of(Intervals{{10, 30}, {12, 14}}, Intervals{{0, 20}, {5, 40}}), (Exposure{20, 0}));
  EXPECT_EQ(exposure_of(Intervals{{10, 30}}, Intervals{{10, 30}}), (Exposure{20, 0}));
}

TEST(Exposure, OfNothingIsNothing) { EXPECT_EQ(exposure_of({}, Intervals{{0, 20}}), (Exposure{0, 0})); }

const std::string kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

TEST(Communication, CountsCollectiveKernelsAndTheirExposedTime) {
  const Trace trace = TraceWriter{}
                          .kernel(0, 40, 1, "nvjet_a")
                          .kernel(30, 70, 2, kAllReduce, 20)
                          .copy(60, 65, 3, 100)
                          .kernel(80, 90, 4, kAllReduce, 20)
                          .take();
  // Communication takes 40 + 10. Of these, 30..40 and 60..65 are covered.
  EXPECT_EQ(communication_of(trace, KernelRules::built_in()), (Exposure{50, 35}));
}

TEST(Communication, OfOneGpuByItselfIsAbsent) {
  EXPECT_EQ(communication_of(one_step(), KernelRules::built_in()), std::nullopt);
}

}  // namespace
}  // namespace tbench::profile
