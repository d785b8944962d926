// Compares statistics with closed forms and sums done by hand. For values from NumPy, the comment has the call.
#include "tbench/stats/descriptive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace tbench::stats {
namespace {

const std::vector<double> kSeven{3.1, 1.2, 9.7, 4.4, 4.5, 0.3, 7.7};

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  std::reverse(values.begin(), values.end());  // the order must not matter
  return values;
}

std::vector<double> concatenated(std::initializer_list<std::vector<double>> parts) {
  std::vector<double> all;
  for (const auto& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST(Quantile, IsNumPysDefault) {
  // numpy.quantile([3.1, 1.2, 9.7, 4.4, 4.5, 0.3, 7.7], q)
  EXPECT_DOUBLE_EQ(quantile(kSeven, 0.0), 0.3);
  EXPECT_DOUBLE_EQ(quantile(kSeven, 0.1), 0.84);
  EXPECT_DOUBLE_EQ(quantile(kSeven, 0.25), 2.15);
  EXPECT_DOUBLE_EQ(quantile(kSeven, 0.5), 4.4);
  EXPECT_DOUBLE_EQ(quantile(kSeven, 0.9), 8.5);
  EXPECT_DOUBLE_EQ(quantile(kSeven, 1.0), 9.7);
}

TEST(Quantile, InterpolatesLinearly) {
  // Position (n - 1) * q = 9 * 0.9 = 8.1 of 1..10: between the ninth, 9, and the tenth, 10.
  EXPECT_DOUBLE_EQ(quantile(one_to(10), 0.9), 9.1);
  EXPECT_DOUBLE_EQ(quantile(one_to(10), 0.1), 1.9);
  EXPECT_DOUBLE_EQ(quantile(std::vector{5.0}, 0.3), 5.0);
}

TEST(Quantile, RefusesNoSamplesAndOrdersOutsideTheUnitInterval) {
  EXPECT_THROW(static_cast<void>(quantile({}, 0.5)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(quantile(kSeven, -0.01)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(quantile(kSeven, 1.01)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(quantile(kSeven, std::numeric_limits<double>::quiet_NaN())), std::invalid_argument);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median(std::vector{3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median(std::vector{4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_THROW(static_cast<void>(median({})), std::invalid_argument);
}

TEST(Mean, OfOneToN) {
  EXPECT_DOUBLE_EQ(mean(one_to(100)), 50.5);
  EXPECT_DOUBLE_EQ(mean(kSeven), 4.414285714285714);  // 30.9 / 7
  EXPECT_THROW(static_cast<void>(mean({})), std::invalid_argument);
}

TEST(StandardDeviation, DividesByOneLess) {
  // With the divisor n - 1, the variance of 1..n is n (n + 1) / 12.
  EXPECT_DOUBLE_EQ(*standard_deviation(one_to(10)), std::sqrt(10.0 * 11.0 / 12.0));
  EXPECT_DOUBLE_EQ(*standard_deviation(kSeven), 3.3597760696354806);  // numpy.std(..., ddof=1)
  EXPECT_EQ(standard_deviation(std::vector{2.0, 2.0}), 0.0);
  EXPECT_FALSE(standard_deviation(std::vector{2.0}).has_value());
  EXPECT_FALSE(standard_deviation({}).has_value());
}

TEST(StandardDeviation, KeepsItsDigitsFarFromZero) {
  // The sums of squares differ in the 16th digit. 1e9 + {4, 7, 13, 16} has the same variance as {4, 7, 13, 16}: 30.
  EXPECT_DOUBLE_EQ(*standard_deviation(std::vector{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}), std::sqrt(30.0));
}

TEST(RelativeIqr, IsTheQuartilesDistanceOverTheMedian) {
  // (q75 - q25) / q50 = (6.1 - 2.15) / 4.4
  EXPECT_DOUBLE_EQ(relative_iqr(kSeven), 0.8977272727272726);
  EXPECT_EQ(relative_iqr(std::vector{3.0, 3.0, 3.0}), 0.0);
  EXPECT_THROW(static_cast<void>(relative_iqr({})), std::invalid_argument);
}

struct Ranks {
  int n;
  double low, high;
};

class MedianInterval : public testing::TestWithParam<Ranks> {};

// The order statistics of 1..n are the ranks themselves.
TEST_P(MedianInterval, HasTheRanksOfTheFormula) {
  const auto [n, low, high] = GetParam();
  const auto interval = median_interval(one_to(n));
  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->low, low);
  EXPECT_EQ(interval->high, high);
}

INSTANTIATE_TEST_SUITE_P(ByHand, MedianInterval,
                         testing::Values(Ranks{8, 1, 8},         // 4 - 2.77 = 1.2; 5 + 2.77 = 7.8
                                         Ranks{10, 1, 10},       // 5 - 3.10 = 1.9; 6 + 3.10 = 9.1
                                         Ranks{20, 5, 16},       // 10 - 4.38 = 5.6; 11 + 4.38 = 15.4
                                         Ranks{50, 18, 33},      // 25 - 6.93 = 18.1; 26 + 6.93 = 32.9
                                         Ranks{100, 40, 61},     // 50 - 9.8 = 40.2; 51 + 9.8 = 60.8
                                         Ranks{300, 133, 168}),  // 150 - 16.97 = 133.03; 151 + 16.97 = 167.97
                         [](const auto& instance) { return "N" + std::to_string(instance.param.n); });

TEST(MedianIntervalOfFew, DoesNotExist) {
  for (int n = 1; n < 8; ++n) {
    EXPECT_FALSE(median_interval(one_to(n)).has_value()) << n;
  }
  EXPECT_FALSE(median_interval({}).has_value());
}

TEST(MedianRelativeHalfWidth, IsHalfTheIntervalOverTheMedian) {
  EXPECT_DOUBLE_EQ(*median_relative_half_width(one_to(100)), (61.0 - 40.0) / 2.0 / 50.5);
  EXPECT_FALSE(median_relative_half_width(one_to(7)).has_value());
}

TEST(IsSteady, NeedsTenSamplesOfOneLevel) {
  EXPECT_TRUE(is_steady(std::vector<double>(10, 2.0)));
  EXPECT_FALSE(is_steady(std::vector<double>(9, 2.0)));
}

TEST(IsSteady, LooksAtTheLastTenAlone) {
  EXPECT_TRUE(is_steady(concatenated({{9.0, 8.0, 7.0}, std::vector<double>(10, 2.0)})));
  EXPECT_FALSE(is_steady(concatenated({std::vector<double>(10, 2.0), {9.0, 8.0, 7.0}})));
}

TEST(IsSteady, AllowsOnePercentOfSpread) {
  // The values alternate between 100 - d and 100 + d: q90 - q10 = 2 d, the median is 100, and the halves are nearly
  // equal.
  const auto alternating = [](double d) {
    std::vector<double> samples;
    for (int i = 0; i < 10; ++i) {
      samples.push_back(i % 2 == 0 ? 100.0 - d : 100.0 + d);
    }
    return samples;
  };
  EXPECT_TRUE(is_steady(alternating(0.24)));   // a spread of 0.48 %, and the halves' medians differ by 0.48 %
  EXPECT_FALSE(is_steady(alternating(0.51)));  // 1.02 %
  // The halves are equal. Positions 0.9 and 8.1 of the ten sorted values are among the four lowest and four highest.
  const std::vector<double> half_narrow{99.5, 99.5, 100.0, 100.4, 100.4};  // 100.4 - 99.5 = 0.9 %
  const std::vector<double> half_wide{99.4, 99.4, 100.0, 100.5, 100.5};    // 100.5 - 99.4 = 1.1 %
  EXPECT_TRUE(is_steady(concatenated({half_narrow, half_narrow})));
  EXPECT_FALSE(is_steady(concatenated({half_wide, half_wide})));
}

TEST(IsSteady, AllowsHalfAPercentBetweenTheHalves) {
  const auto step_of = [](double after) {
    return concatenated({std::vector<double>(5, 100.0), std::vector<double>(5, after)});
  };
  EXPECT_TRUE(is_steady(step_of(100.49)));
  EXPECT_TRUE(is_steady(step_of(99.51)));
  EXPECT_FALSE(is_steady(step_of(100.51)));
  EXPECT_FALSE(is_steady(step_of(99.49)));
}

TEST(IsLevel, AllowsHalfAPercentBetweenThreeQuietBlocksOfTen) {
  const auto quiet = [](double centre) { return std::vector<double>(10, centre); };
  EXPECT_TRUE(is_level(concatenated({quiet(100), quiet(100.4), quiet(100.2)})));
  EXPECT_FALSE(is_level(concatenated({quiet(100), quiet(100.2), quiet(100.6)})));
  EXPECT_FALSE(is_level(concatenated({quiet(100.6), quiet(100.2), quiet(100)})));
  EXPECT_FALSE(is_level(concatenated({quiet(100), quiet(100)})));  // 20 samples
  EXPECT_TRUE(is_level(concatenated({quiet(500), quiet(100), quiet(100), quiet(100)})));
}

TEST(IsLevel, AllowsWhatTheNoiseInsideTheBlocksExplains) {
  const auto noisy = [](double centre) {
    return std::vector{centre - 9, centre - 7, centre - 5, centre - 3, centre - 1,
                       centre + 1, centre + 3, centre + 5, centre + 7, centre + 9};  // median: centre; IQR 4.5 + 4.5
  };
  EXPECT_TRUE(is_level(concatenated({noisy(100), noisy(108), noisy(103)})));   // 8 < 0.97 * 9 * (1 - a little)
  EXPECT_FALSE(is_level(concatenated({noisy(100), noisy(105), noisy(110)})));  // 10 > 8.73
  EXPECT_FALSE(is_steady(concatenated({noisy(100), noisy(100), noisy(100)})));
  std::vector<double>
      falling;  // a trend widens its own blocks, but the distance between them more: 20 against 0.97 * 4.5
  for (int i = 0; i < 30; ++i) {
    falling.push_back(130.0 - i);
  }
  EXPECT_FALSE(is_level(falling));
}

TEST(SpreadHasSettled, ComparesTheLastEight) {
  EXPECT_TRUE(spread_has_settled(std::vector<double>(8, 0.02)));
  EXPECT_FALSE(spread_has_settled(std::vector<double>(7, 0.02)));
  EXPECT_TRUE(spread_has_settled(std::vector{1.0, 0.951, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}));
  EXPECT_FALSE(spread_has_settled(std::vector{1.0, 0.949, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}));
  EXPECT_TRUE(spread_has_settled(std::vector{5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}));
  EXPECT_TRUE(spread_has_settled(std::vector<double>(8, 0.0)));
}

TEST(PowerLawFit, FindsTheLawOfExactPoints) {
  // 3 x^1.5 at x = 1, 4, 16, 64: 3, 3 * 8, 3 * 64, 3 * 512
  const auto law = power_law_fit(std::vector{1.0, 4.0, 16.0, 64.0}, std::vector{3.0, 24.0, 192.0, 1536.0});
  ASSERT_TRUE(law);
  EXPECT_NEAR(law->exponent, 1.5, 1e-12);
  EXPECT_NEAR(law->factor, 3.0, 1e-11);
  EXPECT_NEAR(law->r_squared, 1.0, 1e-12);
}

TEST(PowerLawFit, IsLeastSquaresOfTheLogarithms) {
  // ln x = 0, 1, 2 and ln y = 0, 2, 1: means 1 and 1, S_uu = 2, S_vv = 2, S_uv = (-1)(-1) + 0 + (1)(0) = 1.
  // Slope 1/2, intercept 1 - 1/2, r^2 = 1 / (2 * 2).
  const double e = std::exp(1.0);
  const auto law = power_law_fit(std::vector{1.0, e, e * e}, std::vector{1.0, e * e, e});
  ASSERT_TRUE(law);
  EXPECT_NEAR(law->exponent, 0.5, 1e-12);
  EXPECT_NEAR(law->factor, std::exp(0.5), 1e-12);
  EXPECT_NEAR(law->r_squared, 0.25, 1e-12);
}

TEST(PowerLawFit, AConstantHasTheExponentZero) {
  const auto law = power_law_fit(std::vector{1.0, 2.0, 4.0}, std::vector{5.0, 5.0, 5.0});
  ASSERT_TRUE(law);
  EXPECT_DOUBLE_EQ(law->exponent, 0.0);
  EXPECT_DOUBLE_EQ(law->r_squared, 1.0);
}

TEST(PowerLawFit, NeedsTwoPlacesAndValuesAboveZero) {
  EXPECT_FALSE(power_law_fit({}, {}));
  EXPECT_FALSE(power_law_fit(std::vector{2.0, 2.0}, std::vector{1.0, 3.0}));
  EXPECT_THROW(static_cast<void>(power_law_fit(std::vector{1.0, 2.0}, std::vector{1.0})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(power_law_fit(std::vector{0.0, 2.0}, std::vector{1.0, 1.0})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(power_law_fit(std::vector{1.0, 2.0}, std::vector{1.0, -1.0})), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::stats
