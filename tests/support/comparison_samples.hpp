// Makes sides of comparisons for tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/compare/sides.hpp"

namespace tbench::support {

inline results::Replicate timed_replicate(double seconds, std::optional<double> clock_hz = std::nullopt) {
  results::Replicate replicate;
  replicate.time = Seconds{seconds};
  if (clock_hz) replicate.sm_clock = Hertz{*clock_hz};
  return replicate;
}

inline results::Replicate failed_replicate(Status status, std::string reason) {
  results::Replicate replicate;
  replicate.status = status;
  replicate.reason = std::move(reason);
  return replicate;
}

inline results::MeasuredCase compared_case(CaseId id, std::vector<results::Replicate> replicates) {
  std::string key = results::match_key(id);
  return {std::move(id), std::move(key), std::move(replicates)};
}

/// Returns a case in which each time is one replicate.
inline results::MeasuredCase timed_case(CaseId id, const std::vector<double>& seconds,
                                        std::optional<double> clock_hz = std::nullopt) {
  std::vector<results::Replicate> replicates;
  for (const double time : seconds) replicates.push_back(timed_replicate(time, clock_hz));
  return compared_case(std::move(id), std::move(replicates));
}

inline compare::ComparisonSide side_with(std::vector<results::MeasuredCase> cases, std::string path = "base.json") {
  compare::ComparisonSide side;
  side.paths = {std::move(path)};
  side.environments = {gpu_environment()};
  side.cases = std::move(cases);
  return side;
}

/// Times of three processes that differ by 0.1 %, in seconds.
inline const std::vector<double> kSteadyTimes{0.0999, 0.1, 0.1001};

inline std::vector<double> scaled(std::vector<double> times, double factor) {
  for (double& time : times) time *= factor;
  return times;
}

/// Returns replicates around `seconds` with the relative standard deviation `spread`.
inline std::vector<double> noisy_times(std::mt19937_64& random, double seconds, double spread, std::size_t count) {
  std::normal_distribution<double> noise{0, spread};
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i) times.push_back(seconds * std::exp(noise(random)));
  return times;
}

}  // namespace tbench::support
