// Statistics of samples. Quantiles sort a copy, which takes microseconds for the few hundred samples of a case.
#include "tbench/stats/descriptive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace tbench::stats {

namespace {

constexpr std::size_t kSteadyWindow = 10;
constexpr double kSteadySpread = 0.01;
constexpr double kLevelDifference = 0.005;
constexpr std::size_t kLevelBlocks = 3;
// The medians of three blocks of ten normal samples lie within 0.97 interquartile ranges of each other 19 times in 20.
// The standard error of such a median is 1.253 sigma / sqrt(10), sigma is IQR / 1.349, and the range of three normal
// values exceeds 3.31 standard deviations once in 20.
constexpr double kLevelNoise = 0.97;
constexpr std::size_t kSettledChecks = 8;
constexpr double kSettledChange = 0.05;

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

void require_samples(std::span<const double> samples, const char* what) {
  if (samples.empty()) {
    throw std::invalid_argument{std::string{what} + " of no samples: at least one is needed"};
  }
}

double quantile_of_sorted(std::span<const double> ordered, double q) {
  const double position = static_cast<double>(ordered.size() - 1) * q;
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ordered.size() - 1);
  return ordered[below] + (position - static_cast<double>(below)) * (ordered[above] - ordered[below]);
}

double relative_iqr_of_sorted(std::span<const double> ordered) {
  return (quantile_of_sorted(ordered, 0.75) - quantile_of_sorted(ordered, 0.25)) / quantile_of_sorted(ordered, 0.5);
}

/// Returns the ranks of the ends of the median's interval, counted from 0, or nullopt for too few samples.
std::optional<std::pair<std::size_t, std::size_t>> median_ranks(std::size_t count) {
  const auto n = static_cast<double>(count);
  // 0.98 = 1.96 / 2: the normal approximation of the binomial distribution with p = 1/2 (deviation sqrt(n) / 2).
  const double low_rank = std::floor(n / 2.0 - 0.98 * std::sqrt(n));
  const double high_rank = std::ceil(1.0 + n / 2.0 + 0.98 * std::sqrt(n));
  if (low_rank < 1.0 || high_rank > n) return std::nullopt;
  return std::pair{static_cast<std::size_t>(low_rank) - 1, static_cast<std::size_t>(high_rank) - 1};
}

std::optional<Interval> median_interval_of_sorted(std::span<const double> ordered) {
  const auto ranks = median_ranks(ordered.size());
  if (!ranks) return std::nullopt;
  return Interval{.low = ordered[ranks->first], .high = ordered[ranks->second]};
}

std::optional<double> half_width_of_sorted(std::span<const double> ordered) {
  const std::optional<Interval> interval = median_interval_of_sorted(ordered);
  if (!interval) return std::nullopt;
  return (interval->high - interval->low) / 2.0 / quantile_of_sorted(ordered, 0.5);
}

}  // namespace

double quantile(std::span<const double> samples, double q) {
  require_samples(samples, "quantile");
  if (!(q >= 0.0 && q <= 1.0)) {
    throw std::invalid_argument{fmt::format("quantile of order {}: it must be between 0 and 1", q)};
  }
  return quantile_of_sorted(sorted(samples), q);
}

double median(std::span<const double> samples) {
  require_samples(samples, "median");
  return quantile_of_sorted(sorted(samples), 0.5);
}

double mean(std::span<const double> samples) {
  require_samples(samples, "mean");
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

std::optional<double> standard_deviation(std::span<const double> samples) {
  if (samples.size() < 2) {
    return std::nullopt;
  }
  const double centre = mean(samples);
  double squares = 0.0;
  for (const double sample : samples) {
    squares += (sample - centre) * (sample - centre);
  }
  return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

double relative_iqr(std::span<const double> samples) {
  require_samples(samples, "relative interquartile range");
  return relative_iqr_of_sorted(sorted(samples));
}

std::optional<Interval> median_interval(std::span<const double> samples) {
  return median_interval_of_sorted(sorted(samples));
}

std::optional<double> median_relative_half_width(std::span<const double> samples) {
  return half_width_of_sorted(sorted(samples));
}

Summary summary_of(std::span<const double> samples) {
  require_samples(samples, "summary");
  const std::vector<double> ordered = sorted(samples);
  Summary summary{.median = quantile_of_sorted(ordered, 0.5),
                  .p10 = quantile_of_sorted(ordered, 0.1),
                  .p90 = quantile_of_sorted(ordered, 0.9),
                  .min = ordered.front(),
                  .mean = mean(samples),
                  .standard_deviation = standard_deviation(samples),
                  .relative_iqr = {},
                  .relative_half_width = half_width_of_sorted(ordered)};
  if (ordered.size() > 1) summary.relative_iqr = relative_iqr_of_sorted(ordered);
  return summary;
}

bool is_steady(std::span<const double> samples_in_order) {
  if (samples_in_order.size() < kSteadyWindow) {
    return false;
  }
  const auto last = samples_in_order.last(kSteadyWindow);
  const std::vector<double> ordered = sorted(last);
  const double spread = quantile_of_sorted(ordered, 0.9) - quantile_of_sorted(ordered, 0.1);
  const double before = median(last.first(kSteadyWindow / 2));
  const double after = median(last.last(kSteadyWindow / 2));
  return spread <= kSteadySpread * quantile_of_sorted(ordered, 0.5) &&
         std::abs(after - before) <= kLevelDifference * before;
}

bool is_level(std::span<const double> samples_in_order) {
  constexpr std::size_t kWindow = kLevelBlocks * kSteadyWindow;
  if (samples_in_order.size() < kWindow) {
    return false;
  }
  const auto last = samples_in_order.last(kWindow);
  std::vector<double> medians;
  std::vector<double> spreads;
  for (std::size_t block = 0; block < kLevelBlocks; ++block) {
    const auto samples = last.subspan(block * kSteadyWindow, kSteadyWindow);
    medians.push_back(median(samples));
    spreads.push_back(relative_iqr(samples));
  }
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  return *high - *low <= std::max(kLevelDifference, kLevelNoise * mean(spreads)) * *low;
}

bool spread_has_settled(std::span<const double> relative_iqr_history) {
  if (relative_iqr_history.size() < kSettledChecks) {
    return false;
  }
  const auto last = relative_iqr_history.last(kSettledChecks);
  const auto [low, high] = std::minmax_element(last.begin(), last.end());
  return *high - *low <= kSettledChange * *high;
}

std::optional<PowerLaw> power_law_fit(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw std::invalid_argument{"power_law_fit: as many y as x are needed"};
  const auto logarithms = [](std::span<const double> values) {
    std::vector<double> logs;
    for (const double value : values) {
      if (!(value > 0) || !std::isfinite(value)) throw std::invalid_argument{"power_law_fit: a value is not above 0"};
      logs.push_back(std::log(value));
    }
    return logs;
  };
  const std::vector<double> u = logarithms(x);
  const std::vector<double> v = logarithms(y);
  const auto is_constant = [](const std::vector<double>& values) {
    return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
  };
  if (is_constant(u)) return std::nullopt;
  if (is_constant(v)) return PowerLaw{.exponent = 0, .factor = y.front(), .r_squared = 1};
  const double mean_u = mean(u);
  const double mean_v = mean(v);
  double s_uu = 0;
  double s_uv = 0;
  double s_vv = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    s_uu += (u[i] - mean_u) * (u[i] - mean_u);
    s_uv += (u[i] - mean_u) * (v[i] - mean_v);
    s_vv += (v[i] - mean_v) * (v[i] - mean_v);
  }
  const double exponent = s_uv / s_uu;
  return PowerLaw{
      .exponent = exponent, .factor = std::exp(mean_v - exponent * mean_u), .r_squared = s_uv * s_uv / (s_uu * s_vv)};
}

}  // namespace tbench::stats
