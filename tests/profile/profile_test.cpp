#include "tbench/profile/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tbench/core/error.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::HasSubstr;

Profile profile_of(const Trace& trace, const ProfileOptions& options = {}) {
  return analyse(trace, KernelRules::built_in(), options);
}

TEST(Durations, HaveTheStandardDeviationOfASample) {
  Durations durations;
  EXPECT_EQ(durations.mean_ns(), 0);
  EXPECT_EQ(durations.std_ns(), 0);
  for (const std::int64_t duration : {2, 4, 4, 4, 5, 5, 7, 9}) durations.add(duration);
  EXPECT_EQ(durations.count(), 8);
  EXPECT_EQ(durations.total_ns(), 40);
  EXPECT_EQ(durations.min_ns(), 2);
  EXPECT_EQ(durations.max_ns(), 9);
  EXPECT_DOUBLE_EQ(durations.mean_ns(), 5);
  EXPECT_DOUBLE_EQ(durations.std_ns(), std::sqrt(32.0 / 7));  // squared distances 9+1+1+1+0+0+4+16
}

TEST(Profile, OfAStepByPhase) {
  const Profile profile = profile_of(one_step());
  ASSERT_EQ(profile.phases.size(), 3U);
  EXPECT_EQ(profile.phases[0].name, "FORWARD");
  EXPECT_EQ(profile.phases[0].operations, 4);
  EXPECT_EQ(profile.phases[0].kernels, 4);
  EXPECT_EQ(profile.phases[0].launches, 4);
  EXPECT_EQ(profile.phases[0].kernel_ns, 100);
  EXPECT_EQ(profile.phases[0].copy_ns, 0);
  EXPECT_EQ(profile.phases[1].name, "OPTIMIZER");
  EXPECT_EQ(profile.phases[1].operations, 2);
  EXPECT_EQ(profile.phases[1].kernels, 1);
  EXPECT_EQ(profile.phases[1].kernel_ns, 20);
  EXPECT_EQ(profile.phases[1].copy_ns, 20);
  EXPECT_EQ(profile.phases[2].name, "(no phase)");
  EXPECT_EQ(profile.phases[2].kernels, 2);
  EXPECT_EQ(profile.phases[2].launches, 1);
  EXPECT_EQ(profile.phases[2].kernel_ns, 15);
  EXPECT_EQ(profile.operations, 8);
  EXPECT_EQ(profile.operations_ns, 155);
  EXPECT_EQ(profile.operations_without_launch, 1);
  EXPECT_EQ(profile.operations_without_range, 2);
  EXPECT_EQ(profile.operations_without_range_ns, 15);
  EXPECT_DOUBLE_EQ(profile.other_share(), 15.0 / 155);
  EXPECT_EQ(profile.devices.size(), 1U);
  EXPECT_EQ(profile.ranges.size(), 4U);
}

TEST(Profile, OfAStepByKernelAndClass) {
  const Profile profile = profile_of(one_step());
  ASSERT_EQ(profile.kernels.size(), 4U);
  EXPECT_EQ(profile.kernels[0].name, "nvjet_a");
  EXPECT_EQ(profile.kernels[0].phase, 0U);
  EXPECT_EQ(profile.kernels[0].kernel_class, KernelClass::kGemm);
  EXPECT_EQ(profile.kernels[0].durations.count(), 3);
  EXPECT_EQ(profile.kernels[0].durations.total_ns(), 90);
  EXPECT_DOUBLE_EQ(profile.kernels[0].durations.std_ns(), 10);  // of 30, 20, 40
  EXPECT_EQ(profile.kernels[1].kernel_class, KernelClass::kSoftmaxForward);
  EXPECT_EQ(profile.kernels[2].kernel_class, KernelClass::kOptimizer);
  EXPECT_EQ(profile.kernels[2].phase, 1U);
  EXPECT_EQ(profile.kernels[3].name, "mystery");
  EXPECT_EQ(profile.kernels[3].kernel_class, KernelClass::kOther);
  EXPECT_EQ(profile.kernels[3].phase, 2U);

  ASSERT_EQ(profile.classes.size(), 5U);
  EXPECT_EQ(profile.classes[0].kernel_class, KernelClass::kGemm);
  EXPECT_EQ(profile.classes[0].total_ns, 90);
  EXPECT_EQ(profile.classes[1].kernel_class, KernelClass::kSoftmaxForward);
  EXPECT_EQ(profile.classes[2].phase, 1U);
  EXPECT_EQ(profile.classes[2].total_ns, 20);
  EXPECT_EQ(profile.classes[3].total_ns, 20);
  EXPECT_EQ(profile.classes[4].kernel_class, KernelClass::kOther);
  EXPECT_EQ(profile.classes[4].operations, 2);
}

TEST(Profile, OfAStepByCallAndCopy) {
  const Profile profile = profile_of(one_step());
  ASSERT_EQ(profile.calls.size(), 2U);
  EXPECT_EQ(profile.calls[0].name, "cudaLaunchKernel");
  EXPECT_EQ(profile.calls[0].durations.count(), 6);
  EXPECT_EQ(profile.calls[0].durations.total_ns(), 3 + 4 + 3 + 5 + 4 + 5);
  EXPECT_EQ(profile.calls[1].name, "cudaMemcpyAsync");
  EXPECT_EQ(profile.calls[1].durations.total_ns(), 10);
  ASSERT_EQ(profile.copies.size(), 1U);
  EXPECT_EQ(profile.copies[0].name, "Memcpy HtoD");
  EXPECT_EQ(profile.copies[0].count, 1);
  EXPECT_EQ(profile.copies[0].bytes, 4000);
  EXPECT_EQ(profile.copies[0].total_ns, 20);
}

TEST(Profile, TakesThePhasesThatAreAskedFor) {
  const Profile profile = profile_of(one_step(), {.phases = {"attention"}});
  ASSERT_EQ(profile.phases.size(), 2U);
  EXPECT_EQ(profile.phases[0].name, "attention");
  EXPECT_EQ(profile.phases[0].kernel_ns, 40);
  EXPECT_EQ(profile.phases[1].kernel_ns, 155 - 20 - 40);
  try {
    static_cast<void>(profile_of(one_step(), {.phases = {"attentoin"}}));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no range is named 'attentoin'; did you mean 'attention'?"));
  }
}

TEST(Profile, WithoutTheUsualPhasesTheOutermostRangesAre) {
  TraceWriter writer;
  writer.range(0, 10, "step 1").range(20, 30, "step 2").range(40, 50, "eval").range(41, 45, "inner");
  writer.call(1, 2, 1).call(21, 22, 2).call(42, 43, 3).kernel(3, 4, 1).kernel(23, 25, 2).kernel(44, 48, 3);
  const Profile profile = profile_of(writer.take());
  ASSERT_EQ(profile.phases.size(), 2U);
  EXPECT_EQ(profile.phases[0].name, "step *");
  EXPECT_EQ(profile.phases[0].kernel_ns, 3);
  EXPECT_EQ(profile.phases[1].name, "eval");
  for (char name = 'a'; name < 'i'; ++name) writer.range(100 + name, 100 + name, std::string(1, name));
  EXPECT_EQ(profile_of(writer.take()).phases.size(), 1U);
  EXPECT_EQ(profile_of(writer.take()).phases[0].name, "all");
}

TEST(Profile, APhaseHasTheSpansOfItsRanges) {
  const Trace trace = TraceWriter{}
                          .range(0, 10, "FORWARD")
                          .call(1, 2, 1)
                          .call(3, 4, 2)
                          .kernel(5, 8, 1)
                          .kernel(9, 12, 2)  // launched before the first one ended
                          .range(20, 60, "FORWARD")
                          .call(21, 22, 3)
                          .kernel(30, 35, 3)
                          .call(15, 16, 4, 1)
                          .kernel(36, 40, 4, "of no phase", 8)  // belongs to no phase, but keeps the device busy
                          .call(50, 51, 5)
                          .kernel(55, 60, 5)
                          .take();
  const Profile profile = profile_of(trace);
  ASSERT_EQ(profile.phases.size(), 2U);
  const PhaseTime& forward = profile.phases[0];
  EXPECT_EQ(forward.span_ns, (12 - 5) + (60 - 30));
  EXPECT_EQ(forward.busy_ns, (3 + 3) + (5 + 4 + 5));
  EXPECT_EQ(forward.gaps.device_ns, (9 - 8) + (36 - 35));
  EXPECT_EQ(forward.gaps.host_ns, 55 - 40);
  EXPECT_EQ(forward.gaps.count, 3);
  EXPECT_EQ(forward.gaps.longest_ns, 15);
  EXPECT_EQ(forward.calls.at(0).durations.count(), 4);
  EXPECT_EQ(profile.phases[1].span_ns, 0);
  EXPECT_EQ(profile.phases[1].calls.at(0).durations.count(), 1);
}

/// Wrappers make such ranges if they push the range of the wrapped function again.
TEST(Profile, APhaseInsideOfItselfCountsOnce) {
  const Trace trace = TraceWriter{}
                          .range(0, 100, "forward")
                          .range(20, 80, "forward")
                          .call(5, 6, 1)
                          .call(21, 22, 2)
                          .call(85, 86, 3)
                          .kernel(7, 17, 1)
                          .kernel(23, 33, 2)
                          .kernel(87, 97, 3)
                          .take();
  const PhaseTime forward = profile_of(trace).phases.at(0);
  EXPECT_EQ(forward.kernel_ns, 30);
  EXPECT_EQ(forward.busy_ns, 30);
  EXPECT_EQ(forward.span_ns, 97 - 7);
}

TEST(Profile, APhaseGoesOnBetweenItsRangesInsideOfEachOther) {
  const Trace trace = TraceWriter{}
                          .range(0, 100, "forward")
                          .range(20, 80, "forward")
                          .call(5, 6, 1)
                          .call(21, 22, 2)
                          .kernel(7, 17, 1)
                          .kernel(23, 33, 2)
                          .take();
  EXPECT_EQ(profile_of(trace).phases.at(0).span_ns, 33 - 7);
}

/// A range of the first step never ended, so the second step lies inside it.
TEST(Profile, APhaseThatNeverEndedDoesNotTakeInOthers) {
  const Trace trace = TraceWriter{}
                          .range(0, 400, "forward")
                          .range(100, 200, "backward")
                          .range(200, 300, "forward")
                          .call(5, 6, 1)
                          .call(105, 106, 2)
                          .call(205, 206, 3)
                          .kernel(7, 17, 1)
                          .kernel(107, 137, 2)
                          .kernel(207, 217, 3)
                          .take();
  const Profile profile = profile_of(trace);
  EXPECT_EQ(profile.phases.at(0).span_ns, 20);
  EXPECT_EQ(profile.phases.at(0).busy_ns, 20);
  EXPECT_EQ(profile.phases.at(1).busy_ns, 30);
}

/// The second range never ended, so its window covers the window of the first one.
TEST(Profile, APhaseThatOverlapsItselfCountsOnce) {
  const Trace trace = TraceWriter{}
                          .range(0, 100, "forward")
                          .range(20, 400, "forward")
                          .call(5, 6, 1)
                          .call(21, 22, 2)
                          .call(85, 86, 3)
                          .kernel(7, 60, 1)
                          .kernel(30, 40, 2, "k", 8)
                          .kernel(87, 97, 3)
                          .take();
  const PhaseTime forward = profile_of(trace).phases.at(0);
  EXPECT_EQ(forward.span_ns, 97 - 7);
  EXPECT_EQ(forward.busy_ns, 53 + 10);
}

TEST(Profile, APhaseInsideOfAnotherOneIsNone) {
  const Trace trace = TraceWriter{}
                          .range(0, 100, "backward")
                          .range(20, 40, "forward")  // recomputes
                          .call(5, 6, 1)
                          .call(21, 22, 2)
                          .call(85, 86, 3)
                          .kernel(7, 17, 1)
                          .kernel(23, 33, 2)
                          .kernel(87, 97, 3)
                          .take();
  const Profile profile = profile_of(trace);
  EXPECT_EQ(profile.phases.at(0).span_ns, 97 - 7);
  EXPECT_EQ(profile.phases.at(1).span_ns, 33 - 23);
}

TEST(Profile, WithoutRangesHasTheSpanOfItsDevices) {
  const Profile profile = profile_of(TraceWriter{}.call(1, 2, 1).kernel(5, 8, 1).kernel(10, 14, 2, "k", 7, 1).take());
  ASSERT_EQ(profile.phases.size(), 1U);
  EXPECT_EQ(profile.phases[0].span_ns, 3 + 4);
  EXPECT_EQ(profile.phases[0].busy_ns, 3 + 4);
}

TEST(Profile, OfNothing) {
  const Profile profile = profile_of(Trace{});
  EXPECT_EQ(profile.operations, 0);
  EXPECT_EQ(profile.phases.size(), 1U);
  EXPECT_EQ(profile.share(5), 0);
}

}  // namespace
}  // namespace tbench::profile
