// The gate on simulated nights, whose truth is known: how often it is wrong, and what it finds. Seeds are fixed, the
// bounds are what `tbench gate` promises. TBENCH_LONG_SIMULATION=N in the environment makes everything N times as long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "simulated_nights.hpp"
#include "tbench/core/text.hpp"

namespace tbench::report {
namespace {

constexpr std::size_t kSeries = 200;
constexpr double kTau = 0.02;

int times() {
  const char* text = std::getenv("TBENCH_LONG_SIMULATION");
  return text == nullptr ? 1 : static_cast<int>(parse_integer(text).value_or(1));
}

bool alarms(const NightReport& report) {
  return count_of(report, NightVerdict::kRegressed) + count_of(report, NightVerdict::kCreep) +
             count_of(report, NightVerdict::kUnconfirmed) >
         0;
}

/// Of a hundred nights in which nothing happens, those with any alarm.
int false_alarms(SimulatedNights& nights) {
  int alarmed = 0;
  for (int i = 0; i < 100; ++i) alarmed += alarms(nights.night()) ? 1 : 0;
  return alarmed;
}

TEST(SimulatedGate, AHundredQuietNightsOfTwoHundredSeriesGiveAtMostOneAlarm) {
  for (int i = 0; i < times(); ++i) {
    SimulatedNights nights{1000U + static_cast<unsigned>(i), kSeries};
    EXPECT_LE(false_alarms(nights), 1) << i;
  }
}

TEST(SimulatedGate, WithoutKeptBuildsToo) {
  for (int i = 0; i < times(); ++i) {
    SimulatedNights nights{2000U + static_cast<unsigned>(i), kSeries};
    nights.keeps_builds = false;
    EXPECT_LE(false_alarms(nights), 1) << i;
  }
}

TEST(SimulatedGate, NoiseOfTwoModesGivesNoMore) {
  for (int i = 0; i < times(); ++i) {
    SimulatedNights nights{3000U + static_cast<unsigned>(i), kSeries};
    nights.share_of_slow_mode = 0.2;
    EXPECT_LE(false_alarms(nights), 1) << i;
  }
}

/// Share of the regressions of `factor`, each on a history of so many nights, that were confirmed the same night.
double share_found(double factor, int history, int trials) {
  int found = 0;
  for (int trial = 0; trial < trials; ++trial) {
    SimulatedNights nights{static_cast<std::uint64_t>(trial), 5};
    nights.nights(history);
    nights.build[2] = factor;
    const NightReport report = nights.night();
    found += report.cases[2].verdict == NightVerdict::kRegressed ? 1 : 0;
    EXPECT_NE(report.cases[1].verdict, NightVerdict::kRegressed);
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

TEST(SimulatedGate, AmongTwoHundredYoungSeriesTooThanksToTheSpreadsThatTheHistoryKnows) {
  int found = 0;
  const int trials = 30 * times();
  constexpr std::size_t kSlower = 10;
  for (int trial = 0; trial < trials; ++trial) {
    SimulatedNights nights{static_cast<std::uint64_t>(trial), kSeries};
    nights.nights(3);
    std::fill_n(nights.build.begin(), kSlower, 1 + kTau + 0.01);
    found += static_cast<int>(count_of(nights.night(), NightVerdict::kRegressed));
  }
  EXPECT_GE(found / (static_cast<double>(trials) * kSlower), 0.9);
}

TEST(SimulatedGate, LargerOnesAlwaysAndHalfTheThresholdNever) {
  EXPECT_EQ(share_found(1.05, 20, 100 * times()), 1);
  EXPECT_EQ(share_found(1 + kTau / 2, 20, 100 * times()), 0);
}

TEST(SimulatedGate, ARegressionIsReportedUntilItIsMended) {
  SimulatedNights nights{5, 20};
  nights.nights(20);
  nights.build[7] = 1.06;
  const std::string first = nights.night().started;
  for (int i = 0; i < 25; ++i) {
    const NightReport report = nights.night();
    ASSERT_EQ(report.cases[7].verdict, NightVerdict::kRegressed) << i;
    EXPECT_EQ(report.cases[7].first_bad->started, first);
    EXPECT_EQ(count_of(report, NightVerdict::kRegressed), 1U);
  }
  nights.build[7] = 1;
  EXPECT_EQ(nights.night().cases[7].verdict, NightVerdict::kPassed);
}

TEST(SimulatedGate, ASpikeOfOneNightIsNeverConfirmed) {
  for (int trial = 0; trial < 20 * times(); ++trial) {
    SimulatedNights nights{static_cast<std::uint64_t>(trial), 20};
    nights.nights(20);
    // The night was slow, and is over when the candidates are run again; or both builds are slow then.
    const bool is_over = trial % 2 == 0;
    nights.machine.assign(20, 1.1);
    if (is_over) nights.before_confirmation = [&] { nights.machine.assign(20, 1); };
    const NightReport spike = nights.night();
    EXPECT_EQ(count_of(spike, NightVerdict::kRetried), 20U);
    EXPECT_EQ(exit_status(spike, false), 0);
    nights.before_confirmation = nullptr;
    nights.machine.assign(20, 1);
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(alarms(nights.night()));
  }
}

TEST(SimulatedGate, AnOutageIsOfTheMachineAndGatesNothing) {
  SimulatedNights nights{11, 20};
  nights.has_ceiling = true;
  nights.nights(20);
  nights.ceiling = 1.08;
  nights.machine.assign(20, 1.08);
  for (int i = 0; i < 5; ++i) {
    const NightReport report = nights.night();
    EXPECT_EQ(outcome_of(report), "ENVIRONMENT");
    EXPECT_EQ(exit_status(report, false), 0);
    EXPECT_EQ(count_of(report, NightVerdict::kInvalid), 20U);
    EXPECT_EQ(report.stale.empty(), i < 2) << i;
  }
  EXPECT_EQ(nights.confirmations, 0);
  nights.ceiling = 1;
  nights.machine.assign(20, 1);
  const NightReport after = nights.night();
  EXPECT_EQ(count_of(after, NightVerdict::kPassed), 20U);
  EXPECT_THAT(after.stale, testing::IsEmpty());
}

/// Nights until a creep of 0.3 % a night is found, at most 15; nothing if it is not.
std::optional<int> nights_until_found(SimulatedNights& nights, NightVerdict verdict) {
  for (int i = 1; i <= 15; ++i) {
    nights.build[3] *= 1.003;
    const NightReport report = nights.night();
    EXPECT_EQ(report.cases[4].verdict, NightVerdict::kPassed);
    if (report.cases[3].verdict == verdict) return i;
  }
  return std::nullopt;
}

TEST(SimulatedGate, ASlowCreepIsFoundWithinFifteenNights) {
  for (int trial = 0; trial < 50 * times(); ++trial) {
    SimulatedNights nights{static_cast<std::uint64_t>(trial), 10};
    nights.nights(25);
    nights.keeps_builds = trial % 2 == 0;
    const auto found =
        nights_until_found(nights, nights.keeps_builds ? NightVerdict::kRegressed : NightVerdict::kCreep);
    EXPECT_TRUE(found.has_value()) << trial;
    EXPECT_GE(found.value_or(15), 5) << "0.3 % a night are 2 % after seven nights";
  }
}

TEST(SimulatedGate, ACreepOfTheMachineIsNotTheBuilds) {
  SimulatedNights nights{17, 10};
  nights.nights(25);
  std::size_t retried = 0;
  for (int i = 0; i < 15; ++i) {
    nights.machine[3] *= 1.003;
    const NightReport report = nights.night();
    EXPECT_EQ(count_of(report, NightVerdict::kRegressed), 0U);
    retried += count_of(report, NightVerdict::kRetried);
  }
  EXPECT_GT(retried, 0U);
}

TEST(SimulatedGate, ANewDriverIsAShiftOfTheEpochAndNoRegression) {
  SimulatedNights nights{13, 20};
  nights.nights(20);
  nights.driver = "590.2";
  nights.machine.assign(20, 1.05);
  const NightReport first = nights.night();
  ASSERT_TRUE(first.epoch_shift.has_value());
  EXPECT_THAT(first.epoch_shift->from, testing::HasSubstr("driver 580.1"));
  EXPECT_THAT(first.epoch_shift->to, testing::HasSubstr("driver 590.2"));
  EXPECT_EQ(first.epoch_shift->cases, 20);
  EXPECT_NEAR(first.epoch_shift->mean_ratio, 1.05, 0.005);
  EXPECT_EQ(first.epoch_shift->beyond.size(), 20U);
  EXPECT_EQ(count_of(first, NightVerdict::kNew), 20U);
  EXPECT_EQ(exit_status(first, true), 0);
  for (int i = 0; i < 30; ++i) {
    const NightReport report = nights.night();
    EXPECT_FALSE(alarms(report));
    EXPECT_FALSE(report.epoch_shift.has_value());
  }
  nights.build[7] = 1.05;  // and the new series are gated
  EXPECT_EQ(nights.night().cases[7].verdict, NightVerdict::kRegressed);
}

}  // namespace
}  // namespace tbench::report
