// Tests how the gate evaluates nightly runs whose cases are faster or slower than before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "expected_outcome.hpp"

namespace tbench::gate {
namespace {

using testing::HasSubstr;

TEST(TableOfNights, AThirdFasterWithinThePeakIsAnImprovement) {
  history::MeasuredRun run = tonight();
  change_cases(run, first, [](results::Replicate& r, std::size_t) { r.time->value /= 1.33; });
  const GateReport report = judge_night(healthy_nights(), run, with_last_good(confirming(1 / 1.33)));
  expect_row(report, {Headline::kPassed, Outcome::kImproved, 0, true});
  EXPECT_EQ(baseline_of(report), kNightCases);
  const GateReport unconfirmed = judge_night(healthy_nights(), run);
  expect_row(unconfirmed, {Headline::kPassed, Outcome::kImproved, 0, false});
  EXPECT_THAT(unconfirmed.warnings, testing::Contains(HasSubstr("1 IMPROVED and not confirmed")));
}

TEST(TableOfNights, TwoSlowProcessesOfFiveAreASplit) {
  history::MeasuredRun run = tonight();
  change_cases(run, first, [](results::Replicate& r, std::size_t process) { r.time->value *= process < 2 ? 1.5 : 1; });
  const GateReport open = judge_night(healthy_nights(), run);
  expect_row(open, {Headline::kReview, Outcome::kSplit, 4, false});
  EXPECT_THAT(open.cases.front().note, HasSubstr("2 of 5 processes slower by 49."));
  EXPECT_EQ(baseline_of(open), kNightCases - 1);
  const GateReport confirmed = judge_night(healthy_nights(), run, with_kept_build(1.5));
  expect_row(confirmed, {Headline::kFailed, Outcome::kSplit, 1, false});
  EXPECT_THAT(confirmed.cases.front().note, HasSubstr("run again: 20 of 20 slow, with the kept build 0 of 20"));
  expect_row(judge_night(healthy_nights(), run, with_kept_build(1)), {Headline::kPassed, Outcome::kRetried, 0, true});
  GateOptions failing = with_kept_build(1);
  failing.confirm_last_good = [confirm = failing.confirm_last_good](const auto& names, std::size_t count) {
    std::vector<ConfirmationBlock> blocks = confirm(names, count);
    blocks[1].next[0].cases[0].replicates[0] = support::failed_replicate(Status::kCrashed, "signal 11");
    return blocks;
  };
  expect_row(judge_night(healthy_nights(), run, failing), {Headline::kFailed, Outcome::kError, 1, false});
  GateOptions silent = with_kept_build(1);
  silent.confirm_last_good = [](const auto&, std::size_t count) { return std::vector<ConfirmationBlock>(count); };
  expect_row(judge_night(healthy_nights(), run, silent), {Headline::kReview, Outcome::kSplit, 4, false});
}

/// Returns nightly runs of which each is slower than the one before by 0.02 %. Noise is added.
std::vector<history::PastRun> drifting_nights(int count) {
  std::vector<history::PastRun> past = healthy_nights(count);
  for (int night = 0; night < count; ++night) {
    for (results::Replicate& r : past[static_cast<std::size_t>(night)].run.cases[0].replicates) {
      r.time->value *= std::exp(0.0002 * night);
    }
  }
  return past;
}

TEST(TableOfNights, AFiftiethOfAPercentANightIsACreep) {
  constexpr int kNights = 54;
  const std::vector<history::PastRun> past = drifting_nights(kNights);
  history::MeasuredRun run = healthy_night(kNights);
  change_cases(run, first, [](results::Replicate& r, std::size_t) { r.time->value *= std::exp(0.0002 * kNights); });
  const GateReport open = judge_night(past, run);
  expect_row(open, {Headline::kReview, Outcome::kCreep, 4, false});
  EXPECT_EQ(baseline_of(open), kNightCases);
  EXPECT_THAT(open.cases.front().note, HasSubstr("% over 55 runs"));
  GateOptions options;
  options.confirm_pinned = confirming_times(1.011);
  const GateReport confirmed = judge_night(past, run, options);
  expect_row(confirmed, {Headline::kFailed, Outcome::kCreep, 1, false});
  EXPECT_EQ(baseline_of(confirmed), kNightCases);
  options.confirm_pinned = confirming_times(1);
  expect_row(judge_night(past, run, options), {Headline::kPassed, Outcome::kRetried, 0, true});
  options.confirm_pinned = [confirm = options.confirm_pinned](const auto& names, std::size_t count) {
    std::vector<ConfirmationBlock> blocks = confirm(names, count);
    for (ConfirmationBlock& block : blocks) {
      for (compare::ComparisonSide& side : block.base) side.cases[0].replicates[0].peak_bytes = 1'000'000'000;
      for (compare::ComparisonSide& side : block.next) side.cases[0].replicates[0].peak_bytes = 2'000'000'000;
    }
    return blocks;
  };
  expect_row(judge_night(past, run, options), {Headline::kFailed, Outcome::kRegressed, 1, false});
}

TEST(TableOfNights, ASlowerFamilyIsRegressedOrUnconfirmed) {
  history::MeasuredRun run = tonight();
  change_cases(
      run, [](std::size_t i) { return i < 8; }, [](results::Replicate& r, std::size_t) { r.time->value *= 1.08; });
  const GateReport confirmed = judge_night(healthy_nights(), run, with_kept_build(1.08));
  expect_row(confirmed, {Headline::kFailed, Outcome::kRegressed, 1, false});
  EXPECT_EQ(count_of(confirmed, Outcome::kRegressed), 8U);
  EXPECT_EQ(baseline_of(confirmed), kNightCases - 8);
  const GateReport open = judge_night(healthy_nights(), run);
  expect_row(open, {Headline::kReview, Outcome::kUnconfirmed, 4, false});
  EXPECT_EQ(baseline_of(open), kNightCases - 8);
}

TEST(TableOfNights, AFastFirstNightIsNoReference) {
  std::vector<history::PastRun> past = healthy_nights(1);
  for (results::MeasuredCase& c : past.front().run.cases) {
    for (results::Replicate& r : c.replicates) r.time->value /= c.id.family() == "Ceiling" ? 1 : 1.1;
  }
  for (int night = 1; night < 6; ++night) {
    const history::MeasuredRun run = healthy_night(night);
    const GateReport report = judge_night(past, run);
    expect_row(report, {Headline::kPassed, night < 3 ? Outcome::kNew : Outcome::kSame, 0, true});
    past.push_back(past_of(run));
  }
}

}  // namespace
}  // namespace tbench::gate
