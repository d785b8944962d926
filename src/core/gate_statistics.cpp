#include "tbench/core/gate_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>

namespace tbench {
namespace {

constexpr double kMadToDeviation = 1.4826;  // 1 / the normal distribution's upper quartile
constexpr double kVarianceOfMedian = 1.57;  // pi / 2: of the median of normal values, times n
constexpr double kHalfOfInterval = (1 - 0.95) / 2;

}  // namespace

double robust_spread(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return kMadToDeviation * median(deviations);
}

RobustScore robust_score(double value, std::span<const double> past, double least_scale) {
  if (!(least_scale > 0)) throw std::invalid_argument{fmt::format("a least scale of {}", least_scale)};
  const double scale = std::max(robust_spread(past), least_scale);
  const double centre = median(past);
  const double of_centre = 1 + kVarianceOfMedian / static_cast<double>(past.size());
  return {.centre = centre, .z = (value - centre) / (scale * std::sqrt(of_centre))};
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const double p : p_values) {
    if (!(p >= 0 && p <= 1)) throw std::invalid_argument{fmt::format("a p value of {}", p)};
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.size());
  double greatest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double p = p_values[order[rank]] * static_cast<double>(order.size() - rank);
    greatest = std::max(greatest, std::min(1.0, p));
    adjusted[order[rank]] = greatest;
  }
  return adjusted;
}

std::optional<ModeratedTest> paired_t_test(std::span<const double> differences) {
  if (differences.size() < 2) return std::nullopt;
  ModeratedTest test;
  test.difference = mean(differences);
  test.standard_deviation = std::max(standard_deviation(differences).value(), kSpreadFloor);
  test.standard_error = test.standard_deviation / std::sqrt(static_cast<double>(differences.size()));
  test.degrees_of_freedom = static_cast<double>(differences.size() - 1);
  test.p_value = t_two_sided_p(test.difference / test.standard_error, test.degrees_of_freedom);
  const double half_width = t_upper_quantile(kHalfOfInterval, test.degrees_of_freedom) * test.standard_error;
  test.interval = {.low = test.difference - half_width, .high = test.difference + half_width};
  return test;
}

}  // namespace tbench
