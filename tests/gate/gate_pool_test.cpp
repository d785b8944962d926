// Several machines of a kind as one series: on runs without noise, and on simulated nights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "quiet_runs.hpp"
#include "simulated_runs.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::gate {
namespace {

using testing::IsEmpty;

/// Nights of kCase at `time` a night, on the nights given.
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
  EXPECT_EQ(same.verdict, Verdict::kPassed);
  EXPECT_EQ(same.runs, 13);
  EXPECT_NEAR(same.ratio.value(), 1, 1e-3);
  const CaseReport slower = judged_at(kTime * 1.05, own, {other});
  EXPECT_EQ(slower.verdict, Verdict::kUnconfirmed);
  EXPECT_EQ(slower.found_by, "history");
  EXPECT_NEAR(slower.ratio.value(), 1.05, 1e-3);
  // Good last on the other machine, whose nights tell when it began.
  EXPECT_EQ(slower.last_good->started, other.back().run.started);
  // Without the pool, three nights are compared with the first.
  EXPECT_EQ(judged_at(kTime * 1.05, own, {}).found_by, "baseline");
}

TEST(GatePool, AMachineThatIsHardlyKnownIsJudgedByItself) {
  const auto other = nights_at(kTime * 1.3, kOtherNights);
  const CaseReport two = judged_at(kTime, nights_at(kTime, {1, 13, 19}), {nights_at(kTime * 1.3, {2, 4})});
  EXPECT_EQ(two.runs, 3);
  EXPECT_EQ(judged_at(kTime, nights_at(kTime, {13, 19}), {other}).runs, 2);
  EXPECT_EQ(judged_at(kTime, {}, {other}).verdict, Verdict::kNew);
  // Three and three are too few for a screen: the baseline has to be this machine's own.
  const CaseReport few = judged_at(kTime, nights_at(kTime, kOwnNights), {nights_at(kTime * 1.3, {14, 15, 19})});
  EXPECT_EQ(few.runs, 3);
  EXPECT_EQ(few.verdict, Verdict::kPassed);
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
  EXPECT_EQ(still.verdict, Verdict::kUnconfirmed);
  EXPECT_EQ(still.first_bad->started, other[7].run.started);
}

TEST(GatePool, ACaseThatTheOthersMeasureIsNotStale) {
  GateOptions options;
  options.other_machines = {nights_at(kTime, kOtherNights)};
  history::MeasuredRun run = support::run_of_night(kTonight, {support::timed_case(kOther, around(kTime))});
  EXPECT_THAT(judge_run(nights_at(kTime, kOwnNights), run, std::nullopt, options).stale, IsEmpty());
  EXPECT_EQ(judge_run(nights_at(kTime, kOwnNights), run, std::nullopt, {}).stale.size(), 1U);
}

/// Every night one of several machines at random, as a cluster's scheduler picks it. Machines differ by 1.2 %, and in
/// each series by 10 % more, as hosts do.
class PooledNights {
 public:
  PooledNights(std::uint64_t seed, std::size_t series, std::size_t machines, bool is_pooled)
      : nights{seed, series}, is_pooled_{is_pooled}, random_{seed + 1}, past_(machines) {
    std::normal_distribution<double> of_gpu{0, 0.012};
    std::normal_distribution<double> of_host{0, 0.1};
    for (std::size_t i = 0; i < machines; ++i) {
      gpus_.push_back(std::exp(of_gpu(random_)));
      std::vector<double>& levels = levels_.emplace_back();
      for (std::size_t j = 0; j < series; ++j) levels.push_back(gpus_.back() * std::exp(of_host(random_)));
    }
  }

  GateReport night() {
    const std::size_t tonight = random_() % past_.size();
    nights.machine = levels_[tonight];
    nights.ceiling = gpus_[tonight];
    nights.past = std::move(past_[tonight]);
    past_[tonight].clear();
    if (is_pooled_) nights.other_machines = std::move(past_);
    GateReport report = nights.night();
    if (is_pooled_) past_ = std::move(nights.other_machines);
    past_[tonight] = std::move(nights.past);
    return report;
  }

  SimulatedRuns nights;

 private:
  bool is_pooled_;
  std::mt19937_64 random_;
  std::vector<double> gpus_;
  std::vector<std::vector<double>> levels_;  // by machine and series
  std::vector<std::vector<history::PastRun>> past_;
};

TEST(SimulatedGatePool, AHundredNightsOnFourMachinesGiveAtMostOneFalseRed) {
  PooledNights pool{9000, 200, 4, true};
  pool.nights.has_ceilings = true;
  pool.nights.night_noise = 0.0045;
  int red = 0;
  int blind = 0;
  for (int night = 0; night < 100; ++night) {
    const GateReport report = pool.night();
    red += count_of(report, Verdict::kRegressed) > 0 ? 1 : 0;
    blind += is_blind(report) ? 1 : 0;
  }
  RecordProperty("red", red);
  RecordProperty("blind", blind);
  EXPECT_LE(red, 1);
  EXPECT_LE(blind, 1);
}

TEST(SimulatedGatePool, OnePercentBeyondTheThresholdIsFoundInItsFirstNight) {
  for (const double noise : {0.0015, 0.003, 0.0045}) {
    int found = 0;
    constexpr int kTrials = 200;
    for (int trial = 0; trial < kTrials; ++trial) {
      PooledNights pool{9100U + static_cast<unsigned>(trial), 5, 4, true};
      pool.nights.night_noise = noise;
      for (int i = 0; i < 40; ++i) pool.night();
      pool.nights.build[2] = 1.03;
      found += pool.night().cases[2].verdict == Verdict::kRegressed ? 1 : 0;
    }
    RecordProperty("found_" + std::to_string(noise), found);
    EXPECT_GE(found / static_cast<double>(kTrials), 0.9) << noise;
  }
}

/// Share of series on eight machines that creep by 0.02 % a night and are found within 60 nights.
double share_of_creeps(bool is_pooled) {
  int found = 0;
  constexpr int kTrials = 60;
  for (int trial = 0; trial < kTrials; ++trial) {
    PooledNights pool{9400U + static_cast<unsigned>(trial), 4, 8, is_pooled};
    pool.nights.night_noise = 0.0045;
    for (int i = 0; i < 25; ++i) pool.night();
    bool is_found = false;
    for (int night = 0; night < 60 && !is_found; ++night) {
      pool.nights.build[1] *= 1.0002;
      is_found = pool.night().cases[1].verdict == Verdict::kRegressed;
    }
    found += is_found ? 1 : 0;
  }
  return found / static_cast<double>(kTrials);
}

TEST(SimulatedGatePool, ACreepThatNoMachineSeesByItselfIsFound) {
  const double alone = share_of_creeps(false);
  const double pooled = share_of_creeps(true);
  RecordProperty("alone", std::to_string(alone));
  RecordProperty("pooled", std::to_string(pooled));
  EXPECT_GE(pooled, 0.8);
  EXPECT_GE(pooled, alone + 0.2);
}

}  // namespace
}  // namespace tbench::gate
