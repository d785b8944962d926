// Statistics of samples as pure functions. Every function takes samples in any order and does not change them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tbench::stats {

/// Quantile by linear interpolation between order statistics (Hyndman and Fan's type 7, NumPy's default).
/// @param samples  not empty
/// @param q        0 to 1
/// @throws         std::invalid_argument  if `samples` is empty or `q` is outside 0..1
[[nodiscard]] double quantile(std::span<const double> samples, double q);
[[nodiscard]] double median(std::span<const double> samples);
[[nodiscard]] double mean(std::span<const double> samples);
/// Sample standard deviation (n - 1). Nothing for fewer than two samples.
[[nodiscard]] std::optional<double> standard_deviation(std::span<const double> samples);
/// (q75 - q25) / median.
[[nodiscard]] double relative_iqr(std::span<const double> samples);

/// Distribution-free 95 % interval of the median from order statistics: ranks floor(n/2 - 0.98 sqrt(n)) and
/// ceil(1 + n/2 + 0.98 sqrt(n)), counted from 1. Nothing while a rank falls outside 1..n (n < 8).
/// @see  Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2
struct Interval {
  double low{};
  double high{};
};
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> samples);
/// Half the width of the median's interval over the median; nothing where there is no interval.
[[nodiscard]] std::optional<double> median_relative_half_width(std::span<const double> samples);

/// The statistics that a record has of its samples.
struct Summary {
  double median{}, p10{}, p90{}, min{}, mean{};
  std::optional<double> standard_deviation;   // absent for one sample
  std::optional<double> relative_iqr;         // absent for one sample
  std::optional<double> relative_half_width;  // as median_relative_half_width
};
/// All of it from one sorted copy, as the functions above give it.
/// @throws  std::invalid_argument  if `samples` is empty
[[nodiscard]] Summary summary_of(std::span<const double> samples);

/// y = factor * x^exponent.
struct PowerLaw {
  double exponent{};
  double factor{};
  double r_squared{};  // of ln y: the share of its variance that the line explains; 1 where y does not vary
};
/// Least squares of ln y against ln x.
/// @param x, y  as many of each, above 0 and finite
/// @return      nothing for fewer than two different x
/// @throws      std::invalid_argument  for another number of values, or one that is not above 0
[[nodiscard]] std::optional<PowerLaw> power_law_fit(std::span<const double> x, std::span<const double> y);

/// Whether the newest samples, in the order taken, show a settled level: the last ten have (q90 - q10) / median <= 1 %,
/// and the median of the last five is within 0.5 % of the median of the five before.
[[nodiscard]] bool is_steady(std::span<const double> samples_in_order);

/// Whether the newest samples, in the order taken, have a level without a trend although they are too noisy for
/// is_steady: the last 30 cut into three blocks of ten, whose medians lie within 0.5 % of each other, or within what
/// the noise inside the blocks explains (0.97 of their mean relative interquartile range).
/// Noise is not what warming up removes, so waiting longer would gain nothing.
[[nodiscard]] bool is_level(std::span<const double> samples_in_order);

/// Whether the spread has settled: over the last 8 values of the relative interquartile range (one a check),
/// (max - min) <= 5 % of max. False for fewer than 8.
[[nodiscard]] bool spread_has_settled(std::span<const double> relative_iqr_history);

}  // namespace tbench::stats
