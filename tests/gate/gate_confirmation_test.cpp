// Tests what the gate concludes after it runs regression candidates again. The runs have no noise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "quiet_runs.hpp"
#include "support/history_samples.hpp"
#include "tbench/gate/gate.hpp"

namespace tbench::gate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(GateConfirmation, AConfirmedRegressionFailsTheNight) {
  const GateReport report = judge(
      quiet_runs(20), {support::timed_case(kCase, around(kTime * 1.05)), support::timed_case(kOther, around(kTime))},
      with_last_good(confirming(1.05)));
  const CaseReport& c = report.cases.at(0);
  EXPECT_EQ(c.outcome, Outcome::kRegressed);
  EXPECT_EQ(c.found_by, "history");
  EXPECT_NEAR(*c.ratio, 1.05, 1e-9);
  // The gate assumes a run-to-run deviation of at least 0.25 %, and the earlier runs vary by less:
  // z = ln(1.05) / (0.0025 sqrt(1 + 1.57 / 20)).
  EXPECT_NEAR(*c.z, std::log(1.05) / (0.0025 * std::sqrt(1 + 1.57 / 20)), 0.01);
  EXPECT_NEAR(*c.confirmed_ratio, 1.05, 0.001);
  EXPECT_LE(*c.adjusted_p, 0.01);
  EXPECT_EQ(c.blocks, 6);
  EXPECT_EQ(c.first_bad->commit, "commit50");
  EXPECT_EQ(report.cases.at(1).outcome, Outcome::kSame);
  EXPECT_EQ(exit_status(report, false), 1);
  EXPECT_FALSE(is_good(report));
}

TEST(GateConfirmation, AnImprovementIsSeenAgainBeforeTheBuildIsKept) {
  const std::vector<results::MeasuredCase> fast{support::timed_case(kCase, around(kTime / 1.2)),
                                                support::timed_case(kOther, around(kTime / 1.1))};
  const GateReport seen = judge(quiet_runs(20), fast, with_last_good(confirming(1 / 1.2)));
  EXPECT_EQ(seen.cases.at(0).outcome, Outcome::kImproved);
  EXPECT_TRUE(seen.cases.at(0).is_confirmed);
  EXPECT_NEAR(seen.cases.at(0).confirmed_ratio.value(), 1 / 1.2, 0.001);
  EXPECT_EQ(seen.cases.at(0).blocks, 6);
  EXPECT_TRUE(is_good(seen));
  const GateReport gone = judge(quiet_runs(20), fast, with_last_good(confirming(1)));
  EXPECT_EQ(gone.cases.at(0).outcome, Outcome::kRetried);
  EXPECT_EQ(exit_status(gone, true), 0);
  const GateReport open = judge(quiet_runs(20), fast);
  EXPECT_EQ(open.cases.at(0).outcome, Outcome::kImproved);
  EXPECT_FALSE(is_good(open));
  EXPECT_EQ(unconfirmed_improvements(open), 2U);
  GateOptions few = with_last_good(confirming(1 / 1.2));
  few.max_suspects = 1;
  const GateReport sample = judge(quiet_runs(20), fast, few);
  EXPECT_EQ(sample.cases.at(1).blocks, 0) << "the smaller one";
  EXPECT_THAT(sample.cases.at(1).note, HasSubstr("one of 2 that are faster, of which the largest 1"));
  EXPECT_TRUE(is_good(sample));
}

TEST(GateConfirmation, WhatIsNotConfirmedFailsNothing) {
  const std::vector<results::MeasuredCase> slow{support::timed_case(kCase, around(kTime * 1.05))};
  const GateReport retried = judge(quiet_runs(20), slow, with_last_good(confirming(1.001)));
  EXPECT_EQ(retried.cases.at(0).outcome, Outcome::kRetried);
  EXPECT_EQ(exit_status(retried, true), 0);
  EXPECT_TRUE(is_good(retried));
  const GateReport unconfirmed = judge(quiet_runs(20), slow);
  EXPECT_EQ(unconfirmed.cases.at(0).outcome, Outcome::kUnconfirmed);
  EXPECT_EQ(exit_status(unconfirmed, false), 0);
  EXPECT_EQ(exit_status(unconfirmed, true), 4);
  EXPECT_FALSE(is_good(unconfirmed));
  const GateReport clock = judge(quiet_runs(20), slow, with_last_good(confirming(1.05, 1 / 1.05)));
  EXPECT_EQ(clock.cases.at(0).outcome, Outcome::kRegressed) << "the sides ran in turns: the clock is the build's doing";
  EXPECT_THAT(clock.cases.at(0).note, HasSubstr("draws more power"));
  const auto other_kind_of_clock = [](const std::vector<std::string>& names, std::size_t count) {
    std::vector<ConfirmationBlock> all = confirming(1.05, 1 / 1.05)(names, count);
    for (ConfirmationBlock& block : all) {
      for (compare::ComparisonSide& run : block.base)
        run.cases[0].replicates[0].clock_kind = results::ClockKind::kPolled;
      for (compare::ComparisonSide& run : block.next)
        run.cases[0].replicates[0].clock_kind = results::ClockKind::kCounted;
    }
    return all;
  };
  const GateReport mixed = judge(quiet_runs(20), slow, with_last_good(other_kind_of_clock));
  EXPECT_EQ(mixed.cases.at(0).outcome, Outcome::kRegressed);
  EXPECT_THAT(mixed.cases.at(0).note, Not(HasSubstr("draws more power"))) << "the clocks come from two sources";
  const auto same_device_time = [](const std::vector<std::string>& names, std::size_t count) {
    std::vector<ConfirmationBlock> all = confirming(1.05)(names, count);
    for (ConfirmationBlock& block : all) {
      for (auto* const side : {&block.base, &block.next}) {
        for (compare::ComparisonSide& run : *side) run.cases[0].replicates[0].device_time = Seconds{kTime / 2};
      }
    }
    return all;
  };
  const GateReport host = judge(quiet_runs(20), slow, with_last_good(same_device_time));
  EXPECT_EQ(host.cases.at(0).outcome, Outcome::kRegressed) << "the sides ran in turns: the host's time is the build's";
  EXPECT_THAT(host.cases.at(0).note, HasSubstr("its host takes longer"));
  const GateReport below = judge(quiet_runs(20), slow, with_last_good(confirming(1.015)));
  EXPECT_EQ(below.cases.at(0).outcome, Outcome::kRetried) << "certain, but less than matters";
}

TEST(GateConfirmation, AFailureOfBothBuildsIsNoErrorAndAWrongResultThatDoesNotRecurIsFlaky) {
  const auto failed_with = [](Status status) {
    return std::vector<results::MeasuredCase>{support::compared_case(
        kCase, {support::timed_replicate(kTime), support::failed_replicate(status, "signal 11")})};
  };
  const std::vector<results::MeasuredCase> failed = failed_with(Status::kCrashed);
  const auto blocks = [](bool next_fails, bool base_fails, Status status = Status::kCrashed) {
    return with_last_good([=](const std::vector<std::string>& names, std::size_t count) {
      std::vector<ConfirmationBlock> all = confirming(1)(names, count);
      if (next_fails) all[2].next[1].cases[0].replicates[0] = support::failed_replicate(status, "signal 11");
      if (base_fails) all[3].base[0].cases[0].replicates[0] = support::failed_replicate(status, "signal 11");
      return all;
    });
  };
  const CaseReport again = judge(quiet_runs(10), failed, blocks(true, false)).cases.at(0);
  EXPECT_EQ(again.outcome, Outcome::kError);
  EXPECT_TRUE(again.is_confirmed);
  EXPECT_EQ(again.found_by, "status");
  EXPECT_THAT(again.note, HasSubstr("crashed in 1 of 2 processes: signal 11"));
  EXPECT_EQ(judge(quiet_runs(10), failed, blocks(false, false)).cases.at(0).outcome, Outcome::kError);
  const auto wrong = failed_with(Status::kIncorrect);
  EXPECT_EQ(judge(quiet_runs(10), wrong, blocks(true, false, Status::kIncorrect)).cases.at(0).outcome, Outcome::kWrong);
  EXPECT_EQ(judge(quiet_runs(10), wrong, blocks(false, false)).cases.at(0).outcome, Outcome::kFlaky);
  EXPECT_EQ(judge(quiet_runs(10), wrong).cases.at(0).outcome, Outcome::kFlaky) << "in one process, and not run again";
  EXPECT_EQ(judge(quiet_runs(10), failed).cases.at(0).outcome, Outcome::kError) << "and not run again";
  EXPECT_EQ(judge(quiet_runs(10), failed, blocks(true, true)).cases.at(0).outcome, Outcome::kNotJudged);
  EXPECT_EQ(judge({}, failed).cases.at(0).outcome, Outcome::kNotJudged) << "never was ok";
  const std::vector<results::MeasuredCase> throttled{
      support::compared_case(kCase, {support::failed_replicate(Status::kThrottled, "hot")})};
  EXPECT_EQ(judge(quiet_runs(10), throttled, blocks(true, false)).cases.at(0).outcome, Outcome::kNotJudged);
}

TEST(GateConfirmation, WhatIsAcceptedIsNotRunAgain) {
  GateOptions options = with_last_good([](const auto&, auto) -> std::vector<ConfirmationBlock> {
    ADD_FAILURE() << "run again";
    return {};
  });
  options.accepted = {results::match_key(kCase)};
  const GateReport report = judge(quiet_runs(20), {support::timed_case(kCase, around(kTime * 1.05))}, options);
  EXPECT_EQ(report.cases.at(0).outcome, Outcome::kSame);
  EXPECT_THAT(report.cases.at(0).note, HasSubstr("accepted"));
}

TEST(GateConfirmation, TooManySuspectsAreCutToTheGravest) {
  std::vector<history::PastRun> past;
  const auto cases = [](double step) {
    std::vector<results::MeasuredCase> all;
    for (int i = 0; i < 6; ++i) {
      all.push_back(
          support::timed_case(CaseId{"Model", {{"size", std::to_string(i)}}}, around(kTime * (1 + step * i))));
    }
    return all;
  };
  for (int night = 0; night < 10; ++night) past.push_back(past_of(support::run_of_night(night, cases(0))));
  std::vector<std::string> again;
  GateOptions options = with_last_good([&](const std::vector<std::string>& names, std::size_t count) {
    again = names;
    return confirming(1.1)(names, count);
  });
  options.max_suspects = 2;
  const GateReport report = judge(past, cases(0.03), options);
  EXPECT_THAT(again, ElementsAre("Model/size:5", "Model/size:4"));
  EXPECT_EQ(count_of(report, Outcome::kRegressed), 2U);
  EXPECT_EQ(count_of(report, Outcome::kUnconfirmed), 3U);
  EXPECT_THAT(report.cases.at(1).note, HasSubstr("one of 5 suspects"));
}

TEST(GateConfirmation, TooFewBlocksConfirmNothing) {
  const auto broken = [](const std::vector<std::string>& names, std::size_t count) {
    std::vector<ConfirmationBlock> all = confirming(1.05)(names, count);
    for (std::size_t i = 2; i < all.size(); ++i) all[i].base.clear();
    return all;
  };
  const CaseReport c =
      judge(quiet_runs(20), {support::timed_case(kCase, around(kTime * 1.05))}, with_last_good(broken)).cases.at(0);
  EXPECT_EQ(c.outcome, Outcome::kNotJudged);
  EXPECT_THAT(c.note, HasSubstr("only 2 of 6 blocks"));
}

}  // namespace
}  // namespace tbench::gate
