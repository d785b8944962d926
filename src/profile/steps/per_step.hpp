// Converts totals of several steps, in nanoseconds, to values per step.
#pragma once

#include <cstdint>

#include "tbench/core/units.hpp"

namespace tbench::profile {

[[nodiscard]] constexpr Seconds seconds_of(double duration_ns) { return {duration_ns / 1e9}; }
[[nodiscard]] constexpr Seconds seconds_of(std::int64_t duration_ns) {
  return seconds_of(static_cast<double>(duration_ns));
}

/// Converts totals of several steps to values per step.
class PerStep {
 public:
  explicit constexpr PerStep(std::int64_t steps) : steps_{static_cast<double>(steps)} {}
  [[nodiscard]] constexpr Seconds time(std::int64_t total_ns) const { return seconds_of(total_ns) / steps_; }
  [[nodiscard]] constexpr double count(std::int64_t total) const { return static_cast<double>(total) / steps_; }

 private:
  double steps_;
};

}  // namespace tbench::profile
