#include "tbench/stats/robust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>

namespace tbench::stats {
namespace {

constexpr double kMadToDeviation = 1.4826;  // 1 / the normal distribution's upper quartile
constexpr double kVarianceOfMedian = 1.57;  // pi / 2: of the median of normal values, times n
constexpr double kHalfOfInterval = (1 - 0.95) / 2;

void add_distances(std::vector<double>& distances, std::span<const double> values) {
  const double centre = median(values);
  for (const double value : values) distances.push_back(std::abs(value - centre));
}

}  // namespace

double robust_scale(std::span<const double> values) {
  std::vector<double> distances;
  add_distances(distances, values);
  return kMadToDeviation * median(distances);
}

RobustScore robust_score(double value, std::span<const double> past, double min_scale) {
  if (!(min_scale > 0)) throw std::invalid_argument{fmt::format("a least scale of {}", min_scale)};
  const double scale = std::max(robust_scale(past), min_scale);
  const double centre = median(past);
  const double of_centre = 1 + kVarianceOfMedian / static_cast<double>(past.size());
  return {.centre = centre, .z = (value - centre) / (scale * std::sqrt(of_centre))};
}

double prediction_half_width(std::span<const double> past, double level) {
  if (past.size() < 2) throw std::invalid_argument{"a prediction from fewer than two values"};
  const double centre = median(past);
  const double squares = std::accumulate(past.begin(), past.end(), 0.0, [&](double sum, double value) {
    return sum + (value - centre) * (value - centre);
  });
  const auto count = static_cast<double>(past.size());
  const double scale = std::sqrt(squares / (count - 1) * (1 + kVarianceOfMedian / count));
  return t_upper_quantile(level / 2, count - 1) * scale;
}

LevelShift level_shift(std::span<const double> earlier, std::span<const double> later, double min_scale) {
  if (!(min_scale > 0)) throw std::invalid_argument{fmt::format("a least scale of {}", min_scale)};
  std::vector<double> distances;
  add_distances(distances, earlier);
  add_distances(distances, later);
  const double scale = std::max(kMadToDeviation * median(distances), min_scale);
  const double variance =
      kVarianceOfMedian * (1 / static_cast<double>(earlier.size()) + 1 / static_cast<double>(later.size()));
  const double difference = median(later) - median(earlier);
  return {.difference = difference, .z = difference / (scale * std::sqrt(variance))};
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
  test.standard_deviation = std::max(standard_deviation(differences).value(), kDispersionFloor);
  test.standard_error = test.standard_deviation / std::sqrt(static_cast<double>(differences.size()));
  test.degrees_of_freedom = static_cast<double>(differences.size() - 1);
  test.p_value = t_two_sided_p(test.difference / test.standard_error, test.degrees_of_freedom);
  const double half_width = t_upper_quantile(kHalfOfInterval, test.degrees_of_freedom) * test.standard_error;
  test.interval = {.low = test.difference - half_width, .high = test.difference + half_width};
  return test;
}

}  // namespace tbench::stats
