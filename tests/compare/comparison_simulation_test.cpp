// Compares simulated builds whose truth is known: how often a verdict is wrong, and how often a change is found. Seeds
// are fixed, and the bounds are the ones that `tbench diff` promises.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "support/comparison_samples.hpp"
#include "tbench/compare/comparison.hpp"

namespace tbench::compare {
namespace {

constexpr std::size_t kReplicates = 5;
constexpr double kSpread = 0.006;  // between processes
constexpr double kStep = 0.025;    // seconds

CaseId case_number(int i) { return CaseId{"Model", {{"size", std::to_string(i)}}}; }

struct Simulation {
  int cases{};
  int shifted{};   // number of cases of the new side that are changed; they come first
  double shift{};  // change of their time, as a fraction
  bool has_history{};
};

Comparison simulate(std::mt19937_64& random, const Simulation& simulation) {
  std::vector<results::MeasuredCase> base;
  std::vector<results::MeasuredCase> next;
  CompareOptions options;
  for (int i = 0; i < simulation.cases; ++i) {
    const double shift = i < simulation.shifted ? 1 + simulation.shift : 1;
    base.push_back(
        support::timed_case(case_number(i), support::noisy_times(random, kStep, kSpread, kReplicates), 1.98e9));
    next.push_back(
        support::timed_case(case_number(i), support::noisy_times(random, kStep * shift, kSpread, kReplicates), 1.98e9));
    if (simulation.has_history) {
      options.known_dispersion[results::match_key(case_number(i))] = {.standard_deviation = kSpread,
                                                                      .degrees_of_freedom = 10};
    }
  }
  return compare(support::side_with(std::move(base)), support::side_with(std::move(next)), options);
}

/// Returns the share of the shifted cases that got `verdict`.
double share_found(const Simulation& simulation, Outcome verdict, int trials) {
  std::mt19937_64 random{20260102};
  int found = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Comparison comparison = simulate(random, simulation);
    for (int i = 0; i < simulation.shifted; ++i) {
      if (comparison.cases[static_cast<std::size_t>(i)].outcome == verdict) ++found;
    }
  }
  return static_cast<double>(found) / (trials * simulation.shifted);
}

/// Returns how many of `trials` comparisons have a case that is REGRESSED or IMPROVED.
int false_alarms(const Simulation& simulation, int trials) {
  std::mt19937_64 random{7};
  int alarms = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto counts = count_outcomes(simulate(random, simulation));
    if (counts.contains(Outcome::kRegressed) || counts.contains(Outcome::kImproved)) ++alarms;
  }
  return alarms;
}

TEST(SimulatedComparison, SameBuildGivesAtMostOneAlarmInAHundred) {
  EXPECT_LE(false_alarms({.cases = 200}, 300), 3);
  EXPECT_LE(false_alarms({.cases = 200, .has_history = true}, 300), 3);
  EXPECT_LE(false_alarms({.cases = 1}, 2000), 20);
}

TEST(SimulatedComparison, SameBuildIsMostlySame) {
  EXPECT_GE(share_found({.cases = 50, .shifted = 50, .shift = 0}, Outcome::kSame, 100), 0.95);
}

TEST(SimulatedComparison, OnePercentBeyondTheThresholdIsFound) {
  EXPECT_GE(share_found({.cases = 1, .shifted = 1, .shift = 0.03}, Outcome::kRegressed, 2000), 0.9);
  EXPECT_GE(share_found({.cases = 50, .shifted = 1, .shift = 0.03}, Outcome::kRegressed, 400), 0.9);
  EXPECT_GE(share_found({.cases = 200, .shifted = 1, .shift = 0.03, .has_history = true}, Outcome::kRegressed, 200),
            0.9);
  EXPECT_GE(share_found({.cases = 50, .shifted = 1, .shift = -0.03}, Outcome::kImproved, 400), 0.9);
}

TEST(SimulatedComparison, HalfTheThresholdIsHardlyEverARegression) {
  EXPECT_LE(share_found({.cases = 50, .shifted = 50, .shift = 0.01}, Outcome::kRegressed, 100), 0.01);
}

TEST(SimulatedComparison, IntervalsHoldTheTruthNineteenTimesInTwenty) {
  std::mt19937_64 random{3};
  int held = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const stats::Interval interval =
        simulate(random, {.cases = 1, .shifted = 1, .shift = 0.03}).cases[0].ratio_interval.value();
    if (interval.low <= 1.03 && 1.03 <= interval.high) ++held;
  }
  EXPECT_NEAR(held / static_cast<double>(kTrials), 0.95, 0.015);  // three standard errors
}

}  // namespace
}  // namespace tbench::compare
