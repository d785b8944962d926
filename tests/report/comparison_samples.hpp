// Sides of comparisons made up for tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sample_results.hpp"
#include "tbench/report/comparison_input.hpp"

namespace tbench::report {

inline Replicate timed_replicate(double seconds, std::optional<double> clock_hz = std::nullopt) {
  Replicate replicate;
  replicate.time = Seconds{seconds};
  if (clock_hz) replicate.sm_clock = Hertz{*clock_hz};
  return replicate;
}

inline Replicate failed_replicate(Status status, std::string reason) {
  Replicate replicate;
  replicate.status = status;
  replicate.reason = std::move(reason);
  return replicate;
}

inline ComparedCase compared_case(CaseId id, std::vector<Replicate> replicates) {
  std::string key = match_key(id);
  return {std::move(id), std::move(key), std::move(replicates)};
}

/// A case of which each time is one replicate.
inline ComparedCase timed_case(CaseId id, const std::vector<double>& seconds,
                               std::optional<double> clock_hz = std::nullopt) {
  std::vector<Replicate> replicates;
  for (const double time : seconds) replicates.push_back(timed_replicate(time, clock_hz));
  return compared_case(std::move(id), std::move(replicates));
}

inline ComparisonSide side_with(std::vector<ComparedCase> cases, std::string path = "base.json") {
  ComparisonSide side;
  side.paths = {std::move(path)};
  side.environments = {gpu_environment()};
  side.cases = std::move(cases);
  return side;
}

/// Replicates around `seconds` with a relative spread between processes.
inline std::vector<double> noisy_times(std::mt19937_64& random, double seconds, double spread, std::size_t count) {
  std::normal_distribution<double> noise{0, spread};
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i) times.push_back(seconds * std::exp(noise(random)));
  return times;
}

}  // namespace tbench::report
