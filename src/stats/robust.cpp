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
constexpr double kVarianceOfMedian = 1.57;  // pi / 2: variance of the median of n normal values, times n
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
  if (!(level > 0 && level < 1)) throw std::invalid_argument{fmt::format("a prediction at the level {}", level)};
  const double centre = median(past);
  const double squares = std::accumulate(past.begin(), past.end(), 0.0, [&](double sum, double value) {
    return sum + (value - centre) * (value - centre);
  });
  const auto count = static_cast<double>(past.size());
  const double scale = std::sqrt(squares / (count - 1) * (1 + kVarianceOfMedian / count));
  return t_upper_quantile(level / 2, count - 1) * scale;
}

Trend trend_of(std::span<const double> values) {
  if (values.size() < 2) throw std::invalid_argument{fmt::format("a trend of {} values", values.size())};
  double sum = 0;
  std::vector<double> slopes;
  slopes.reserve(values.size() * (values.size() - 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      const double difference = values[j] - values[i];
      sum += difference > 0 ? 1 : difference < 0 ? -1 : 0;
      slopes.push_back(difference / static_cast<double>(j - i));
    }
  }
  const auto n = static_cast<double>(values.size());
  const double variance = n * (n - 1) * (2 * n + 5) / 18;
  const double corrected = sum > 0 ? sum - 1 : sum < 0 ? sum + 1 : 0;  // continuity correction of an integer sum
  return {.z = corrected / std::sqrt(variance), .rise = median(slopes) * (n - 1)};
}

double share_p_value(std::size_t in_sample, std::size_t sample, std::size_t marked, std::size_t all) {
  if (sample > all || marked > all || in_sample > std::min(sample, marked)) {
    throw std::invalid_argument{fmt::format("{} of {} marked in a sample of {} of {}", in_sample, marked, sample, all)};
  }
  const auto log_choose = [](std::size_t n, std::size_t k) {
    return std::lgamma(static_cast<double>(n + 1)) - std::lgamma(static_cast<double>(k + 1)) -
           std::lgamma(static_cast<double>(n - k + 1));
  };
  double p = 0;
  for (std::size_t k = in_sample; k <= std::min(sample, marked); ++k) {
    if (sample - k > all - marked) continue;
    p += std::exp(log_choose(marked, k) + log_choose(all - marked, sample - k) - log_choose(all, sample));
  }
  return std::min(p, 1.0);
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
