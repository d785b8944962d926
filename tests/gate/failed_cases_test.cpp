// Tests how the gate evaluates nightly runs with wrong results, crashes and impossible times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "expected_outcome.hpp"

namespace tbench::gate {
namespace {

using testing::HasSubstr;

history::MeasuredRun failed_night(Status status) {
  history::MeasuredRun run = tonight();
  change_cases(run, first,
               [&](results::Replicate& r, std::size_t) { r = support::failed_replicate(status, "planted"); });
  return run;
}

TEST(TableOfNights, WrongResultsThatDoNotComeBackAreFlaky) {
  const GateReport report = judge_night(healthy_nights(), failed_night(Status::kIncorrect), with_kept_build(1));
  expect_row(report, {Headline::kFailed, Outcome::kFlaky, 1, false});
  EXPECT_EQ(baseline_of(report), kNightCases - 1);
}

TEST(TableOfNights, WrongResultsThatComeBackAreWrongUnlessTheKeptBuildHasThemToo) {
  const history::MeasuredRun run = failed_night(Status::kIncorrect);
  expect_row(judge_night(healthy_nights(), run, with_kept_build(1, Status::kIncorrect)),
             {Headline::kFailed, Outcome::kWrong, 1, false});
  expect_row(judge_night(healthy_nights(), run, with_kept_build(1, Status::kIncorrect, Status::kIncorrect)),
             {Headline::kReview, Outcome::kNotJudged, 4, false});
}

TEST(TableOfNights, CrashesAreErrorsAlsoWithoutAKeptBuildAndInANightThatIsNotJudged) {
  history::MeasuredRun run = tonight();
  change_cases(run, all, [](results::Replicate& r, std::size_t) {
    r = support::failed_replicate(Status::kCrashed, "signal 11");
  });
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kFailed, Outcome::kError, 1, false});
  EXPECT_EQ(count_of(report, Outcome::kError), kNightCases);
  EXPECT_EQ(baseline_of(report), 0U);
  run.was_interrupted = true;
  const GateReport cut = judge_night(healthy_nights(), run);
  expect_row(cut, {Headline::kFailed, Outcome::kError, 1, false});
  EXPECT_THAT(cut.cases.front().note, HasSubstr("crashed in 5 of 5 processes: signal 11"));
}

TEST(TableOfNights, WhatIsFasterThanTheGpuIsImpossible) {
  history::MeasuredRun run = tonight();
  change_cases(run, first, [](results::Replicate& r, std::size_t) {
    r.time->value /= 10;
    r.peak_share_at_clock = 7.0;
    r.ceiling_share = 9.0;
  });
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kFailed, Outcome::kImpossible, 1, false});
  EXPECT_THAT(report.cases.front().note, HasSubstr("9.00 times the ceiling gemm_bf16"));
  EXPECT_EQ(baseline_of(report), kNightCases - 1);
  change_cases(run, first, [](results::Replicate& r, std::size_t) { r.ceiling_share.reset(); });
  EXPECT_THAT(judge_night(healthy_nights(), run).cases.front().note, HasSubstr("6.20 times the GPU's peak"));
}

}  // namespace
}  // namespace tbench::gate
