// Compares tests with closed forms, and with SciPy 1.15's values written as literals.
#include "tbench/stats/tests.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>
#include <vector>

namespace tbench::stats {
namespace {

// Logarithms of five medians per side, in ms.
const std::vector<double> kBase{std::log(25.31), std::log(25.40), std::log(25.22), std::log(25.35), std::log(25.29)};
const std::vector<double> kNext{std::log(26.02), std::log(26.11), std::log(25.90), std::log(26.20), std::log(26.05)};

void expect_relative(double value, double expected, double tolerance = 1e-9) {
  EXPECT_NEAR(value, expected, std::abs(expected) * tolerance);
}

TEST(StudentsT, QuantileHasItsClosedForms) {
  // One degree of freedom gives Cauchy's distribution: tan(pi (1/2 - tail)). Two give (1 - 2a) sqrt(2 / (4 a (1 - a))).
  expect_relative(t_upper_quantile(0.1, 1), std::tan(std::numbers::pi * 0.4));
  expect_relative(t_upper_quantile(0.1, 2), 0.8 * std::sqrt(2 / (4 * 0.1 * 0.9)));
  EXPECT_NEAR(t_upper_quantile(0.5, 7), 0, 1e-12);
  expect_relative(t_upper_quantile(0.9, 7), -t_upper_quantile(0.1, 7));
}

TEST(StudentsT, QuantileAgreesWithSciPy) {  // scipy.stats.t.isf(tail, nu)
  expect_relative(t_upper_quantile(0.025, 8), 2.3060041352041662);
  expect_relative(t_upper_quantile(0.025, 18), 2.10092204024096);
  expect_relative(t_upper_quantile(0.2, 8), 0.8888895177669743);
  expect_relative(t_upper_quantile(0.025, 2.5), 3.574654842011878);
  expect_relative(t_upper_quantile(0.05 / 2 / 200, 8), 6.234038777547838);
  expect_relative(t_upper_quantile(0.05 / 2 / 10'000, 18), 6.401992469867428);
}

TEST(StudentsT, TwoSidedPAgreesWithSciPy) {  // 2 * scipy.stats.t.sf(abs(t), nu)
  expect_relative(t_two_sided_p(2.306, 8), 0.050000322761284174);
  expect_relative(t_two_sided_p(-5.5, 8), 0.0005737444459463371);
  expect_relative(t_two_sided_p(12, 18), 5.046511102563651e-10);
  expect_relative(t_two_sided_p(60, 8), 6.615115847914812e-12);
  EXPECT_EQ(t_two_sided_p(0, 3), 1);
  // Cauchy: P(|t| >= 1) = 1/2.
  expect_relative(t_two_sided_p(1, 1), 0.5);
}

TEST(StudentsT, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(static_cast<void>(t_upper_quantile(0, 8)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(t_upper_quantile(1, 8)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(t_upper_quantile(0.1, 0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(t_two_sided_p(1, -1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(t_two_sided_p(1, std::numeric_limits<double>::quiet_NaN())), std::invalid_argument);
}

TEST(PooledVariance, OfUnequalGroups) {
  // The squares about the means 2 and 5 are 1 + 0 + 1 and 1 + 1, so the variance is (2 + 2) / (3 + 2 - 2).
  const PooledVariance pooled = pooled_variance(std::vector{1.0, 2.0, 3.0}, std::vector{4.0, 6.0});
  expect_relative(pooled.variance, 4.0 / 3);
  EXPECT_EQ(pooled.degrees_of_freedom, 3);
}

TEST(PooledVariance, OfOneValueEachIsUnknown) {
  const PooledVariance pooled = pooled_variance(std::vector{1.0}, std::vector{9.0});
  EXPECT_EQ(pooled.variance, 0);
  EXPECT_EQ(pooled.degrees_of_freedom, 0);
  EXPECT_THROW(static_cast<void>(pooled_variance({}, std::vector{1.0})), std::invalid_argument);
}

TEST(ModeratedTTest, WithoutAPriorIsStudents) {  // scipy.stats.ttest_ind(next, base), .confidence_interval(.95)
  const ModeratedTest test = moderated_t_test(kBase, kNext).value();
  expect_relative(test.difference, 0.028886026725989833);
  expect_relative(test.difference / test.standard_error, 12.85576092475357);
  expect_relative(test.p_value, 1.2661963509690418e-06, 1e-8);
  expect_relative(test.interval.low, 0.02370459114472513);
  expect_relative(test.interval.high, 0.03406746230725454);
  expect_relative(test.standard_deviation, 0.003552712186438524);
  EXPECT_EQ(test.degrees_of_freedom, 8);
}

TEST(ModeratedTTest, LeansOnWhatIsKnown) {  // the same sums in NumPy, with d0 = 10 and s0 = 0.4 %
  const ModeratedTest test =
      moderated_t_test(kBase, kNext, DispersionPrior{.standard_deviation = 0.004, .degrees_of_freedom = 10}).value();
  EXPECT_FALSE(test.prior_rejected);
  EXPECT_EQ(test.degrees_of_freedom, 18);
  expect_relative(test.standard_deviation, 0.003807697693396528);
  expect_relative(test.standard_error, 0.0024081994705005016);
  expect_relative(test.p_value, 5.081404808376732e-10, 1e-8);
  expect_relative(test.interval.low, 0.02382658738111872);
  expect_relative(test.interval.high, 0.03394546607086095);
}

TEST(ModeratedTTest, APriorAloneIsEnough) {
  const std::vector<double> one{1.0};
  const std::vector<double> other{1.5};
  EXPECT_FALSE(moderated_t_test(one, other).has_value());
  const ModeratedTest test =
      moderated_t_test(one, other, DispersionPrior{.standard_deviation = 0.1, .degrees_of_freedom = 10}).value();
  expect_relative(test.standard_error, 0.1 * std::sqrt(2.0));
  EXPECT_EQ(test.degrees_of_freedom, 10);
}

TEST(ModeratedTTest, APriorThatTheMeasurementContradictsDoesNotCount) {
  // The groups' variance is 0.003552712^2, and scipy.stats.f.isf(0.01, 8, 10) = 5.0567. The smallest standard deviation
  // that this does not contradict is therefore 0.0015798.
  const auto with_prior = [](double standard_deviation) {
    return moderated_t_test(kBase, kNext,
                            DispersionPrior{.standard_deviation = standard_deviation, .degrees_of_freedom = 10})
        .value();
  };
  EXPECT_FALSE(with_prior(0.00159).prior_rejected);
  const ModeratedTest rejected = with_prior(0.00157);
  EXPECT_TRUE(rejected.prior_rejected);
  EXPECT_EQ(rejected.degrees_of_freedom, 8);
  expect_relative(rejected.standard_deviation, 0.003552712186438524);
}

TEST(ModeratedTTest, AQuietHistoryDoesNotMakeALoudNightCertain) {
  // The history has a deviation of 0.5 %, but this run has 3.3 %. If the prior always counted, 19 % of the p values
  // would be below 0.05.
  std::mt19937_64 random{11};
  std::normal_distribution<double> noise{0, 0.033};
  int below = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> base(5);
    std::vector<double> next(5);
    for (double& value : base) value = noise(random);
    for (double& value : next) value = noise(random);
    const DispersionPrior prior{.standard_deviation = 0.005, .degrees_of_freedom = 10};
    if (moderated_t_test(base, next, prior).value().p_value < 0.05) ++below;
  }
  EXPECT_LE(below, kTrials * 0.07);
}

/// Returns variances of `cases` cases in `runs` runs of 5 processes each. The true variance is d0 / (chi^2 with d0
/// degrees of freedom), and 1 if d0 is infinite.
std::vector<std::vector<PooledVariance>> simulated_variances(double d0, std::size_t cases, std::size_t runs) {
  std::mt19937_64 random{5};
  std::chi_squared_distribution<double> measured{4};
  std::vector<std::vector<PooledVariance>> all(cases);
  for (auto& of_case : all) {
    for (std::size_t run = 0; run < runs; ++run) {
      const double truth = std::isinf(d0) ? 1 : d0 / std::chi_squared_distribution<double>{d0}(random);
      of_case.push_back({.variance = truth * measured(random) / 4, .degrees_of_freedom = 4});
    }
  }
  return all;
}

TEST(PriorDegreesOfFreedom, AreThoseThatTheVariancesWereDrawnWith) {
  EXPECT_NEAR(prior_degrees_of_freedom(simulated_variances(4, 100, 20)), 4, 0.8);
  EXPECT_NEAR(prior_degrees_of_freedom(simulated_variances(10, 100, 20)), 10, 3);
  EXPECT_GE(prior_degrees_of_freedom(simulated_variances(std::numeric_limits<double>::infinity(), 100, 20)), 30);
}

TEST(PriorDegreesOfFreedom, AreNoneWhereTooLittleTellsOfThem) {
  EXPECT_EQ(prior_degrees_of_freedom({}), 0);
  EXPECT_EQ(prior_degrees_of_freedom(simulated_variances(10, 9, 2)), 0);
  EXPECT_GT(prior_degrees_of_freedom(simulated_variances(10, 10, 2)), 0);
  EXPECT_EQ(prior_degrees_of_freedom(simulated_variances(10, 50, 1)), 0);
}

TEST(ModeratedTTest, NoSpreadIsUnderTheFloor) {
  const std::vector<double> same{1.0, 1.0, 1.0};
  const ModeratedTest test = moderated_t_test(same, same).value();
  EXPECT_EQ(test.standard_deviation, kDispersionFloor);
  EXPECT_EQ(test.p_value, 1);
}

TEST(ModeratedTTest, UnequalGroupsWeighTheirError) {
  const std::vector<double> three{0.0, 1.0, 2.0};
  const std::vector<double> two{4.0, 6.0};
  // Pooled: (2 + 2) / 3; standard error sqrt(4/3 (1/3 + 1/2)).
  expect_relative(moderated_t_test(three, two).value().standard_error, std::sqrt(4.0 / 3 * (1.0 / 3 + 1.0 / 2)));
}

TEST(BenjaminiHochberg, AgreesWithSciPy) {  // scipy.stats.false_discovery_control
  const std::vector<double> adjusted = benjamini_hochberg(std::vector{0.01, 0.04, 0.03, 0.005, 0.8, 0.04});
  const std::vector<double> expected{0.03, 0.048, 0.048, 0.03, 0.8, 0.048};
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t i = 0; i < adjusted.size(); ++i) expect_relative(adjusted[i], expected[i], 1e-12);
}

TEST(BenjaminiHochberg, OfOneIsItselfAndOfNoneNone) {
  EXPECT_EQ(benjamini_hochberg(std::vector{0.2}), std::vector{0.2});
  EXPECT_TRUE(benjamini_hochberg({}).empty());
  EXPECT_THROW(static_cast<void>(benjamini_hochberg(std::vector{1.5})), std::invalid_argument);
}

TEST(SmallestDetectableDifference, AgreesWithSciPy) {
  // s~ = 0.6 %, five replicates per side: (isf(.05 / 2m, nu) + isf(.2, nu)) * 0.006 * sqrt(2 / 5).
  ModeratedTest test;
  test.standard_error = 0.006 * std::sqrt(2.0 / 5);
  test.degrees_of_freedom = 8;
  expect_relative(smallest_detectable_difference(test, 0.05, 1), 0.012123768990485263);
  expect_relative(smallest_detectable_difference(test, 0.05, 200), 0.02702961242790632);
  test.degrees_of_freedom = 18;
  expect_relative(smallest_detectable_difference(test, 0.05, 200), 0.020524114824522925);
  EXPECT_THROW(static_cast<void>(smallest_detectable_difference(test, 0.05, 0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(smallest_detectable_difference(test, 1.5, 2)), std::invalid_argument);
}

TEST(SmallestDetectableDifference, IsFoundInEightOfTen) {
  // The formula approximates the noncentral t and errs slightly on the safe side: it finds at least 8 and at most 9 of
  // 10.
  std::mt19937_64 random{7};
  std::normal_distribution<double> noise{0, 0.006};
  ModeratedTest expected;
  expected.standard_error = 0.006 * std::sqrt(2.0 / 5);
  expected.degrees_of_freedom = 8;
  const double shift = smallest_detectable_difference(expected, 0.05, 1);
  int found = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> base(5);
    std::vector<double> next(5);
    for (double& value : base) value = noise(random);
    for (double& value : next) value = shift + noise(random);
    if (moderated_t_test(base, next).value().p_value <= 0.05) ++found;
  }
  EXPECT_GE(found, kTrials * 0.77);
  EXPECT_LE(found, kTrials * 0.90);
}

TEST(GeometricMean, OfReciprocalsIsOne) {
  expect_relative(geometric_mean(std::vector{2.0, 0.5}), 1);
  expect_relative(geometric_mean(std::vector{1.0, 4.0, 16.0}), 4);
  EXPECT_THROW(static_cast<void>(geometric_mean(std::vector{1.0, 0.0})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(geometric_mean({})), std::invalid_argument);
}

TEST(ModeratedTTest, OneValueASideIsTestedByThePriorAlone) {
  const std::vector<double> base{0};
  const std::vector<double> next{0.03};
  const auto test = moderated_t_test(base, next, DispersionPrior{.standard_deviation = 0.01, .degrees_of_freedom = 6});
  ASSERT_TRUE(test.has_value());
  EXPECT_EQ(test->degrees_of_freedom, 6);
  EXPECT_DOUBLE_EQ(test->standard_error, 0.01 * std::sqrt(2));
  // t = 2.12132 with 6 degrees of freedom; t(.975, 6) = 2.446912.
  EXPECT_NEAR(test->p_value, 0.0781, 1e-4);
  EXPECT_NEAR(test->interval.high, 0.03 + 2.446912 * 0.01 * std::sqrt(2), 1e-8);
  EXPECT_FALSE(test->prior_rejected);
  EXPECT_FALSE(moderated_t_test(base, next).has_value());
}

TEST(RejectsPrior, AVarianceFarAboveIt) {
  const DispersionPrior prior{.standard_deviation = 0.01, .degrees_of_freedom = 6};
  // F(.99, 4, 6) = 9.148
  EXPECT_FALSE(rejects_prior(prior, {.variance = 9.1e-4, .degrees_of_freedom = 4}));
  EXPECT_TRUE(rejects_prior(prior, {.variance = 9.2e-4, .degrees_of_freedom = 4}));
  EXPECT_FALSE(rejects_prior(prior, {.variance = 1, .degrees_of_freedom = 0}));
}

}  // namespace
}  // namespace tbench::stats
