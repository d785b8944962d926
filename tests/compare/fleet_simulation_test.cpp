// Tests how often a slow GPU is found, and how often a healthy one is called slow, in simulated fleets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/fleet_samples.hpp"
#include "tbench/compare/fleet.hpp"
#include "tbench/stats/outliers.hpp"

namespace tbench::compare {
namespace {

constexpr std::size_t kGpus = 8;
constexpr std::size_t kResources = kAllOf<Resource>.size();
constexpr double kFalseAlarms = 0.01;
constexpr double kSpread = 0.005;
constexpr double kTensorSpread = 0.012;  // between healthy H200s
constexpr double kSlow = 0.03;

/// Returns the spread estimated from `gpus` other healthy GPUs; nothing if there are none.
std::optional<stats::DispersionPrior> known_from(int gpus, double spread, std::mt19937_64& random) {
  if (gpus == 0) return std::nullopt;
  const double freedom = gpus - 1;
  std::chi_squared_distribution<double> squares{freedom};
  return stats::DispersionPrior{.standard_deviation = spread * std::sqrt(squares(random) / freedom),
                                .degrees_of_freedom = freedom};
}

std::vector<double> sound_gpus(double spread, std::mt19937_64& random) {
  std::normal_distribution<double> normal{0, spread};
  std::vector<double> values(kGpus);
  for (double& value : values) value = normal(random);
  return values;
}

stats::OutlierSearch searched(const std::vector<double>& values, const std::optional<stats::DispersionPrior>& known) {
  return stats::find_outliers(values, kFalseAlarms / kResources, known).value();
}

/// Returns the share of fleets in which a healthy GPU is called slow in any resource.
double false_alarms(int known_gpus, int fleets) {
  std::mt19937_64 random{20261123};
  int alarms = 0;
  for (int fleet = 0; fleet < fleets; ++fleet) {
    bool has_slow = false;
    for (std::size_t resource = 0; resource < kResources; ++resource) {
      const auto known = known_from(known_gpus, kSpread, random);
      for (const stats::Deviation& d : searched(sound_gpus(kSpread, random), known).deviations) {
        has_slow = has_slow || (d.is_outlier && d.difference > 0);
      }
    }
    alarms += has_slow ? 1 : 0;
  }
  return static_cast<double>(alarms) / fleets;
}

/// Returns the share of fleets in which a GPU that is slower by `shift` (logarithm of the time) is found.
double found(int known_gpus, double spread, double shift, int fleets) {
  std::mt19937_64 random{20261124};
  int count = 0;
  for (int fleet = 0; fleet < fleets; ++fleet) {
    const auto known = known_from(known_gpus, spread, random);
    std::vector<double> values = sound_gpus(spread, random);
    values.front() += shift;
    count += searched(values, known).deviations.front().is_outlier ? 1 : 0;
  }
  return static_cast<double>(count) / fleets;
}

/// Returns the change that the search claims to find nine times in ten, as the median over fleets.
double stated(int known_gpus, double spread, int fleets) {
  std::mt19937_64 random{20261125};
  std::vector<double> values;
  for (int fleet = 0; fleet < fleets; ++fleet) {
    const auto known = known_from(known_gpus, spread, random);
    values.push_back(searched(sound_gpus(spread, random), known).detectable);
  }
  return stats::median(values);
}

TEST(SimulatedFleet, AtMostOneInAHundredSoundOnesHasAFalseAlarmOverAllResources) {
  for (const int known_gpus : {0, 9, 24, 64}) {
    const double share = false_alarms(known_gpus, 2000);
    RecordProperty("known_from_" + std::to_string(known_gpus), std::to_string(share));
    EXPECT_LE(share, kFalseAlarms) << "spread known from " << known_gpus << " GPUs";
  }
}

TEST(SimulatedFleet, AGpuThreePercentSlowerIsFoundWhereTheSpreadIsKnownFromTwentyFour) {
  for (const auto& [known_gpus, least] : std::map<int, double>{{16, 0.85}, {24, 0.9}, {64, 0.92}}) {
    const double share = found(known_gpus, kSpread, -std::log1p(-kSlow), 2000);
    RecordProperty("known_from_" + std::to_string(known_gpus), std::to_string(share));
    EXPECT_GE(share, least) << "spread known from " << known_gpus << " GPUs";
  }
}

TEST(SimulatedFleet, WhatItSaysItFindsIsFoundNineTimesInTen) {
  for (const double spread : {kSpread, kTensorSpread}) {
    for (const int known_gpus : {0, 9, 24}) {
      const double shift = stated(known_gpus, spread, 200);
      const double share = found(known_gpus, spread, shift, 2000);
      RecordProperty(std::to_string(spread) + "_" + std::to_string(known_gpus),
                     std::to_string(shift) + " " + std::to_string(share));
      EXPECT_NEAR(share, 0.9, 0.05) << spread << ", known from " << known_gpus << ": " << shift;
    }
  }
}

TEST(SimulatedFleet, ThroughTheResultsFilesOfEightGpus) {
  const auto spread_of = [](Resource resource) { return resource == Resource::kTensor ? kTensorSpread : kSpread; };
  std::mt19937_64 random{20261126};
  constexpr int kFleets = 100;
  int alarms = 0;
  int slow = 0;
  for (int i = 0; i < kFleets; ++i) {
    FleetOptions options;
    for (const Resource resource : kAllOf<Resource>) {
      // The known spread includes the differences between ceilings, which are at most 0.1 % for a single ceiling.
      const auto known = known_from(32, std::hypot(spread_of(resource), 0.001), random).value();
      options.known.push_back({.gpu = "NVIDIA H200", .resource = resource, .spread = known});
    }
    std::vector<results::NamedResults> files = support::fleet_of(kGpus, random, spread_of);
    alarms += has_slow(compare_fleet(files, options)) ? 1 : 0;
    support::slow_down(files[3], Resource::kMemory, kSlow);
    const Fleet fleet = compare_fleet(files, options);
    slow += fleet.resources.at(2).states.at(3)->is_slow ? 1 : 0;
  }
  RecordProperty("alarms", alarms);
  RecordProperty("found", slow);
  EXPECT_LE(alarms, 3);  // at most one of 100 is expected: 4 or more occur in one of 50 tests
  EXPECT_GE(slow, 85);   // 90 of 100 are expected: fewer than 85 occur in one of 25 tests
}

}  // namespace
}  // namespace tbench::compare
