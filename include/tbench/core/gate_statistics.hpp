// Statistics of judging one night against the nights before it, as pure functions. What they mean for a case is
// report/night.hpp's.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tbench/core/comparison_statistics.hpp"

namespace tbench {

/// How far a value lies from those before it, in units of their spread.
struct RobustScore {
  double centre{};  // median of the past
  double z{};       // (value - centre) / (scale * sqrt(1 + 1.57 / n)): positive above the centre
};

/// scale = max(1.4826 MAD, least_scale): the first is the standard deviation of normal values, and neither it nor the
/// median is moved by a few odd ones. 1.57 / n is the variance of a median of n values over that of one.
/// @param past         not empty
/// @param least_scale  above 0
/// @throws             std::invalid_argument  otherwise
[[nodiscard]] RobustScore robust_score(double value, std::span<const double> past, double least_scale);

/// 1.4826 times the median of |value - median|: the standard deviation of normal values.
/// @throws  std::invalid_argument  if there are none
[[nodiscard]] double robust_spread(std::span<const double> values);

/// Adjusted p values in the order given: rejecting those at most alpha makes any false rejection at most as likely as
/// alpha.
/// @throws  std::invalid_argument  for a value outside 0..1
/// @see     Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979)
[[nodiscard]] std::vector<double> holm(std::span<const double> p_values);

/// Student's t test of differences between pairs: is their mean 0? The standard deviation is at least kSpreadFloor.
/// @return  nothing for fewer than two
[[nodiscard]] std::optional<ModeratedTest> paired_t_test(std::span<const double> differences);

}  // namespace tbench
