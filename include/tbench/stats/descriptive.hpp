// Statistics of samples as pure functions. Every function takes samples in any order and does not change them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tbench::stats {

/// Returns the quantile by linear interpolation between order statistics (Hyndman and Fan's type 7, NumPy's default).
/// @param samples  at least one sample
/// @param q        probability, 0 to 1
/// @throws         std::invalid_argument  if `samples` is empty or `q` is outside 0..1
[[nodiscard]] double quantile(std::span<const double> samples, double q);
[[nodiscard]] double median(std::span<const double> samples);
[[nodiscard]] double mean(std::span<const double> samples);
/// Returns the sample standard deviation (n - 1), or nullopt for fewer than two samples.
[[nodiscard]] std::optional<double> standard_deviation(std::span<const double> samples);
/// Returns (q75 - q25) / median.
[[nodiscard]] double relative_iqr(std::span<const double> samples);

/// Distribution-free 95 % interval of the median from order statistics: ranks floor(n/2 - 0.98 sqrt(n)) and
/// ceil(1 + n/2 + 0.98 sqrt(n)), counted from 1. It does not exist if a rank falls outside 1..n (n < 8).
/// @see  Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2
struct Interval {
  double low{};
  double high{};
};
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> samples);
/// Returns half the width of median_interval() divided by the median, or nullopt if there is no interval.
[[nodiscard]] std::optional<double> median_relative_half_width(std::span<const double> samples);

/// The statistics of a record's samples.
struct Summary {
  double median{}, p10{}, p90{}, min{}, mean{};
  std::optional<double> standard_deviation;   // absent for one sample
  std::optional<double> relative_iqr;         // absent for one sample
  std::optional<double> relative_half_width;  // see median_relative_half_width()
};
/// Computes all of these statistics from one sorted copy. Each equals the result of its own function above.
/// @throws  std::invalid_argument  if `samples` is empty
[[nodiscard]] Summary summary_of(std::span<const double> samples);

/// y = factor * x^exponent.
struct PowerLaw {
  double exponent{};
  double factor{};
  double r_squared{};  // share of the variance of ln y that the line explains; 1 if y does not vary
};
/// Fits ln y against ln x by least squares.
/// @param x, y  equally many values, finite and above 0
/// @return      the fit, or nullopt for fewer than two different x
/// @throws      std::invalid_argument  if the sizes differ or a value is not above 0
[[nodiscard]] std::optional<PowerLaw> power_law_fit(std::span<const double> x, std::span<const double> y);

/// Returns whether the newest samples, in the order taken, show a settled level. The last ten must have
/// (q90 - q10) / median <= 1 %, and the median of the last five must be within 0.5 % of the median of the five before.
[[nodiscard]] bool is_steady(std::span<const double> samples_in_order);

/// Returns whether the newest samples, in the order taken, have no trend although they are too noisy for is_steady().
/// The medians of the last three blocks of ten must lie within 0.5 % of each other, or within the range that the noise
/// inside the blocks explains (0.97 of their mean relative interquartile range). A longer warm-up would not remove such
/// noise.
[[nodiscard]] bool is_level(std::span<const double> samples_in_order);

/// Returns whether the spread has settled: over the last 8 values of the relative interquartile range (one per check),
/// (max - min) <= 5 % of max. Returns false for fewer than 8.
[[nodiscard]] bool spread_has_settled(std::span<const double> relative_iqr_history);

}  // namespace tbench::stats
