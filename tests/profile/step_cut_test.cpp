#include "tbench/profile/step_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tbench/profile/profile.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr std::array<std::string_view, 2> kPhases{"forward", "backward"};

/// The first step does not count. Forward lasts until the 40th ns of each step.
const std::vector<EnqueuedStep> kSteps{{0, {40, 90}}, {100, {140, 190}}, {200, {240, 290}}};

/// Each step launches `f` in FORWARD and, inside it, in `attention`. In backward it launches `b` on autograd's thread.
/// The timer flushes before each step.
Trace three_steps() {
  TraceWriter writer;
  for (std::uint32_t step = 0; step < 3; ++step) {
    const std::int64_t at = 100 * std::int64_t{step};
    const std::uint32_t id = 10 * step;
    writer.call(at - 8, at - 7, id + 1, 0, "cudaMemsetAsync")
        .call(at + 5, at + 6, id + 2)
        .call(at + 25, at + 26, id + 3)
        .call(at + 50, at + 51, id + 4, 1)
        .call(at + 80, at + 81, id + 5, 0, "cudaEventRecord")
        .kernel(at - 5, at - 1, id + 1, "flush")
        .kernel(at + 10, at + 20, id + 2, "f")
        .kernel(at + 30, at + 45, id + 3, "f")
        .kernel(at + 55, at + 95, id + 4, "b")
        .range(at + 1, at + 39, "FORWARD")
        .range(at + 20, at + 30, "attention");
  }
  return writer.kernel(400, 410, 99, "without a call").take();
}

std::vector<std::string> kernels_of(const Trace& trace) {
  std::vector<std::string> names;
  for (const Operation& operation : trace.operations) names.push_back(trace.names[operation.name]);
  return names;
}

TEST(StepCut, HasTheStepsThatCountAlone) {
  const Trace cut = cut_steps(three_steps(), kSteps, kPhases);
  EXPECT_THAT(kernels_of(cut), ElementsAre("f", "f", "b", "f", "f", "b"));
  EXPECT_EQ(cut.operations.front().start_ns, 110);
  EXPECT_EQ(cut.operations.back().end_ns, 295);
  EXPECT_EQ(cut.calls.size(), 8U);
  EXPECT_THAT(cut.names, UnorderedElementsAre("f", "b", "cudaLaunchKernel", "cudaEventRecord", "FORWARD", "attention",
                                              "BACKWARD"));
  EXPECT_THAT(cut.threads, ElementsAre(Thread{0, 100}, Thread{0, 101}));
}

TEST(StepCut, GivesEveryOperationItsPhase) {
  const Trace cut = cut_steps(three_steps(), kSteps, kPhases);
  std::multiset<std::string> ranges;
  for (const Range& range : cut.ranges) {
    ranges.insert(cut.names[range.name]);
    if (cut.names[range.name] != "BACKWARD") continue;
    EXPECT_EQ(range.start_ns % 100, 40);  // from the end of forward to the end of the range
    EXPECT_EQ(range.end_ns % 100, 90);
    EXPECT_EQ(cut.threads[range.thread].id, 101U);
  }
  EXPECT_THAT(ranges, ElementsAre("BACKWARD", "BACKWARD", "FORWARD", "FORWARD", "attention", "attention"));
  const Profile profile = analyse(cut, KernelRules::built_in());
  ASSERT_EQ(profile.phases.size(), 2U);
  EXPECT_EQ(profile.phases[0].name, "FORWARD");
  EXPECT_EQ(profile.phases[0].operations, 4);
  EXPECT_EQ(profile.phases[1].name, "BACKWARD");
  EXPECT_EQ(profile.phases[1].operations, 2);
}

TEST(StepCut, APhaseWithoutRangesIsOneOnEveryThreadThatLaunches) {
  Trace trace = three_steps();
  trace.ranges.clear();
  const Trace cut = cut_steps(trace, kSteps, kPhases);
  EXPECT_EQ(cut.ranges.size(), 4U);  // two phases, two steps
  EXPECT_EQ(analyse(cut, KernelRules::built_in()).phases.size(), 2U);
}

TEST(StepCut, OfTooFewStepsOrOtherPhasesIsADefect) {
  const std::vector<EnqueuedStep> one{kSteps.front()};
  EXPECT_THROW(static_cast<void>(cut_steps(three_steps(), one, kPhases)), std::invalid_argument);
  const std::array<std::string_view, 1> single{"step"};
  EXPECT_THROW(static_cast<void>(cut_steps(three_steps(), kSteps, single)), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::profile
