// Tests the gate on simulated runs of several machines of the same model that form one series.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "simulated_runs.hpp"

namespace tbench::gate {
namespace {

/// Simulates runs that each use one of several machines, chosen at random as a cluster's scheduler would. Machines
/// differ by 1.2 %, and each series differs by a further 10 % between them, as it does between hosts.
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
  std::vector<std::vector<double>> levels_;  // [machine][series]
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
    red += count_of(report, Outcome::kRegressed) > 0 ? 1 : 0;
    blind += !is_judged(report) ? 1 : 0;
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
      found += pool.night().cases[2].outcome == Outcome::kRegressed ? 1 : 0;
    }
    RecordProperty("found_" + std::to_string(noise), found);
    EXPECT_GE(found / static_cast<double>(kTrials), 0.9) << noise;
  }
}

/// Returns the share of the series on eight machines whose creep of 0.02 % per run is found within 60 runs.
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
      const GateReport report = pool.night();
      is_found = report.cases[1].outcome == Outcome::kCreep && report.cases[1].is_confirmed;
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
