// Tests which cases look regressed, on runs without noise. gate_simulation_test.cpp has runs with noise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "quiet_runs.hpp"
#include "support/history_samples.hpp"
#include "tbench/gate/gate.hpp"

namespace tbench::gate {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(GateScreen, AScoreAndAThresholdAreBothNeeded) {
  const auto verdict = [](double factor) {
    return judge(quiet_runs(20), {support::timed_case(kCase, around(kTime * factor))}).cases.at(0).outcome;
  };
  EXPECT_EQ(verdict(1.019), Outcome::kSame);
  EXPECT_EQ(verdict(1.021), Outcome::kUnconfirmed);
  EXPECT_EQ(verdict(1 / 1.021), Outcome::kImproved);
  std::vector<history::PastRun> noisy = quiet_runs(20);
  for (std::size_t i = 0; i < noisy.size(); i += 2)
    noisy[i] = past_of(support::run_of_night(static_cast<int>(i), {support::timed_case(kCase, around(kTime * 1.03))}));
  EXPECT_EQ(judge(noisy, {support::timed_case(kCase, around(kTime * 1.05))}).cases.at(0).outcome, Outcome::kSame);
}

TEST(GateScreen, FewNightsAreComparedWithTheirBaseline) {
  const auto report = [](double factor) {
    return judge(quiet_runs(4), {support::timed_case(kCase, around(kTime * factor))});
  };
  EXPECT_EQ(report(1.05).cases.at(0).outcome, Outcome::kUnconfirmed);
  EXPECT_EQ(report(1.05).cases.at(0).found_by, "baseline");
  EXPECT_EQ(report(1).cases.at(0).outcome, Outcome::kSame);
  EXPECT_EQ(report(0.9).cases.at(0).outcome, Outcome::kImproved);
}

/// Returns five times that differ by so much that three earlier runs decide nothing.
std::vector<double> scattered(double seconds) {
  return {seconds * 0.9, seconds * 0.95, seconds, seconds * 1.06, seconds * 1.12};
}

TEST(GateScreen, WhatFewNightsDoNotDecideIsUndecidedAndNotKept) {
  for (int nights = 3; nights < 8; ++nights) {
    const GateReport report = judge(quiet_runs(nights), {support::timed_case(kCase, scattered(kTime * 1.03))});
    const CaseReport& c = report.cases.at(0);
    EXPECT_EQ(c.outcome, Outcome::kUndecided) << nights;
    EXPECT_THAT(c.note, HasSubstr(std::to_string(nights) + " earlier runs give no spread between runs"));
    EXPECT_THAT(c.note, ContainsRegex("95 % interval -[0-9.]+ to [+][0-9.]+ %"));
    EXPECT_TRUE(is_baseline(c)) << "without it, there would never be eight runs";
    EXPECT_FALSE(is_good(report)) << "nothing shows that it is not slower";
    EXPECT_EQ(exit_status(report, false), 0);
    EXPECT_EQ(exit_status(report, true), 4);
    EXPECT_EQ(headline_of(report), Headline::kReview);
  }
  EXPECT_EQ(judge(quiet_runs(8), {support::timed_case(kCase, scattered(kTime))}).cases.at(0).outcome, Outcome::kSame);
  EXPECT_EQ(judge(quiet_runs(2), {support::timed_case(kCase, scattered(kTime))}).cases.at(0).outcome, Outcome::kNew);
  const GateReport one = judge(quiet_runs(4), {support::timed_case(kCase, {kTime})});
  EXPECT_EQ(one.cases.at(0).outcome, Outcome::kUndecided) << "one process";
}

TEST(GateScreen, TheRatioIsThatOfTheTwoTimes) {
  const std::vector<double> times{kTime * 1.1, kTime * 1.1, kTime * 1.1, kTime * 1.2, kTime * 1.3};
  for (const int nights : {2, 4, 20}) {
    const CaseReport c = judge(quiet_runs(nights), {support::timed_case(kCase, times)}).cases.at(0);
    EXPECT_NEAR(c.candidate->value, kTime * 1.1, 1e-12) << "the median";
    EXPECT_NEAR(c.ratio.value(), *c.candidate / *c.reference, 1e-12) << nights;
  }
}

TEST(GateScreen, MemoryIsExact) {
  std::vector<history::PastRun> past;
  for (int night = 0; night < 10; ++night) {
    past.push_back(
        past_of(support::run_of_night(night, {with_memory(support::timed_case(kCase, around(kTime)), 1'000'000'000)})));
  }
  const auto judged_with = [&](std::int64_t bytes, const GateOptions& options = {}) {
    return judge(past, {with_memory(support::timed_case(kCase, around(kTime)), bytes)}, options).cases.at(0);
  };
  EXPECT_EQ(judged_with(1'004'000'000).outcome, Outcome::kSame);
  EXPECT_EQ(judged_with(1'006'000'000).outcome, Outcome::kUnconfirmed);
  EXPECT_EQ(judged_with(1'006'000'000).found_by, "memory");
  const auto blocks = [](std::int64_t bytes) {
    return with_last_good([bytes](const std::vector<std::string>& names, std::size_t count) {
      std::vector<ConfirmationBlock> all = confirming(1)(names, count);
      for (ConfirmationBlock& block : all) {
        for (compare::ComparisonSide& run : block.base) run.cases[0].replicates[0].peak_bytes = 1'000'000'000;
        for (compare::ComparisonSide& run : block.next) run.cases[0].replicates[0].peak_bytes = bytes;
      }
      return all;
    });
  };
  EXPECT_EQ(judged_with(1'006'000'000, blocks(1'006'000'000)).outcome, Outcome::kRegressed);
  EXPECT_EQ(judged_with(1'006'000'000, blocks(1'000'000'000)).outcome, Outcome::kRetried);
}

/// Returns quiet runs. Only the last `traced` of them record the GPU's work per step, which is kDevice seconds.
constexpr double kDevice = 0.02;
std::vector<history::PastRun> traced_runs(int count, int traced) {
  std::vector<history::PastRun> past = quiet_runs(count);
  for (std::size_t i = past.size() - static_cast<std::size_t>(traced); i < past.size(); ++i) {
    for (results::MeasuredCase& c : past[i].run.cases) c = with_device_time(std::move(c), kDevice);
  }
  return past;
}

GateOptions never_run_again() {
  return with_last_good([](const auto&, auto) -> std::vector<ConfirmationBlock> {
    ADD_FAILURE() << "run again";
    return {};
  });
}

TEST(GateScreen, AStepThatTheGpuDoesNotShareIsTheHosts) {
  const auto judged = [](double step, double device, const GateOptions& options) {
    const results::MeasuredCase c = support::timed_case(kCase, around(kTime * step));
    return judge(traced_runs(20, 20), {with_device_time(c, kDevice * device)}, options);
  };
  const GateReport report = judged(1.2, 1, never_run_again());
  const CaseReport& host = report.cases.at(0);
  EXPECT_EQ(host.outcome, Outcome::kHost);
  EXPECT_NEAR(host.ratio.value(), 1.2, 1e-9);
  EXPECT_NEAR(host.device_ratio.value(), 1, 1e-9);
  EXPECT_EQ(host.found_by, "");
  EXPECT_EQ(exit_status(report, false), 0);
  EXPECT_EQ(exit_status(report, true), 4);
  EXPECT_TRUE(is_good(report)) << "the GPU took no longer";
  EXPECT_EQ(judged(1 / 1.2, 1, never_run_again()).cases.at(0).outcome, Outcome::kHost) << "as diff does";
  EXPECT_EQ(judged(1.2, 1.019, never_run_again()).cases.at(0).outcome, Outcome::kHost);
  // A slower case is run again if its kernels are slower by more than the threshold, whatever the host did.
  EXPECT_EQ(judged(1.2, 1.08, with_last_good(confirming(1.08))).cases.at(0).outcome, Outcome::kRegressed);
  EXPECT_EQ(judged(1.08, 1.08, with_last_good(confirming(1.08))).cases.at(0).outcome, Outcome::kRegressed);
  EXPECT_EQ(judged(1 / 1.08, 1 / 1.08, with_last_good(confirming(1 / 1.08))).cases.at(0).outcome, Outcome::kImproved);
  EXPECT_EQ(judged(1, 1.08, never_run_again()).cases.at(0).outcome, Outcome::kSame)
      << "the step is what users wait for";
}

TEST(GateScreen, TheHostIsBlamedWhereEnoughRunsKnowTheGpusTime) {
  const auto verdict = [](int traced, bool is_traced) {
    const results::MeasuredCase c = support::timed_case(kCase, around(kTime * 1.2));
    return judge(traced_runs(20, traced), {is_traced ? with_device_time(c, kDevice) : c}).cases.at(0);
  };
  EXPECT_EQ(verdict(8, true).outcome, Outcome::kHost) << "runs from before the history had device times are skipped";
  EXPECT_EQ(verdict(7, true).outcome, Outcome::kUnconfirmed);
  EXPECT_FALSE(verdict(7, true).device_ratio.has_value());
  EXPECT_EQ(verdict(20, false).outcome, Outcome::kUnconfirmed);
}

TEST(GateScreen, FewNightsTellTheHostByTheirBaseline) {
  const results::MeasuredCase c = with_device_time(support::timed_case(kCase, around(kTime * 1.2)), kDevice);
  const CaseReport host = judge(traced_runs(4, 4), {c}, never_run_again()).cases.at(0);
  EXPECT_EQ(host.outcome, Outcome::kHost);
  EXPECT_NEAR(host.device_ratio.value(), 1, 1e-9);
}

/// For the same tensors, the size of the allocator's blocks depends on what ran before.
TEST(GateScreen, MemoryIsWhatTensorsAskedForWhereEveryRunKnowsIt) {
  constexpr std::int64_t kUsual = 1'000'000'000;
  constexpr std::int64_t kMore = 1'020'000'000;
  const auto run = [](int night, std::int64_t allocated, std::optional<std::int64_t> requested) {
    const results::MeasuredCase timed = support::timed_case(kCase, around(kTime));
    return past_of(support::run_of_night(
        night, {requested ? with_memory(timed, allocated, *requested) : with_memory(timed, allocated)}));
  };
  const auto verdict_of = [](const std::vector<history::PastRun>& past, std::int64_t allocated,
                             std::int64_t requested) {
    return judge(past, {with_memory(support::timed_case(kCase, around(kTime)), allocated, requested)})
        .cases.at(0)
        .outcome;
  };
  std::vector<history::PastRun> past;
  for (int night = 0; night < 10; ++night) past.push_back(run(night, kUsual, kUsual));
  EXPECT_EQ(verdict_of(past, kMore, kUsual), Outcome::kSame);
  EXPECT_EQ(verdict_of(past, kUsual, kMore), Outcome::kUnconfirmed);
  past.back() = run(9, kUsual, std::nullopt);  // from an older program: all runs are compared by their blocks
  EXPECT_EQ(verdict_of(past, kUsual, kMore), Outcome::kSame);
  EXPECT_EQ(verdict_of(past, kMore, kUsual), Outcome::kUnconfirmed);
}

TEST(GateScreen, MemoryOfACaseWhoseHostTookLongerIsStillRunAgain) {
  std::vector<history::PastRun> past = traced_runs(20, 20);
  for (history::PastRun& run : past) run.run.cases[0] = with_memory(run.run.cases[0], 1'000'000'000);
  results::MeasuredCase c = with_device_time(support::timed_case(kCase, around(kTime * 1.2)), kDevice);
  c = with_memory(std::move(c), 1'100'000'000);
  EXPECT_EQ(judge(past, {c}, with_last_good(confirming(1))).cases.at(0).outcome, Outcome::kRetried);
}

TEST(GateScreen, OtherWorkIsNotCompared) {
  std::vector<history::PastRun> past;
  for (int night = 0; night < 10; ++night)
    past.push_back(past_of(support::run_of_night(night, {with_work(support::timed_case(kCase, around(kTime)), 1e12)})));
  const CaseReport c = judge(past, {with_work(support::timed_case(kCase, around(2 * kTime)), 2e12)}).cases.at(0);
  EXPECT_EQ(c.outcome, Outcome::kNotJudged);
  EXPECT_THAT(c.note, HasSubstr("FLOP count differs"));
}

TEST(GateScreen, ConfirmedNightsAreNotWhatIsUsual) {
  std::vector<history::PastRun> past = quiet_runs(20);
  for (int night = 20; night < 35; ++night) {
    past.push_back(past_of(support::run_of_night(night, {support::timed_case(kCase, around(kTime * 1.05))})));
    past.back().regressed = {results::match_key(kCase)};
  }
  const CaseReport c =
      judge(past, {support::timed_case(kCase, around(kTime * 1.05))}, with_last_good(confirming(1.05))).cases.at(0);
  EXPECT_EQ(c.outcome, Outcome::kRegressed);
  EXPECT_EQ(c.first_bad->commit, "commit20");
  EXPECT_EQ(c.last_good->commit, "commit19");
  EXPECT_THAT(c.since, ElementsAre("commit: commit19 against commit20"));
}

TEST(GateScreen, APinnedNightStartsTheHistoryAnew) {
  std::vector<history::PastRun> past = quiet_runs(20);
  past.push_back(past_of(support::run_of_night(
      30, {support::timed_case(kCase, around(kTime * 1.05)), support::timed_case(kOther, around(kTime))})));
  past.back().baseline_of = {results::match_key(kCase)};
  const GateReport report = judge(
      past, {support::timed_case(kCase, around(kTime * 1.05)), support::timed_case(kOther, around(kTime * 1.05))});
  EXPECT_EQ(report.cases.at(0).outcome, Outcome::kNew) << "of one run nobody knows whether it is the odd one";
  EXPECT_NEAR(report.cases.at(0).ratio.value(), 1, 1e-9);
  EXPECT_EQ(report.cases.at(0).runs, 1);
  EXPECT_EQ(report.cases.at(1).outcome, Outcome::kUnconfirmed);
}

TEST(GateScreen, NightsThatWereNotValidTellNothing) {
  std::vector<history::PastRun> past = quiet_runs(12);
  for (int night = 12; night < 20; ++night) {
    past.push_back(past_of(support::run_of_night(night, {support::timed_case(kCase, around(kTime * 1.2))})));
    past.back().is_valid = false;
  }
  const GateReport report = judge(past, {support::timed_case(kCase, around(kTime))});
  EXPECT_EQ(report.runs, 12);
  EXPECT_EQ(report.cases.at(0).runs, 12);
  EXPECT_EQ(report.cases.at(0).outcome, Outcome::kSame);
}

TEST(GateScreen, SpreadsComeFromInsideTheNights) {
  const auto dispersions = known_dispersions(quiet_runs(5), support::run_of_night(0, {}).epoch);
  // Deviations from the mean: -0.2, -0.1, 0, 0.1, 0.2 %. The variance is (2 * 0.04 + 2 * 0.01) / 4 = 0.025 %^2.
  EXPECT_NEAR(dispersions.at(results::match_key(kCase)).standard_deviation, 0.00158, 0.00001);
  EXPECT_EQ(dispersions.at(results::match_key(kCase)).degrees_of_freedom, 0)
      << "two cases tell too little of the weight";
  EXPECT_TRUE(known_dispersions(quiet_runs(2), support::run_of_night(0, {}).epoch).empty())
      << "eight degrees of freedom are few";
  EXPECT_TRUE(known_dispersions(quiet_runs(5), "another epoch").empty());
  std::vector<history::PastRun> changed = quiet_runs(5);
  const std::string measured = changed.front().run.epoch;
  for (std::size_t i = 2; i < changed.size(); ++i) changed[i].run.epoch = history::machine_epoch(measured, "2026");
  EXPECT_EQ(known_dispersions(changed, measured).size(), 2U) << "of the machine as it is now";
}

}  // namespace
}  // namespace tbench::gate
