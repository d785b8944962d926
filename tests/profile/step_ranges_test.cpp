#include "tbench/profile/step_ranges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/profile/kernel_rules.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::array<std::string_view, 3> kPhases{"forward", "backward", "optimizer"};

StepTrace ranges_of(const Trace& trace, std::int64_t steps) {
  StepTrace step;
  add_ranges(step, analyse(trace, KernelRules::built_in()), steps, kPhases);
  return step;
}

double ns(Seconds time) { return time.value * 1e9; }

TEST(StepRanges, AreNamedByThoseAroundThem) {
  const StepTrace step = ranges_of(one_step(), 1);
  std::vector<std::string> paths;
  for (const TracedRange& range : step.ranges) paths.push_back(range.path);
  EXPECT_THAT(paths, ElementsAre("FORWARD", "FORWARD/layer.*", "FORWARD/layer.*/attention", "OPTIMIZER"));
}

TEST(StepRanges, HaveTheTimesOfOneStep) {
  const StepTrace step = ranges_of(one_step(), 2);  // as if it were two
  const TracedRange& layers = step.ranges.at(1);
  EXPECT_DOUBLE_EQ(layers.calls, 1);
  EXPECT_DOUBLE_EQ(ns(layers.host), 40);  // 40 and 40
  EXPECT_DOUBLE_EQ(ns(layers.host_exclusive), 30);
  EXPECT_DOUBLE_EQ(ns(layers.gpu_span), (62 + 40) / 2.0);  // 20..82, 100..140
  EXPECT_DOUBLE_EQ(ns(layers.gpu_sum), (60 + 40) / 2.0);
  EXPECT_DOUBLE_EQ(ns(layers.gpu_busy), (60 + 40) / 2.0);
  EXPECT_DOUBLE_EQ(ns(layers.gpu_exclusive), (20 + 40) / 2.0);
  EXPECT_DOUBLE_EQ(layers.operations, 2);
  EXPECT_DOUBLE_EQ(layers.launches, 2);
  // Of one call, whatever the number of steps.
  EXPECT_DOUBLE_EQ(ns(layers.host_min), 40);
  EXPECT_DOUBLE_EQ(ns(layers.host_max), 40);
  EXPECT_DOUBLE_EQ(ns(layers.host_deviation.value()), 0);
  EXPECT_DOUBLE_EQ(ns(layers.gpu_min.value()), 40);
  EXPECT_DOUBLE_EQ(ns(layers.gpu_max.value()), 60);
  EXPECT_NEAR(ns(layers.gpu_deviation.value()), 14.142, 1e-3);
}

TEST(StepRanges, ARangeWithoutOperationsHasNoTimesOfThem) {
  const StepTrace step = ranges_of(TraceWriter{}.range(0, 10, "FORWARD").take(), 1);
  ASSERT_EQ(step.ranges.size(), 1U);
  EXPECT_EQ(step.ranges[0].gpu_min, std::nullopt);
  EXPECT_EQ(step.ranges[0].gpu_deviation, std::nullopt);
  EXPECT_EQ(step.ranges[0].host_deviation, std::nullopt);
  EXPECT_DOUBLE_EQ(ns(step.ranges[0].gpu_sum), 0);
}

TEST(StepRanges, PartsAreOfTheirRange) {
  const StepTrace step = ranges_of(one_step(), 1);
  ASSERT_FALSE(step.parts.empty());
  const TracedPart& rest = step.parts.back();
  EXPECT_EQ(rest.of, "FORWARD");
  EXPECT_EQ(rest.name, "not attention");
  EXPECT_DOUBLE_EQ(ns(rest.gpu_sum), 20 + 40);
  EXPECT_DOUBLE_EQ(rest.launches, 2);
}

TEST(StepRanges, AttentionByThePhasesOfTheCase) {
  const std::string softmax = "void softmax_warp_forward<float, float, float, 9, false, false>(float*)";
  const Trace trace = TraceWriter{}
                          .range(0, 100, "FORWARD")
                          .range(10, 30, "attention.scores")
                          .range(30, 50, "attention.softmax")
                          .range(50, 70, "attention.context")
                          .call(11, 12, 1)
                          .call(13, 14, 2)
                          .call(31, 32, 3)
                          .call(51, 52, 4)
                          .kernel(20, 60, 1, "nvjet_a")
                          .kernel(60, 70, 2, "mystery")
                          .kernel(70, 90, 3, softmax)
                          .kernel(90, 140, 4, "nvjet_b")
                          .take();
  const StepTrace step = ranges_of(trace, 1);
  ASSERT_EQ(step.attention.size(), 1U);
  EXPECT_EQ(step.attention[0].phase, "forward");
  EXPECT_DOUBLE_EQ(ns(step.attention[0].scores), 40);
  EXPECT_DOUBLE_EQ(ns(step.attention[0].softmax), 20);
  EXPECT_DOUBLE_EQ(ns(step.attention[0].context), 50);
  EXPECT_DOUBLE_EQ(ns(step.attention[0].other), 10);
}

TEST(StepRanges, OfATraceWithoutRangesThereAreNone) {
  const StepTrace step = ranges_of(TraceWriter{}.call(0, 1, 1).kernel(2, 3, 1).take(), 1);
  EXPECT_THAT(step.ranges, IsEmpty());
  EXPECT_THAT(step.parts, IsEmpty());
  EXPECT_THAT(step.attention, IsEmpty());
}

}  // namespace
}  // namespace tbench::profile
