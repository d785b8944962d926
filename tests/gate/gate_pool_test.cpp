// Tests several machines of the same model as one series. The runs have no noise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "quiet_runs.hpp"

namespace tbench::gate {
namespace {

using testing::IsEmpty;

/// Returns runs of kCase that each take `time`, with the given numbers.
std::vector<history::PastRun> nights_at(double time, const std::vector<int>& nights,
                                        const std::string& driver = "580.1") {
  std::vector<history::PastRun> past;
  for (const int night : nights) {
    const double wobble = night % 2 == 0 ? 1.0005 : 0.9995;
    past.push_back(past_of(support::run_of_night(night, {support::timed_case(kCase, around(time * wobble))}, driver)));
  }
  return past;
}

constexpr int kTonight = 20;

CaseReport judged_at(double time, const std::vector<history::PastRun>& own,
                     std::vector<std::vector<history::PastRun>> others) {
  GateOptions options;
  options.other_machines = std::move(others);
  const history::MeasuredRun run = support::run_of_night(kTonight, {support::timed_case(kCase, around(time))});
  const GateReport report = judge_run(own, run, std::nullopt, options);
  EXPECT_THAT(report.stale, IsEmpty());
  return report.cases.at(0);
}

const std::vector<int> kOwnNights{1, 7, 13};
const std::vector<int> kOtherNights{2, 4, 6, 8, 10, 12, 14, 16, 18, 19};

TEST(GatePool, OtherMachinesCountAtTheLevelOfThisOne) {
  const auto own = nights_at(kTime, kOwnNights);
  const auto other = nights_at(kTime * 1.3, kOtherNights);
  const CaseReport same = judged_at(kTime, own, {other});
  EXPECT_EQ(same.outcome, Outcome::kSame);
  EXPECT_EQ(same.runs, 13);
  EXPECT_NEAR(same.ratio.value(), 1, 1e-3);
  const CaseReport slower = judged_at(kTime * 1.05, own, {other});
  EXPECT_EQ(slower.outcome, Outcome::kUnconfirmed);
  EXPECT_EQ(slower.found_by, "history");
  EXPECT_NEAR(slower.ratio.value(), 1.05, 1e-3);
  // The last good run was on the other machine, so the regression began after that machine's last run.
  EXPECT_EQ(slower.last_good->started, other.back().run.started);
  // Without the pool, the three runs of this machine are compared with the first of them.
  EXPECT_EQ(judged_at(kTime * 1.05, own, {}).found_by, "baseline");
}

TEST(GatePool, AMachineThatIsHardlyKnownIsJudgedByItself) {
  const auto other = nights_at(kTime * 1.3, kOtherNights);
  const CaseReport two = judged_at(kTime, nights_at(kTime, {1, 13, 19}), {nights_at(kTime * 1.3, {2, 4})});
  EXPECT_EQ(two.runs, 3);
  EXPECT_EQ(judged_at(kTime, nights_at(kTime, {13, 19}), {other}).runs, 2);
  EXPECT_EQ(judged_at(kTime, {}, {other}).outcome, Outcome::kNew);
  // Three runs and three of the other machine are too few for a screen, so the baseline must be this machine's own.
  const CaseReport few = judged_at(kTime, nights_at(kTime, kOwnNights), {nights_at(kTime * 1.3, {14, 15, 19})});
  EXPECT_EQ(few.runs, 3);
  EXPECT_EQ(few.outcome, Outcome::kSame);
}

TEST(GatePool, OtherSoftwareAndRegressionsAreNotTheLevel) {
  const auto own = nights_at(kTime, kOwnNights);
  EXPECT_EQ(judged_at(kTime, own, {nights_at(kTime, kOtherNights, "590.2")}).runs, 3);
  auto other = nights_at(kTime * 1.3, kOtherNights);
  for (std::size_t i = 7; i < other.size(); ++i) {
    other[i].regressed = {results::match_key(kCase)};
    for (results::Replicate& replicate : other[i].run.cases[0].replicates) {
      replicate.time = *replicate.time * 1.05;
    }
  }
  EXPECT_EQ(judged_at(kTime, own, {other}).runs, 10);
  const CaseReport still = judged_at(kTime * 1.05, own, {other});
  EXPECT_EQ(still.outcome, Outcome::kUnconfirmed);
  EXPECT_EQ(still.first_bad->started, other[7].run.started);
}

TEST(GatePool, ACaseThatTheOthersMeasureIsNotStale) {
  GateOptions options;
  options.other_machines = {nights_at(kTime, kOtherNights)};
  history::MeasuredRun run = support::run_of_night(kTonight, {support::timed_case(kOther, around(kTime))});
  EXPECT_THAT(judge_run(nights_at(kTime, kOwnNights), run, std::nullopt, options).stale, IsEmpty());
  EXPECT_EQ(judge_run(nights_at(kTime, kOwnNights), run, std::nullopt, {}).stale.size(), 1U);
}

}  // namespace
}  // namespace tbench::gate
