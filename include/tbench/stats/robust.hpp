// Statistics to evaluate a run against earlier runs, as pure functions. gate.hpp describes their meaning for a case.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tbench/stats/tests.hpp"

namespace tbench::stats {

/// The distance of a value from earlier values, in units of their spread.
struct RobustScore {
  double centre{};  // median of the past
  double z{};       // (value - centre) / (scale * sqrt(1 + 1.57 / n)): positive above the centre
};

/// Scores a value with scale = max(1.4826 MAD, min_scale). 1.4826 MAD is the standard deviation of normal values, and a
/// few outliers change neither it nor the median. 1.57 / n is the variance of the median of n values divided by the
/// variance of one value.
/// @param past       earlier values, at least one
/// @param min_scale  least scale, above 0
/// @throws           std::invalid_argument  if `past` is empty or `min_scale` is not above 0
[[nodiscard]] RobustScore robust_score(double value, std::span<const double> past, double min_scale);

/// Returns 1.4826 times the median of |value - median|: the standard deviation of normal values.
/// @throws  std::invalid_argument  if there are no values
[[nodiscard]] double robust_scale(std::span<const double> values);

/// Returns half the width of the interval around the median of `past` outside of which the next value falls with
/// probability `level`, for normal values: t(1 - level / 2, n - 1) s sqrt(1 + 1.57 / n), with s taken about the median.
/// @param past   earlier values, at least two
/// @param level  above 0, below 1; to watch m series together, pass their common level divided by m
/// @throws       std::invalid_argument  if an argument is outside its range
[[nodiscard]] double prediction_half_width(std::span<const double> past, double level);

/// The monotonic trend of a series, linear or not.
struct Trend {
  double z{};     // statistic of Mann and Kendall's test; positive for a rise
  double rise{};  // from the first value to the last, by the median slope of all pairs (Theil, Sen)
};

/// Computes the trend of a series.
/// @param values  at least two values at equal distances
/// @throws        std::invalid_argument  for fewer than two values
[[nodiscard]] Trend trend_of(std::span<const double> values);

/// Returns the p value of Fisher's exact test: the probability that a random sample of `sample` out of `all` items has
/// at least `in_sample` marked items, if `marked` of all items are marked.
/// @throws  std::invalid_argument  if the counts contradict each other
[[nodiscard]] double share_p_value(std::size_t in_sample, std::size_t sample, std::size_t marked, std::size_t all);

/// Returns Holm's adjusted p values in the order given. If the hypotheses with adjusted p <= alpha are rejected, the
/// probability of any false rejection is at most alpha.
/// @throws  std::invalid_argument  for a value outside 0..1
/// @see     Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979)
[[nodiscard]] std::vector<double> holm(std::span<const double> p_values);

/// Tests by Student's t whether the mean of differences between pairs is 0. The standard deviation is at least
/// kDispersionFloor.
/// @return  the test, or nullopt for fewer than two differences
[[nodiscard]] std::optional<ModeratedTest> paired_t_test(std::span<const double> differences);

}  // namespace tbench::stats
