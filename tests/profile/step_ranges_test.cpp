#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/profile/kernel_rules.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/step_summary.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::array<std::string_view, 3> kThreePhases{"forward", "backward", "optimizer"};

StepTrace ranges_of(const Trace& trace, std::int64_t steps, Regime regime = Regime::kSustained) {
  StepTrace step;
  add_ranges(step, analyse(trace, KernelRules::built_in()), steps, kThreePhases, regime);
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
  const StepTrace step = ranges_of(one_step(), 2);  // counts the trace as two steps
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
  // Times per call do not depend on the number of steps.
  EXPECT_DOUBLE_EQ(ns(layers.host_min), 40);
  EXPECT_DOUBLE_EQ(ns(layers.host_max), 40);
  EXPECT_DOUBLE_EQ(ns(layers.host_deviation.value()), 0);
  EXPECT_DOUBLE_EQ(ns(layers.gpu_min.value()), 40);
  EXPECT_DOUBLE_EQ(ns(layers.gpu_max.value()), 60);
  EXPECT_NEAR(ns(layers.gpu_deviation.value()), 14.142, 1e-3);
}

/// The device has gaps before the operations at 62 (2 ns), 100 (18) and 150 (10). Their calls began at 35, 55 and 115,
/// before the gaps. The first operation has no gap before it.
TEST(StepRanges, HaveTheGapsBeforeTheirOperations) {
  const StepTrace step = ranges_of(one_step(), 2);
  EXPECT_DOUBLE_EQ(ns(step.ranges.at(0).device_gaps.value()), (2 + 18) / 2.0);
  EXPECT_DOUBLE_EQ(ns(step.ranges.at(1).device_gaps.value()), (2 + 18) / 2.0);
  EXPECT_DOUBLE_EQ(ns(step.ranges.at(2).device_gaps.value()), 0);
  EXPECT_DOUBLE_EQ(ns(step.ranges.at(3).device_gaps.value()), 10 / 2.0);
  for (const TracedRange& range : step.ranges) EXPECT_DOUBLE_EQ(ns(range.host_gaps.value()), 0) << range.path;
  const Trace late =
      TraceWriter{}.range(0, 100, "FORWARD").call(1, 2, 1).call(50, 51, 2).kernel(10, 20, 1).kernel(60, 70, 2).take();
  EXPECT_DOUBLE_EQ(ns(ranges_of(late, 1).ranges.at(0).host_gaps.value()), 40);
}

TEST(StepRanges, OfBurstsHaveNoGaps) {
  for (const TracedRange& range : ranges_of(one_step(), 1, Regime::kBurst).ranges) {
    EXPECT_FALSE(range.host_gaps) << range.path;
    EXPECT_FALSE(range.device_gaps) << range.path;
  }
}

/// Returns the step with its kernels, as summarise_steps() lists them.
StepTrace whole(const Trace& trace) {
  StepTrace step;
  for (const KernelTime& kernel : analyse(trace, KernelRules::built_in()).kernels) {
    if (kernel.phase != 0) continue;
    TracedKernel& traced = step.kernels.emplace_back();
    traced.phase = "forward";
    traced.name = kernel.name;
  }
  add_ranges(step, analyse(trace, KernelRules::built_in()), 1, kThreePhases, Regime::kSustained);
  return step;
}

TEST(StepRanges, HaveTheKernelsOutsideTheirInnerRanges) {
  const StepTrace step = whole(one_step());
  std::vector<std::string> found;
  for (const TracedRangeKernel& kernel : step.range_kernels) {
    found.push_back(step.ranges.at(kernel.range).path + " " + step.kernels.at(kernel.kernel).name.substr(0, 7));
  }
  EXPECT_THAT(found, ElementsAre("FORWARD/layer.* nvjet_a", "FORWARD/layer.*/attention nvjet_a",
                                 "FORWARD/layer.*/attention void so"));
  EXPECT_DOUBLE_EQ(step.range_kernels.at(0).calls, 2);
  EXPECT_DOUBLE_EQ(ns(step.range_kernels.at(0).total), 20 + 40);
  EXPECT_DOUBLE_EQ(ns(step.range_kernels.at(2).total), 10);
}

/// The kernels of a case with one phase belong to it, also inside ranges that the profile takes for phases.
TEST(StepRanges, HaveTheKernelsOfTheOnlyPhase) {
  const Trace trace =
      TraceWriter{}.range(0, 100, "OPTIMIZER").range(10, 90, "FORWARD").call(20, 21, 1).kernel(30, 40, 1, "k").take();
  StepTrace step;
  step.kernels.emplace_back();
  step.kernels.back().phase = "optimizer";
  step.kernels.back().name = "k";
  add_ranges(step, analyse(trace, KernelRules::built_in()), 1, kThreePhases, Regime::kSustained);
  ASSERT_EQ(step.range_kernels.size(), 1U);
  EXPECT_EQ(step.ranges.at(step.range_kernels[0].range).path, "OPTIMIZER/FORWARD");
}

TEST(StepPhases, HaveGapsCallsAndCopies) {
  const StepTrace step = ranges_of(one_step(), 2);
  ASSERT_EQ(step.phases.size(), 3U);
  const PhaseTrace& forward = step.phases[0];
  EXPECT_EQ(forward.phase, "forward");
  EXPECT_DOUBLE_EQ(ns(forward.span), (140 - 20) / 2.0);
  EXPECT_DOUBLE_EQ(ns(forward.device_gaps), (2 + 18) / 2.0);
  EXPECT_DOUBLE_EQ(forward.api_calls, 4 / 2.0);
  EXPECT_DOUBLE_EQ(ns(forward.api), (3 + 4 + 3 + 5) / 2.0);
  ASSERT_EQ(forward.calls.size(), 1U);
  EXPECT_EQ(forward.calls[0].name, "cudaLaunchKernel");
  EXPECT_DOUBLE_EQ(forward.calls[0].calls, 4 / 2.0);
  EXPECT_THAT(forward.copies, IsEmpty());
  const PhaseTrace& optimizer = step.phases[1];
  ASSERT_EQ(optimizer.copies.size(), 1U);
  EXPECT_EQ(optimizer.copies[0].name, "Memcpy HtoD");
  EXPECT_DOUBLE_EQ(optimizer.copies[0].bytes, 4000 / 2.0);
  EXPECT_DOUBLE_EQ(ns(optimizer.copies[0].total), 20 / 2.0);
  EXPECT_EQ(step.phases[2].phase, "");  // the last kernels, outside every phase
}

TEST(StepPhases, CountACallInsideAnotherOnce) {
  const Trace trace = TraceWriter{}
                          .range(0, 100, "FORWARD")
                          .call(10, 30, 1)
                          .call(15, 25, 2, 0, "cuLaunchKernel")
                          .call(40, 50, 3)
                          .take();
  const StepTrace step = ranges_of(trace, 1);
  EXPECT_DOUBLE_EQ(step.phases.at(0).api_calls, 2);
  EXPECT_DOUBLE_EQ(ns(step.phases.at(0).api), 20 + 10);
  EXPECT_EQ(step.phases.at(0).calls.size(), 2U);
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
