#include "tbench/stats/outliers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace tbench::stats {
namespace {

constexpr std::size_t kMinValues = 3;
constexpr double kFirstShare = 0.8;  // share of the level; a single outlier is most likely
/// The standard normal deviate for a probability of 0.9. It is a little above the exact 1.28, because the estimate of
/// the spread is skewed, and one prior in a hundred is rejected by chance.
constexpr double kNineInTen = 1.34;

std::vector<double> values_of(std::span<const double> values, const std::vector<std::size_t>& indexes) {
  std::vector<double> some;
  for (const std::size_t index : indexes) some.push_back(values[index]);
  return some;
}

std::vector<std::size_t> without(std::vector<std::size_t> indexes, std::size_t index) {
  std::erase(indexes, index);
  return indexes;
}

/// Returns the largest possible number of outliers: fewer than half of the values, and at most a quarter of them or
/// three, whichever is more.
std::size_t max_outliers(std::size_t count) { return std::min((count - 1) / 2, std::max<std::size_t>(3, count / 4)); }

/// Returns the level of the one-sided test of the value removed at `stage`, which counts from 0.
/// @param left  number of values before the removal
double level_of_stage(double level, std::size_t stage, std::size_t stages, std::size_t left) {
  const double share = stage == 0 ? kFirstShare : (1 - kFirstShare) / static_cast<double>(stages - 1);
  return level * share / static_cast<double>(left);
}

std::size_t farthest(std::span<const double> values, const std::vector<std::size_t>& indexes) {
  const double centre = mean(values_of(values, indexes));
  return std::ranges::max(indexes, {}, [&](std::size_t index) { return std::abs(values[index] - centre); });
}

/// Returns the indexes of the outliers, in the order of their removal.
std::vector<std::size_t> outliers_of(std::span<const double> values, double level,
                                     const std::optional<DispersionPrior>& known) {
  std::vector<std::size_t> left(values.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  const std::size_t stages = max_outliers(values.size());
  std::vector<std::size_t> taken;
  std::size_t outliers = 0;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const std::size_t candidate = farthest(values, left);
    const std::size_t count = left.size();
    left = without(std::move(left), candidate);
    taken.push_back(candidate);
    const auto test = moderated_t_test(values_of(values, left), values.subspan(candidate, 1), known);
    if (test && test->p_value / 2 <= level_of_stage(level, stage, stages, count)) outliers = taken.size();
  }
  taken.resize(outliers);
  return taken;
}

/// Returns the shift, in standard errors, that the first test finds nine times in ten. The ratio of the estimated
/// spread to the true one is about normal, with mean 1 and variance 1 / (2 nu).
double detectable_score(double level, std::size_t count, double degrees_of_freedom) {
  const double nu = std::max(1.0, degrees_of_freedom - 1);  // the tested value does not contribute to the spread
  const double t = t_upper_quantile(level_of_stage(level, 0, max_outliers(count), count), nu);
  return t + kNineInTen * std::sqrt(1 + t * t / (2 * nu));
}

}  // namespace

std::optional<OutlierSearch> find_outliers(std::span<const double> values, double level,
                                           std::optional<DispersionPrior> known) {
  if (!(level > 0 && level < 1)) throw std::invalid_argument{fmt::format("a level of {}", level)};
  if (values.size() < kMinValues) return std::nullopt;
  const std::vector<std::size_t> outliers = outliers_of(values, level, known);
  std::vector<std::size_t> sound;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::ranges::find(outliers, i) == outliers.end()) sound.push_back(i);
  }
  OutlierSearch search;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto test = moderated_t_test(values_of(values, without(sound, i)), values.subspan(i, 1), known).value();
    search.deviations.push_back({.difference = test.difference,
                                 .score = test.difference / test.standard_error,
                                 .is_outlier = std::ranges::find(outliers, i) != outliers.end()});
  }
  const std::vector<double> sound_values = values_of(values, sound);
  const double centre = mean(sound_values);
  const auto spread = moderated_t_test(sound_values, std::span{&centre, 1}, known).value();
  search.standard_deviation = spread.standard_deviation;
  search.degrees_of_freedom = spread.degrees_of_freedom;
  search.prior_rejected = spread.prior_rejected;
  search.detectable = detectable_score(level, values.size(), spread.degrees_of_freedom) * search.standard_deviation *
                      std::sqrt(1 + 1 / static_cast<double>(values.size() - 1));
  return search;
}

}  // namespace tbench::stats
