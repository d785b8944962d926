#include "tbench/stats/tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace tbench::stats {
namespace {

/// Computes in double. Boost's default, long double, is slow, and 15 digits suffice here.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentsT = boost::math::students_t_distribution<double, Policy>;

constexpr double kPower = 0.8;           // probability of finding the smallest detectable change
constexpr double kIntervalTail = 0.025;  // probability on either side of a 95 % interval

StudentsT students_t(double degrees_of_freedom) {
  if (!(degrees_of_freedom > 0) || !std::isfinite(degrees_of_freedom)) {
    throw std::invalid_argument{fmt::format("Student's t with {} degrees of freedom", degrees_of_freedom)};
  }
  return StudentsT{degrees_of_freedom};
}

/// Computes the inverse of trigamma, which falls from infinity to 0, by bisection of the argument's logarithm.
/// @param value  above 0
double inverse_trigamma(double value) {
  double low = std::log(1e-4);
  double high = std::log(1e6);
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (boost::math::trigamma(std::exp(middle), Policy{}) > value ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

double sum_of_squares(std::span<const double> values) {
  const double centre = mean(values);
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [&](double sum, double value) { return sum + (value - centre) * (value - centre); });
}

}  // namespace

double t_upper_quantile(double tail, double degrees_of_freedom) {
  if (!(tail > 0 && tail < 1)) throw std::invalid_argument{fmt::format("a tail of {}: it must be in (0, 1)", tail)};
  return boost::math::quantile(boost::math::complement(students_t(degrees_of_freedom), tail));
}

double t_two_sided_p(double t, double degrees_of_freedom) {
  return std::min(1.0, 2 * boost::math::cdf(boost::math::complement(students_t(degrees_of_freedom), std::abs(t))));
}

PooledVariance pooled_variance(std::span<const double> a, std::span<const double> b) {
  const double squares = sum_of_squares(a) + sum_of_squares(b);  // throws for an empty group
  const auto degrees_of_freedom = static_cast<double>(a.size() + b.size() - 2);
  return {.variance = degrees_of_freedom > 0 ? squares / degrees_of_freedom : 0,
          .degrees_of_freedom = degrees_of_freedom};
}

bool rejects_prior(const DispersionPrior& prior, const PooledVariance& measured) {
  if (!(prior.degrees_of_freedom > 0) || !(measured.degrees_of_freedom > 0)) return false;
  const double expected = prior.standard_deviation * prior.standard_deviation;
  if (expected == 0) return measured.variance > 0;
  const boost::math::fisher_f_distribution<double, Policy> f{measured.degrees_of_freedom, prior.degrees_of_freedom};
  return boost::math::cdf(boost::math::complement(f, measured.variance / expected)) <= kPriorLevel;
}

double prior_degrees_of_freedom(std::span<const std::vector<PooledVariance>> variances) {
  constexpr double kMinDifferences = 10;
  double squares = 0;
  double differences = 0;
  double expected = 0;  // sum of trigamma(d / 2), the variance of each ln s^2 if s0 never changes
  double count = 0;
  for (const std::vector<PooledVariance>& runs : variances) {
    if (runs.size() < 2) continue;
    std::vector<double> centred;
    for (const PooledVariance& run : runs) {
      const double half = run.degrees_of_freedom / 2;
      const double variance = std::max(run.variance, kDispersionFloor * kDispersionFloor);
      centred.push_back(std::log(variance) - boost::math::digamma(half, Policy{}) + std::log(half));
      expected += boost::math::trigamma(half, Policy{});
    }
    squares += sum_of_squares(centred);
    differences += static_cast<double>(runs.size() - 1);
    count += static_cast<double>(runs.size());
  }
  if (differences < kMinDifferences) return 0;
  const double excess = squares / differences - expected / count;
  return excess > 0 ? std::min(kMaxPriorFreedom, 2 * inverse_trigamma(excess)) : kMaxPriorFreedom;
}

std::optional<ModeratedTest> moderated_t_test(std::span<const double> base, std::span<const double> next,
                                              std::optional<DispersionPrior> prior) {
  const PooledVariance pooled = pooled_variance(base, next);
  const bool prior_rejected = prior && rejects_prior(*prior, pooled);
  const DispersionPrior known = prior_rejected ? DispersionPrior{} : prior.value_or(DispersionPrior{});
  const double nu = known.degrees_of_freedom + pooled.degrees_of_freedom;
  if (nu <= 0) return std::nullopt;
  const double moderated = (known.degrees_of_freedom * known.standard_deviation * known.standard_deviation +
                            pooled.degrees_of_freedom * pooled.variance) /
                           nu;
  ModeratedTest test;
  test.difference = mean(next) - mean(base);
  test.standard_deviation = std::max(std::sqrt(moderated), kDispersionFloor);
  test.standard_error =
      test.standard_deviation * std::sqrt(1 / static_cast<double>(base.size()) + 1 / static_cast<double>(next.size()));
  test.degrees_of_freedom = nu;
  test.p_value = t_two_sided_p(test.difference / test.standard_error, nu);
  const double half_width = t_upper_quantile(kIntervalTail, nu) * test.standard_error;
  test.interval = {.low = test.difference - half_width, .high = test.difference + half_width};
  test.prior_rejected = prior_rejected;
  return test;
}

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const double p : p_values) {
    if (!(p >= 0 && p <= 1)) throw std::invalid_argument{fmt::format("a p value of {}", p)};
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p_values[a] > p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  const auto count = static_cast<double>(p_values.size());
  double smallest = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double rank = count - static_cast<double>(i);  // rank among the p values in ascending order, from 1
    smallest = std::min(smallest, p_values[order[i]] * count / rank);
    adjusted[order[i]] = smallest;
  }
  return adjusted;
}

double smallest_detectable_difference(const ModeratedTest& test, double false_discovery_rate, std::size_t comparisons) {
  if (comparisons == 0) throw std::invalid_argument{"the smallest detectable difference of no comparisons"};
  if (!(false_discovery_rate > 0 && false_discovery_rate < 1)) {
    throw std::invalid_argument{fmt::format("a false discovery rate of {}", false_discovery_rate)};
  }
  const double tail = false_discovery_rate / (2 * static_cast<double>(comparisons));
  return (t_upper_quantile(tail, test.degrees_of_freedom) + t_upper_quantile(1 - kPower, test.degrees_of_freedom)) *
         test.standard_error;
}

double geometric_mean(std::span<const double> values) {
  std::vector<double> logarithms;
  logarithms.reserve(values.size());
  for (const double value : values) {
    if (!(value > 0)) throw std::invalid_argument{fmt::format("the geometric mean of {}", value)};
    logarithms.push_back(std::log(value));
  }
  return std::exp(mean(logarithms));
}

}  // namespace tbench::stats
