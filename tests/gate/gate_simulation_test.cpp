// Tests the gate on simulated runs whose truth is known: how often the gate is wrong, and what it finds. Seeds are
// fixed, and the bounds are the ones that `tbench gate` promises. TBENCH_LONG_SIMULATION=N in the environment makes
// every simulation N times as long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "simulated_runs.hpp"
#include "tbench/core/text.hpp"

namespace tbench::gate {
namespace {

constexpr std::size_t kSeries = 200;
constexpr double kTau = 0.02;

int times() {
  const char* text = std::getenv("TBENCH_LONG_SIMULATION");
  return text == nullptr ? 1 : static_cast<int>(parse_integer(text).value_or(1));
}

bool alarms(const GateReport& report) {
  return count_of(report, Outcome::kRegressed) + count_of(report, Outcome::kCreep) +
             count_of(report, Outcome::kUnconfirmed) >
         0;
}

/// Returns how many of a hundred runs raise an alarm although nothing changes.
int false_alarms(SimulatedRuns& nights) {
  int alarmed = 0;
  for (int i = 0; i < 100; ++i) alarmed += alarms(nights.night()) ? 1 : 0;
  return alarmed;
}

TEST(SimulatedGate, AHundredQuietNightsOfTwoHundredSeriesGiveAtMostOneAlarm) {
  for (int i = 0; i < times(); ++i) {
    SimulatedRuns nights{1000U + static_cast<unsigned>(i), kSeries};
    EXPECT_LE(false_alarms(nights), 1) << i;
  }
}

TEST(SimulatedGate, RaisesAtMostOneAlarmWithoutKeptBuilds) {
  for (int i = 0; i < times(); ++i) {
    SimulatedRuns nights{2000U + static_cast<unsigned>(i), kSeries};
    nights.keeps_builds = false;
    EXPECT_LE(false_alarms(nights), 1) << i;
  }
}

TEST(SimulatedGate, BimodalNoiseRaisesAtMostOneAlarm) {
  for (int i = 0; i < times(); ++i) {
    SimulatedRuns nights{3000U + static_cast<unsigned>(i), kSeries};
    nights.share_of_slow_mode = 0.2;
    EXPECT_LE(false_alarms(nights), 1) << i;
  }
}

/// Returns the share of regressions by `factor` that are confirmed in the same run. Each follows `history` runs.
double share_found(double factor, int history, int trials) {
  int found = 0;
  for (int trial = 0; trial < trials; ++trial) {
    SimulatedRuns nights{static_cast<std::uint64_t>(trial), 5};
    nights.nights(history);
    nights.build[2] = factor;
    const GateReport report = nights.night();
    found += report.cases[2].outcome == Outcome::kRegressed ? 1 : 0;
    EXPECT_NE(report.cases[1].outcome, Outcome::kRegressed);
  }
  return found / static_cast<double>(trials);
}

TEST(SimulatedGate, OnePercentBeyondTheThresholdIsFound) {
  EXPECT_GE(share_found(1 + kTau + 0.01, 25, 300 * times()), 0.9);
  EXPECT_GE(share_found(1 + kTau + 0.01, 10, 300 * times()), 0.9);
}

TEST(SimulatedGate, OnePercentBeyondTheThresholdIsFoundAgainstTheBaselineOfAYoungSeries) {
  EXPECT_GE(share_found(1 + kTau + 0.01, 3, 300 * times()), 0.9);
}

TEST(SimulatedGate, FindsRegressionsInYoungSeriesWithKnownSpreads) {
  int found = 0;
  const int trials = 30 * times();
  constexpr std::size_t kSlower = 10;
  for (int trial = 0; trial < trials; ++trial) {
    SimulatedRuns nights{static_cast<std::uint64_t>(trial), kSeries};
    nights.nights(3);
    std::fill_n(nights.build.begin(), kSlower, 1 + kTau + 0.01);
    found += static_cast<int>(count_of(nights.night(), Outcome::kRegressed));
  }
  EXPECT_GE(found / (static_cast<double>(trials) * kSlower), 0.9);
}

TEST(SimulatedGate, FindsFivePercentAlwaysAndHalfAPercentNever) {
  EXPECT_EQ(share_found(1.05, 20, 100 * times()), 1);
  EXPECT_EQ(share_found(1.005, 20, 100 * times()), 0);
}

TEST(SimulatedGate, ARegressionIsReportedUntilItIsMended) {
  SimulatedRuns nights{5, 20};
  nights.nights(20);
  nights.build[7] = 1.06;
  const std::string first = nights.night().started;
  for (int i = 0; i < 25; ++i) {
    const GateReport report = nights.night();
    ASSERT_EQ(report.cases[7].outcome, Outcome::kRegressed) << i;
    EXPECT_EQ(report.cases[7].first_bad->started, first);
    EXPECT_EQ(count_of(report, Outcome::kRegressed), 1U);
  }
  nights.build[7] = 1;
  EXPECT_EQ(nights.night().cases[7].outcome, Outcome::kSame);
}

TEST(SimulatedGate, ASpikeOfOneNightIsNeverConfirmed) {
  for (int trial = 0; trial < 20 * times(); ++trial) {
    SimulatedRuns nights{static_cast<std::uint64_t>(trial), 20};
    nights.nights(20);
    // Either the machine is slow only until the candidates are run again, or both builds stay slow.
    const bool is_over = trial % 2 == 0;
    nights.machine.assign(20, 1.1);
    if (is_over) nights.before_confirmation = [&] { nights.machine.assign(20, 1); };
    const GateReport spike = nights.night();
    EXPECT_EQ(count_of(spike, Outcome::kRetried), 20U);
    EXPECT_EQ(exit_status(spike, false), 0);
    nights.before_confirmation = nullptr;
    nights.machine.assign(20, 1);
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(alarms(nights.night()));
  }
}

TEST(SimulatedGate, AnOutageIsOfTheMachineAndGatesNothing) {
  SimulatedRuns nights{11, 20};
  nights.has_ceilings = true;
  nights.nights(20);
  nights.confirmations = 0;
  for (int i = 0; i < 5; ++i) {
    // The machine's speed differs in every run, so the machine has a problem and has not changed for good.
    nights.ceiling = 1.08 + 0.06 * i;
    nights.machine.assign(20, nights.ceiling);
    const GateReport report = nights.night();
    EXPECT_EQ(outcome_of(report), i < 3 ? Outcome::kEnvironment : Outcome::kBlind);
    EXPECT_EQ(report.blind_runs, i + 1);
    EXPECT_EQ(exit_status(report, false), i < 3 ? 0 : kExitBlind);
    EXPECT_EQ(count_of(report, Outcome::kNotJudged), 20U);
    EXPECT_EQ(report.stale.empty(), i < 2) << i;
  }
  EXPECT_EQ(nights.confirmations, 0);
  nights.ceiling = 1;
  nights.machine.assign(20, 1);
  const GateReport after = nights.night();
  EXPECT_EQ(count_of(after, Outcome::kSame), 20U);
  EXPECT_EQ(after.blind_runs, 0);
  EXPECT_THAT(after.stale, testing::IsEmpty());
}

/// Returns the share of healthy runs that were not evaluated. The host's speed varies from run to run.
double share_not_judged(bool has_heavy_tails, int trials) {
  int nights_seen = 0;
  int blind = 0;
  for (int trial = 0; trial < trials; ++trial) {
    SimulatedRuns nights{4000U + static_cast<unsigned>(trial), 12};
    nights.has_ceilings = true;
    nights.night_noise = 0.003;
    nights.has_heavy_tails = has_heavy_tails;
    for (int i = 0; i < 60; ++i, ++nights_seen) blind += is_judged(nights.night()) ? 0 : 1;
  }
  return static_cast<double>(blind) / nights_seen;
}

TEST(SimulatedGate, HealthyNightsAreJudgedThoughTheHostWanders) {
  EXPECT_LE(share_not_judged(false, 20 * times()), 0.01);
  EXPECT_LE(share_not_judged(true, 20 * times()), 0.04);
}

TEST(SimulatedGate, NightEffectsAndAWanderingHostGiveAtMostOneFalseRed) {
  for (int i = 0; i < times(); ++i) {
    SimulatedRuns nights{5000U + static_cast<unsigned>(i), kSeries};
    nights.has_ceilings = true;
    nights.night_noise = 0.0045;
    int red = 0;
    for (int night = 0; night < 100; ++night) red += count_of(nights.night(), Outcome::kRegressed) > 0 ? 1 : 0;
    EXPECT_LE(red, 1) << i;
  }
}

TEST(SimulatedGate, OnePercentBeyondTheThresholdIsFoundThroughTheNoiseOfNights) {
  for (const double noise : {0.0015, 0.003, 0.0045}) {
    int found = 0;
    const int trials = 200 * times();
    for (int trial = 0; trial < trials; ++trial) {
      SimulatedRuns nights{6000U + static_cast<unsigned>(trial), 5};
      nights.night_noise = noise;
      nights.nights(25);
      nights.build[2] = 1 + kTau + 0.01;
      found += nights.night().cases[2].outcome == Outcome::kRegressed ? 1 : 0;
    }
    EXPECT_GE(found / static_cast<double>(trials), 0.9) << noise;
  }
}

/// Returns whether the gate is sure that a case crept.
bool has_crept(const CaseReport& c) { return c.outcome == Outcome::kCreep && c.is_confirmed; }

TEST(SimulatedGate, AFiftiethOfAPercentANightIsConfirmedByItsFiftySeventhDay) {
  int found = 0;
  const int trials = 60 * times();
  for (int trial = 0; trial < trials; ++trial) {
    SimulatedRuns nights{7000U + static_cast<unsigned>(trial), 4, 0.003};
    nights.night_noise = 0.0045;
    nights.nights(30);
    bool is_found = false;
    for (int night = 0; night < 57 && !is_found; ++night) {
      nights.build[1] *= 1.0002;
      is_found = has_crept(nights.night().cases[1]);
    }
    found += is_found ? 1 : 0;
  }
  RecordProperty("found", found);
  EXPECT_GE(found / static_cast<double>(trials), 0.82);
}

TEST(SimulatedGate, NinetyHealthyNightsWithAWanderingHostNeverFailAndAtMostTwoAreNotJudged) {
  int red = 0;
  int not_judged = 0;
  for (unsigned trial = 0; trial < 2; ++trial) {
    SimulatedRuns nights{11'000U + trial, 48, 0.001};
    nights.has_ceilings = true;
    nights.night_noise = 0.0015;
    for (int night = 0; night < 90; ++night) {
      const GateReport report = nights.night();
      red += headline_of(report) == Headline::kFailed ? 1 : 0;
      not_judged += is_judged(report) ? 0 : 1;
    }
  }
  EXPECT_EQ(red, 0);
  EXPECT_LE(not_judged, 2);
}

TEST(SimulatedGate, AMachineThatChangedForGoodIsJudgedAgainAfterThreeNights) {
  for (const bool has_heavy_tails : {false, true}) {
    for (int trial = 0; trial < 10 * times(); ++trial) {
      SimulatedRuns nights{8000U + static_cast<unsigned>(trial), 12};
      nights.has_ceilings = true;
      nights.night_noise = 0.002;
      nights.has_heavy_tails = has_heavy_tails;
      nights.nights(25);
      nights.ceiling = 1.015;
      nights.machine.assign(12, 1.015);
      int blind = 0;
      int changes = 0;
      for (int i = 0; i < 20; ++i) {
        const GateReport report = nights.night();
        blind += !is_judged(report) || report.machine_change ? 1 : 0;
        changes += report.machine_change ? 1 : 0;
      }
      EXPECT_LE(blind, 5) << trial;
      EXPECT_LE(changes, 1) << trial;
      nights.build[7] = 1.06;
      GateReport report = nights.night();
      while (!is_judged(report)) report = nights.night();  // heavy tails can make a run blind by chance
      EXPECT_EQ(report.cases[7].outcome, Outcome::kRegressed) << trial;
    }
  }
}

TEST(SimulatedGate, ABadHostMakesInvalidWhatItLimitsAndNothingElse) {
  SimulatedRuns nights{19, 12};
  nights.has_ceilings = true;
  nights.host_bound = 4;
  nights.nights(20);
  nights.host = 1.6;
  nights.build[7] = 1.06;
  const GateReport report = nights.night();
  EXPECT_TRUE(report.is_valid);
  EXPECT_FALSE(report.host_is_valid);
  for (std::size_t i = 0; i < 12; ++i) {
    const Outcome expected = i < 4 ? Outcome::kNotJudged : i == 7 ? Outcome::kRegressed : Outcome::kSame;
    EXPECT_EQ(report.cases[i].outcome, expected) << i;
  }
}

/// Returns how many runs it takes to find a creep of 0.3 % per run; nothing if 15 runs do not show it.
std::optional<int> nights_until_found(SimulatedRuns& nights) {
  for (int i = 1; i <= 15; ++i) {
    nights.build[3] *= 1.003;
    const GateReport report = nights.night();
    EXPECT_EQ(report.cases[4].outcome, Outcome::kSame);
    const CaseReport& c = report.cases[3];
    const bool is_told = nights.keeps_builds ? has_crept(c) : c.outcome == Outcome::kCreep;
    if (is_told || c.outcome == Outcome::kRegressed) return i;
  }
  return std::nullopt;
}

TEST(SimulatedGate, ASlowCreepIsFoundWithinFifteenNights) {
  int found = 0;
  const int trials = 50 * times();
  for (int trial = 0; trial < trials; ++trial) {
    SimulatedRuns nights{static_cast<std::uint64_t>(trial), 10};
    nights.nights(25);
    nights.keeps_builds = trial % 2 == 0;
    const auto after = nights_until_found(nights);
    found += after ? 1 : 0;
    EXPECT_GE(after.value_or(15), 2) << "0.3 % a night are beyond half a percent after two nights";
  }
  EXPECT_GE(found, 0.98 * trials);
}

TEST(SimulatedGate, ACreepOfTheMachineIsNotTheBuilds) {
  SimulatedRuns nights{17, 10};
  nights.nights(25);
  std::size_t retried = 0;
  for (int i = 0; i < 15; ++i) {
    nights.machine[3] *= 1.003;
    const GateReport report = nights.night();
    EXPECT_EQ(count_of(report, Outcome::kRegressed), 0U);
    retried += count_of(report, Outcome::kRetried);
  }
  EXPECT_GT(retried, 0U);
}

TEST(SimulatedGate, ANewDriverIsAShiftOfTheEpochAndNoRegression) {
  SimulatedRuns nights{13, 20};
  nights.nights(20);
  nights.driver = "590.2";
  nights.machine.assign(20, 1.05);
  const GateReport first = nights.night();
  ASSERT_TRUE(first.epoch_shift.has_value());
  EXPECT_THAT(first.epoch_shift->from, testing::HasSubstr("driver 580.1"));
  EXPECT_THAT(first.epoch_shift->to, testing::HasSubstr("driver 590.2"));
  EXPECT_EQ(first.epoch_shift->cases, 20);
  EXPECT_NEAR(first.epoch_shift->mean_ratio, 1.05, 0.005);
  EXPECT_EQ(first.epoch_shift->beyond.size(), 20U);
  EXPECT_EQ(count_of(first, Outcome::kNew), 20U);
  EXPECT_EQ(exit_status(first, true), 0);
  for (int i = 0; i < 30; ++i) {
    const GateReport report = nights.night();
    EXPECT_FALSE(alarms(report));
    EXPECT_FALSE(report.epoch_shift.has_value());
  }
  nights.build[7] = 1.05;  // the gate checks the new series, too
  EXPECT_EQ(nights.night().cases[7].outcome, Outcome::kRegressed);
}

}  // namespace
}  // namespace tbench::gate
