#include "tbench/stats/outliers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace tbench::stats {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kLevel = 0.01;
const DispersionPrior kKnown{.standard_deviation = 0.005, .degrees_of_freedom = 50};

std::vector<std::size_t> found(const std::vector<double>& values, std::optional<DispersionPrior> known = kKnown) {
  std::vector<std::size_t> indexes;
  const OutlierSearch search = find_outliers(values, kLevel, known).value();
  for (std::size_t i = 0; i < search.deviations.size(); ++i) {
    if (search.deviations[i].is_outlier) indexes.push_back(i);
  }
  return indexes;
}

TEST(Outliers, OneIsFoundAndMeasuredAgainstTheOthers) {
  const std::vector<double> values{0.004, -0.004, 0.03, 0.002, -0.002};
  EXPECT_THAT(found(values), ElementsAre(2U));
  const OutlierSearch search = find_outliers(values, kLevel, kKnown).value();
  EXPECT_NEAR(search.deviations[2].difference, 0.03, 1e-12);               // relative to 0, the mean of the other four
  EXPECT_NEAR(search.deviations[0].difference, 0.004 + 0.004 / 3, 1e-12);  // the outlier is left out
  // The four values have s^2 = 40e-6 / 3 with 3 degrees of freedom; 25e-6 with 50 is known. s~^2 = (50 * 25 + 40) e-6 /
  // 53.
  EXPECT_NEAR(search.standard_deviation, std::sqrt(1290e-6 / 53), 1e-12);
  EXPECT_DOUBLE_EQ(search.degrees_of_freedom, 53);
  EXPECT_NEAR(search.deviations[2].score, 0.03 / (search.standard_deviation * std::sqrt(1.25)), 1e-9);
}

TEST(Outliers, BothSidesAreSearched) {
  EXPECT_THAT(found({0.001, -0.001, -0.04, 0.002, 0.04, 0, 0, 0.001}), ElementsAre(2U, 4U));
}

TEST(Outliers, TwoAlikeDoNotHideEachOther) {
  EXPECT_THAT(found({0.001, -0.001, 0.04, 0.002, 0.041, 0, -0.002, 0.001}), ElementsAre(2U, 4U));
}

TEST(Outliers, SoundValuesHaveNone) {
  EXPECT_THAT(found({0.001, -0.006, 0.003, 0.007, -0.002, 0, 0.004, -0.005}), IsEmpty());
  EXPECT_THAT(found({1, 1, 1, 1}), IsEmpty());
}

TEST(Outliers, WithoutKnowledgeTheValuesTellAlone) {
  const std::vector<double> values{0.004, -0.004, 0.03, 0.002, -0.002};
  EXPECT_THAT(found(values, std::nullopt), IsEmpty());
  EXPECT_GT(find_outliers(values, kLevel)->detectable, 2 * find_outliers(values, kLevel, kKnown)->detectable);
  EXPECT_THAT(found({0.004, -0.004, 0.3, 0.002, -0.002, 0.001, -0.001, 0.003}, std::nullopt), ElementsAre(2U));
}

TEST(Outliers, KnowledgeThatTheValuesContradictDoesNotCount) {
  const std::vector<double> values{0.04, -0.04, 0.02, -0.02, 0.01, -0.01, 0.03, -0.03};
  const OutlierSearch search = find_outliers(values, kLevel, kKnown).value();
  EXPECT_TRUE(search.prior_rejected);
  EXPECT_THAT(found(values), IsEmpty());
  EXPECT_NEAR(search.standard_deviation, std::sqrt(60e-4 / 7), 1e-12);  // 2 (16 + 4 + 1 + 9) e-4 over 7
}

TEST(Outliers, FewerThanThreeValuesTellNothing) {
  EXPECT_FALSE(find_outliers(std::vector{0.0, 1.0}, kLevel, kKnown).has_value());
  EXPECT_TRUE(find_outliers(std::vector{0.0, 0.001, 0.002}, kLevel).has_value());
  EXPECT_THROW(static_cast<void>(find_outliers(std::vector{0.0, 1.0, 2.0}, 0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(find_outliers(std::vector{0.0, 1.0, 2.0}, 1)), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::stats
