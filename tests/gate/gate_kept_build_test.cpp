// Tests the first three nightly runs after a fact of the machine changed. The kept build runs once alongside each and
// replaces the earlier runs that are missing. Without the kept build's run, no build is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tbench/gate/gate_output.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/result_json.hpp"
#include "whole_nights.hpp"

namespace tbench::gate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns a run at another power limit, at which every case takes 12 % longer.
history::MeasuredRun night_at_600_w(int night) {
  history::MeasuredRun run = healthy_night(night);
  run.environment.gpu->power_limit_w = 600;
  run.fingerprint = history::fingerprint_of(run.environment);
  change_cases(
      run, [](std::size_t) { return true; }, [](results::Replicate& r, std::size_t) { r.time->value *= 1.12; });
  return run;
}

/// Returns one process of the kept build: the first process of `run`, without the ceilings.
compare::ComparisonSide one_process_of(const history::MeasuredRun& run) {
  compare::ComparisonSide side;
  side.environments = {run.environment};
  for (const results::MeasuredCase& c : run.cases) {
    if (c.id.family() == "Ceiling") continue;
    side.cases.push_back(c);
    side.cases.back().replicates.resize(1);
  }
  return side;
}

/// Returns confirmation blocks in which the new build takes `factor` times as long as the kept build.
Confirm confirming_ratio(double factor, std::vector<std::string>& asked) {
  return [factor, &asked](const std::vector<std::string>& names, std::size_t count) {
    asked = names;
    std::vector<ConfirmationBlock> blocks(count);
    double wobble = 0.0005;
    for (ConfirmationBlock& block : blocks) {
      wobble = -wobble;
      for (const std::string& name : names) {
        const auto side = [&](double seconds) {
          compare::ComparisonSide run;
          run.cases.push_back(support::timed_case(CaseId::parse(name), {seconds}, 1.755e9));
          return run;
        };
        block.base.push_back(side(kCaseTime));
        block.next.push_back(side(kCaseTime * factor * (1 + wobble)));
      }
    }
    return blocks;
  };
}

/// Evaluates a run in an epoch that has `in_epoch` earlier runs. Thirty healthy runs at 700 W precede the epoch.
class YoungEpoch : public testing::Test {
 protected:
  GateReport judged(const history::MeasuredRun& run, int in_epoch = 0) {
    std::vector<history::PastRun> past;
    for (int night = 0; night < in_epoch; ++night) past.push_back(past_of(night_at_600_w(kHealthyNights - 5 + night)));
    options_.night = facts_after(before_, run);
    options_.night->expects_null_control = false;
    if (in_epoch < static_cast<int>(kYoungRuns)) options_.night->before = before_;
    return judge_run(past, run, sound_control(), options_);
  }

  /// Makes the kept build's run return `kept`, and makes confirmations show a ratio of `confirmed`.
  void keep(compare::ComparisonSide kept, double confirmed = 1) {
    options_.run_last_good = [this, kept = std::move(kept)](const std::vector<std::string>& names) {
      ran_ = names;
      return kept;
    };
    options_.confirm_last_good = confirming_ratio(confirmed, confirmed_);
  }

  std::vector<history::PastRun> before_ = healthy_nights();
  GateOptions options_;
  std::vector<std::string> ran_;        // cases that the kept build ran once
  std::vector<std::string> confirmed_;  // cases that were run again
};

const history::MeasuredRun kTonight = night_at_600_w(kHealthyNights);

history::MeasuredRun slower_by(double factor) {
  history::MeasuredRun run = kTonight;
  change_cases(
      run, [](std::size_t i) { return i == 0; }, [&](results::Replicate& r, std::size_t) { r.time->value *= factor; });
  return run;
}

TEST_F(YoungEpoch, IsKeptOnceTheKeptBuildShowsNoCaseSlower) {
  keep(one_process_of(night_at_600_w(kHealthyNights + 1)));
  const GateReport report = judged(kTonight);
  EXPECT_EQ(ran_.size(), kNightCases) << "all cases, and no ceiling";
  ASSERT_TRUE(report.kept_build_run);
  EXPECT_EQ(report.kept_build_run->cases, static_cast<std::int64_t>(kNightCases));
  EXPECT_THAT(report.kept_build_run->differing, IsEmpty());
  EXPECT_THAT(confirmed_, IsEmpty());
  EXPECT_EQ(outcome_of(report), Outcome::kEnvironment) << "the facts are told all the same";
  EXPECT_EQ(exit_status(report, true), kExitUncertain);
  EXPECT_TRUE(is_good(report));
}

TEST_F(YoungEpoch, HidesNoSlowerCase) {
  keep(one_process_of(night_at_600_w(kHealthyNights + 1)), 1.08);
  const GateReport report = judged(slower_by(1.08));
  EXPECT_THAT(confirmed_, ElementsAre(night_case(0).name()));
  EXPECT_EQ(report.cases.front().outcome, Outcome::kRegressed);
  EXPECT_TRUE(report.cases.front().is_confirmed);
  EXPECT_EQ(report.cases.front().found_by, "kept build");
  EXPECT_NEAR(report.cases.front().ratio.value(), 1.08, 0.01);
  EXPECT_EQ(headline_of(report), Headline::kFailed);
  EXPECT_FALSE(is_good(report));
}

TEST_F(YoungEpoch, KeepsABuildWhoseDifferenceIsNotConfirmed) {
  keep(one_process_of(night_at_600_w(kHealthyNights + 1)), 1);
  const GateReport report = judged(slower_by(1.08));
  EXPECT_EQ(report.cases.front().outcome, Outcome::kRetried);
  EXPECT_THAT(report.kept_build_run->differing, ElementsAre(night_case(0).name()));
  EXPECT_TRUE(is_good(report));
}

TEST_F(YoungEpoch, AFasterCaseIsConfirmedToo) {
  keep(one_process_of(night_at_600_w(kHealthyNights + 1)), 0.8);
  const GateReport report = judged(slower_by(0.8));
  EXPECT_THAT(confirmed_, ElementsAre(night_case(0).name()));
  EXPECT_EQ(report.cases.front().outcome, Outcome::kImproved);
  EXPECT_TRUE(report.cases.front().is_confirmed);
  EXPECT_TRUE(is_good(report));
}

TEST_F(YoungEpoch, MemoryAndFailuresAreComparedToo) {
  keep(one_process_of(night_at_600_w(kHealthyNights + 1)));
  history::MeasuredRun run = kTonight;
  for (results::Replicate& r : run.cases[0].replicates) r.peak_bytes = std::int64_t{8} << 30;
  for (results::Replicate& r : run.cases[1].replicates) r = support::failed_replicate(Status::kCrashed, "signal 11");
  compare::ComparisonSide kept = one_process_of(night_at_600_w(kHealthyNights + 1));
  kept.cases[0].replicates[0].peak_bytes = std::int64_t{4} << 30;
  keep(kept);
  const GateReport report = judged(run);
  EXPECT_EQ(report.cases[0].found_by, "memory");
  EXPECT_EQ(report.cases[1].outcome, Outcome::kError);
  EXPECT_FALSE(is_good(report));
}

TEST_F(YoungEpoch, IsNotKeptWithoutAKeptBuild) {
  for (const int in_epoch : {0, 1, 2}) {
    const GateReport report = judged(kTonight, in_epoch);
    ASSERT_TRUE(report.kept_build_run) << in_epoch;
    EXPECT_EQ(report.kept_build_run->cases, 0);
    EXPECT_THAT(report.warnings, Contains(HasSubstr("power limit 700 -> 600 W, and no kept build was run")));
    EXPECT_FALSE(is_good(report));
  }
}

TEST_F(YoungEpoch, IsNotKeptWhereTheKeptBuildLacksACase) {
  compare::ComparisonSide kept = one_process_of(night_at_600_w(kHealthyNights + 1));
  kept.cases.pop_back();
  keep(kept);
  const GateReport report = judged(kTonight);
  EXPECT_THAT(report.kept_build_run->lacking, ElementsAre(night_case(kNightCases - 1).name()));
  EXPECT_FALSE(is_good(report));
  keep({});
  EXPECT_EQ(judged(kTonight).kept_build_run->cases, 0) << "it left no results";
}

TEST_F(YoungEpoch, EndsWithTheThirdNight) {
  keep(one_process_of(night_at_600_w(kHealthyNights + 1)));
  EXPECT_TRUE(judged(kTonight, 2).kept_build_run);
  EXPECT_TRUE(is_good(judged(kTonight, 2)));
  ran_.clear();
  EXPECT_FALSE(judged(kTonight, 3).kept_build_run);
  EXPECT_THAT(ran_, IsEmpty());
}

TEST_F(YoungEpoch, ANewDriverBeginsOneOnTheSameMachine) {
  history::MeasuredRun run = healthy_night(kHealthyNights);
  run.environment.versions["driver"] = "590.1";
  run.epoch = history::epoch_of(run.environment);
  options_.night = facts_after(before_, run);
  const GateReport report = judge_run(before_, run, sound_control(), options_);
  EXPECT_TRUE(report.kept_build_run);
  EXPECT_THAT(report.warnings, Contains(HasSubstr("driver 580.1 -> 590.1, and no kept build was run")));
  EXPECT_FALSE(is_good(report));
}

TEST_F(YoungEpoch, DoesNotRunTheKeptBuildForAnotherWayOfMeasuringOrAFirstMachine) {
  keep(one_process_of(healthy_night(kHealthyNights + 1)));
  history::MeasuredRun run = healthy_night(kHealthyNights);
  run.way = "min_time_s 0.05, samples 60";
  options_.night = facts_after(before_, run);
  EXPECT_FALSE(judge_run(before_, run, sound_control(), options_).kept_build_run);
  before_.clear();
  EXPECT_FALSE(judged(kTonight).kept_build_run);
  EXPECT_THAT(ran_, IsEmpty());
}

TEST_F(YoungEpoch, TheReportSaysWhatTheKeptBuildDid) {
  keep(one_process_of(night_at_600_w(kHealthyNights + 1)));
  const GateReport report = judged(slower_by(1.08));
  EXPECT_THAT(report_page(report, {}), HasSubstr("48 cases measured with both builds, of which 1 differs"));
  EXPECT_THAT(report_page(report, {}), HasSubstr("differs: " + night_case(0).name()));
  EXPECT_EQ(report_from_json(report_to_json(report)), report);
  options_.run_last_good = {};
  EXPECT_THAT(report_page(judged(kTonight), {}), HasSubstr("it was not run, so tonight's build is not kept"));
}

}  // namespace
}  // namespace tbench::gate
