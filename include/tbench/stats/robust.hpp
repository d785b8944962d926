// Statistics of judging one run against the runs before it, as pure functions. gate.hpp says what they mean for a case.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tbench/stats/tests.hpp"

namespace tbench::stats {

/// How far a value lies from those before it, in units of their spread.
struct RobustScore {
  double centre{};  // median of the past
  double z{};       // (value - centre) / (scale * sqrt(1 + 1.57 / n)): positive above the centre
};

/// scale = max(1.4826 MAD, min_scale): the first is the standard deviation of normal values, and neither it nor the
/// median is moved by a few odd ones. 1.57 / n is the variance of a median of n values over the variance of one value.
/// @param past         not empty
/// @param min_scale  above 0
/// @throws             std::invalid_argument  otherwise
[[nodiscard]] RobustScore robust_score(double value, std::span<const double> past, double min_scale);

/// 1.4826 times the median of |value - median|: the standard deviation of normal values.
/// @throws  std::invalid_argument  if there are none
[[nodiscard]] double robust_scale(std::span<const double> values);

/// Half the width of the interval about the median of `past` that the next value leaves with probability `level`, if
/// values are normal: t(1 - level / 2, n - 1) s sqrt(1 + 1.57 / n), with s about the median.
/// @param past   at least two
/// @param level  above 0, below 1; of m series that are watched together, their common level over m
/// @throws       std::invalid_argument  otherwise
[[nodiscard]] double prediction_half_width(std::span<const double> past, double level);

/// Whether a series rises or falls, whatever the form of that.
struct Trend {
  double z{};     // of Mann and Kendall's test: positive for a rise
  double rise{};  // from the first value to the last, by the median of the slopes between all pairs (Theil, Sen)
};

/// @param values  at equal distances, at least two
/// @throws        std::invalid_argument  otherwise
[[nodiscard]] Trend trend_of(std::span<const double> values);

/// Fisher's exact test: the probability that a random sample of `sample` things has at least `in_sample` marked ones,
/// if `marked` of all things are marked.
/// @throws  std::invalid_argument  if more are in the sample than there are, or than it has
[[nodiscard]] double share_p_value(std::size_t in_sample, std::size_t sample, std::size_t marked, std::size_t all);

/// Adjusted p values in the order given: rejecting those at most alpha makes any false rejection at most as likely as
/// alpha.
/// @throws  std::invalid_argument  for a value outside 0..1
/// @see     Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979)
[[nodiscard]] std::vector<double> holm(std::span<const double> p_values);

/// Student's t test of differences between pairs: is their mean 0? The standard deviation is at least kDispersionFloor.
/// @return  nothing for fewer than two
[[nodiscard]] std::optional<ModeratedTest> paired_t_test(std::span<const double> differences);

}  // namespace tbench::stats
