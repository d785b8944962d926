// Tests change points with known levels.
#include "tbench/stats/change_points.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <vector>

namespace tbench::stats {
namespace {

using Values = std::vector<double>;

constexpr double kNoise = 0.003;

/// Returns the given number of values at each level, one level after the other.
Values levels(std::mt19937_64& random, const std::vector<std::pair<int, double>>& segments, double noise = kNoise) {
  std::normal_distribution<double> normal{0, noise};
  Values values;
  for (const auto& [count, level] : segments) {
    for (int i = 0; i < count; ++i) values.push_back(level + normal(random));
  }
  return values;
}

TEST(ChangePoints, FindsEveryChangeWhereItIs) {
  std::mt19937_64 random{1};
  const auto changes = find_change_points(levels(random, {{20, 0}, {15, 0.05}, {25, 0.02}}), {});
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].index, 20U);
  EXPECT_NEAR(changes[0].magnitude, 0.05, 0.004);
  EXPECT_EQ(changes[1].index, 35U);
  EXPECT_NEAR(changes[1].magnitude, -0.03, 0.004);
}

TEST(ChangePoints, ASeriesWithoutNoiseTooAndNoneInAConstant) {
  Values values(20, 1.0);
  EXPECT_TRUE(find_change_points(values, {}).empty());
  values.insert(values.end(), 8, 2.0);
  const auto changes = find_change_points(values, {});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].index, 20U);
  EXPECT_DOUBLE_EQ(changes[0].magnitude, 1);
}

TEST(ChangePoints, NoneInNoiseOfAnyShape) {
  std::mt19937_64 random{2};
  std::bernoulli_distribution second_mode{0.3};
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    Values values = levels(random, {{60, 0}});
    if (i % 2 == 1) {
      for (double& value : values) value += second_mode(random) ? 0.05 : 0;
    }
    found += find_change_points(values, {}).empty() ? 0 : 1;
  }
  // Each test has p <= 0.001, and a series needs a few tests.
  EXPECT_LE(found, 2);
}

TEST(ChangePoints, SmallChangesAreTakenBack) {
  std::mt19937_64 random{3};
  const Values values = levels(random, {{30, 0}, {30, 0.015}});
  EXPECT_TRUE(find_change_points(values, {}).empty());
  EXPECT_EQ(find_change_points(values, {.min_magnitude = 0.01}).size(), 1U);
}

TEST(ChangePoints, ADriftIsNotTakenBackAsManySmallSteps) {
  std::mt19937_64 random{4};
  Values values = levels(random, {{20, 0}});
  for (int i = 1; i <= 20; ++i) values.push_back(0.003 * i + levels(random, {{1, 0}}, kNoise).front());
  const auto changes = find_change_points(values, {});
  ASSERT_GE(changes.size(), 1U);
  for (const ChangePoint& change : changes) EXPECT_GE(change.magnitude, 0.02);
}

TEST(ChangePoints, OneOddValueIsNoLevel) {
  std::mt19937_64 random{5};
  Values values = levels(random, {{40, 0}});
  values[20] = 0.5;
  EXPECT_TRUE(find_change_points(values, {}).empty());
  values = levels(random, {{40, 0}});
  values.back() = 0.5;
  EXPECT_TRUE(find_change_points(values, {}).empty());
}

TEST(ChangePoints, SegmentsHaveALeastLength) {
  Values values(30, 0.0);
  values.insert(values.end(), 3, 1.0);
  for (const ChangePoint& change : find_change_points(values, {})) EXPECT_LE(change.index, 29U);
  EXPECT_TRUE(find_change_points(Values(7, 0.0), {}).empty());
  EXPECT_TRUE(find_change_points(Values{}, {}).empty());
  EXPECT_THROW(static_cast<void>(find_change_points(values, {.min_segment = 1})), std::invalid_argument);
}

TEST(ChangePoints, TheSameForTheSameSeed) {
  std::mt19937_64 random{6};
  const Values values = levels(random, {{20, 0}, {12, 0.03}}, 0.01);
  const auto first = find_change_points(values, {});
  const auto second = find_change_points(values, {});
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].index, second[i].index);
}

}  // namespace
}  // namespace tbench::stats
