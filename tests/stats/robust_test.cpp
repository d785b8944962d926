// Compares robust statistics with sums by hand, and with SciPy 1.15's values written as literals.
#include "tbench/stats/robust.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace tbench::stats {
namespace {

using Values = std::vector<double>;

TEST(RobustScore, OddValuesDoNotMoveIt) {
  // The median is 3. The deviations are 2, 1, 0, 1, 97, and their median is 1.
  EXPECT_DOUBLE_EQ(robust_scale(Values{1, 2, 3, 4, 100}), 1.4826);
  const RobustScore score = robust_score(8, Values{1, 2, 3, 4, 100}, 0.1);
  EXPECT_DOUBLE_EQ(score.centre, 3);
  EXPECT_DOUBLE_EQ(score.z, 5 / (1.4826 * std::sqrt(1 + 1.57 / 5)));
}

TEST(RobustScore, ScaleHasAFloor) {
  EXPECT_DOUBLE_EQ(robust_score(2, Values{1, 1, 1, 1}, 0.25).z, 1 / (0.25 * std::sqrt(1 + 1.57 / 4)));
  EXPECT_DOUBLE_EQ(robust_score(0, Values{1, 1, 1, 1}, 0.25).z, -1 / (0.25 * std::sqrt(1 + 1.57 / 4)));
}

TEST(RobustScore, RefusesNonsense) {
  EXPECT_THROW(static_cast<void>(robust_score(1, Values{}, 0.1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(robust_score(1, Values{1}, 0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(robust_scale(Values{})), std::invalid_argument);
}

TEST(PredictionHalfWidth, IsStudentsAboutTheMedian) {
  // The median is 2, and the squares are 1 + 0 + 9 over 2. scipy.stats.t.isf(0.005, 2) = 9.92484320091807.
  EXPECT_NEAR(prediction_half_width(Values{1, 2, 5}, 0.01), 9.92484320091807 * std::sqrt(5 * (1 + 1.57 / 3)), 1e-9);
  EXPECT_THROW(static_cast<void>(prediction_half_width(Values{1}, 0.01)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(prediction_half_width(Values{1, 2}, 0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(prediction_half_width(Values{1, 2}, 1.5)), std::invalid_argument);
}

TEST(PredictionHalfWidth, TheNextValueLeavesItAsOftenAsItSays) {
  std::mt19937_64 random{3};
  std::normal_distribution<double> noise{0, 0.003};
  int outside = 0;
  constexpr int kTrials = 20'000;
  for (int trial = 0; trial < kTrials; ++trial) {
    Values past(20);
    for (double& value : past) value = noise(random);
    const double distance = std::abs(noise(random) - median(past));
    if (distance > prediction_half_width(past, 0.05)) ++outside;
  }
  EXPECT_NEAR(static_cast<double>(outside) / kTrials, 0.05, 0.01);
}

TEST(Trend, IsThatOfMannAndKendallAndOfTheMedianSlope) {
  const Trend up = trend_of(Values{1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(up.rise, 4);
  EXPECT_DOUBLE_EQ(up.z, 9 / std::sqrt(5 * 4 * 15 / 18.0));
  const Trend down = trend_of(Values{5, 4, 3, 2, 1});
  EXPECT_DOUBLE_EQ(down.rise, -4);
  EXPECT_DOUBLE_EQ(down.z, -up.z);
  EXPECT_DOUBLE_EQ(trend_of(Values{1, 2, 100, 4, 5}).rise, 4) << "one odd value changes little";
  EXPECT_DOUBLE_EQ(trend_of(Values{1, 1, 1}).z, 0);
  EXPECT_THROW(static_cast<void>(trend_of(Values{1})), std::invalid_argument);
}

TEST(SharePValue, IsTheTailOfTheHypergeometricDistribution) {
  EXPECT_NEAR(share_p_value(2, 5, 2, 105), 10 / 5460.0, 1e-12) << "two of five after none of a hundred";
  EXPECT_NEAR(share_p_value(0, 5, 20, 105), 1, 1e-9);
  EXPECT_NEAR(share_p_value(1, 1, 1, 4), 0.25, 1e-12);
  EXPECT_NEAR(share_p_value(3, 3, 3, 3), 1, 1e-12);
  EXPECT_THROW(static_cast<void>(share_p_value(3, 2, 3, 4)), std::invalid_argument);
}

TEST(Holm, MultipliesByTheNumberThatIsLeft) {
  // The products are 0.01 x 4, 0.02 x 3, 0.03 x 2 and 0.5 x 1. A product below the one before is raised to it.
  const Values adjusted = holm(Values{0.5, 0.02, 0.01, 0.03});
  EXPECT_DOUBLE_EQ(adjusted[0], 0.5);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.04);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.06);
  EXPECT_EQ(holm(Values{0.9, 0.8}), (Values{1, 1}));
  EXPECT_TRUE(holm(Values{}).empty());
  EXPECT_THROW(static_cast<void>(holm(Values{1.5})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(holm(Values{std::nan("")})), std::invalid_argument);
}

TEST(PairedTTest, AgreesWithSciPy) {  // scipy.stats.ttest_1samp(d, 0)
  const ModeratedTest test = paired_t_test(Values{0.031, 0.027, 0.029, 0.035, 0.024, 0.030}).value();
  EXPECT_NEAR(test.difference, 0.029333333333333333, 1e-15);
  EXPECT_NEAR(test.standard_deviation, 0.003723797345005052, 1e-15);
  EXPECT_NEAR(test.p_value, 6.896539735369203e-06, 1e-14);
  EXPECT_NEAR(test.interval.low, 0.02542544768373499, 1e-12);
  EXPECT_NEAR(test.interval.high, 0.033241218982931676, 1e-12);
  EXPECT_EQ(test.degrees_of_freedom, 5);
}

TEST(PairedTTest, DifferencesThatAgreeTooWellAreLuck) {
  const ModeratedTest test = paired_t_test(Values{0.002, 0.002}).value();
  EXPECT_DOUBLE_EQ(test.standard_deviation, kDispersionFloor);
  EXPECT_GT(test.p_value, 0.01);
  EXPECT_FALSE(paired_t_test(Values{0.1}).has_value());
  EXPECT_FALSE(paired_t_test(Values{}).has_value());
}

}  // namespace
}  // namespace tbench::stats
