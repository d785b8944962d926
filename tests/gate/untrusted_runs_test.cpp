// Tests nightly runs that the gate does not evaluate: with a wrong clock, with copied samples, on a GPU in use, and
// without their A/A control.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "expected_outcome.hpp"

namespace tbench::gate {
namespace {

using testing::HasSubstr;

TEST(TableOfNights, AClockThatIsWrongJudgesNothing) {
  const std::vector<history::PastRun> past = healthy_nights();
  history::MeasuredRun run = tonight();
  GateOptions early;
  early.night = facts_after(past, run);
  early.night->later_runs = kHealthyNights;
  const GateReport before = judge_night(past, run, early);
  expect_row(before, {Headline::kFailed, Outcome::kIncomplete, 7, false});
  EXPECT_THAT(text_of(before, Subject::kClock), HasSubstr("30 runs are dated later"));
  GateOptions ahead;
  ahead.night = facts_after(past, run);
  ahead.night->now = "2026-02-01T02:00:00Z";
  expect_row(judge_night(past, run, ahead), {Headline::kFailed, Outcome::kIncomplete, 7, false});
  ahead.night->now = "2026-02-01T02:00:01Z";
  expect_row(judge_night(past, run, ahead), {Headline::kPassed, Outcome::kSame, 0, true});
}

TEST(TableOfNights, SamplesOfAnEarlierNightAreAReplay) {
  history::MeasuredRun run = healthy_night(kHealthyNights - 3);
  run.started = tonight().started;
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kFailed, Outcome::kReplayed, 7, false});
  EXPECT_EQ(baseline_of(report), 0U);
  EXPECT_THAT(text_of(report, Subject::kWhole), HasSubstr("has the samples of the run of 2026-01-29"));
  GateOptions without_digests;
  without_digests.night = facts_after(healthy_nights(), run);
  without_digests.night->known_samples.clear();
  const GateReport by_times = judge_night(healthy_nights(), run, without_digests);
  expect_row(by_times, {Headline::kFailed, Outcome::kReplayed, 7, false});
  EXPECT_THAT(text_of(by_times, Subject::kWhole), HasSubstr("most times are those of the run of 2026-01-29"));
}

TEST(TableOfNights, OtherProcessesOnTheGpuJudgeNothing) {
  history::MeasuredRun run = tonight();
  run.other_processes = 2;
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kReview, Outcome::kEnvironment, 4, false});
  EXPECT_EQ(baseline_of(report), 0U);
  EXPECT_THAT(text_of(report, Subject::kMachine), HasSubstr("2 other processes used the GPU when the run began"));
}

TEST(TableOfNights, AnotherProcessOnTheGpuAtTheEndJudgesNothing) {
  history::MeasuredRun run = tonight();
  run.other_processes_at_end = 1;
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kReview, Outcome::kEnvironment, 4, false});
  EXPECT_EQ(baseline_of(report), 0U);
  EXPECT_THAT(text_of(report, Subject::kMachine), HasSubstr("1 other process used the GPU when the run ended"));
}

TEST(TableOfNights, WithoutTheNullControlThatIsUsualNothingIsJudged) {
  const std::vector<history::PastRun> past = healthy_nights();
  GateOptions options;
  options.night = facts_after(past, tonight());
  expect_row(judge_run(past, tonight(), std::nullopt, options), {Headline::kFailed, Outcome::kIncomplete, 7, false});
}

}  // namespace
}  // namespace tbench::gate
