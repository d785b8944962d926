// Tests that a comparison finds one wrong element, a swapped stride, a NaN, and an error that no single element shows.
#include "support/compare_outputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace tbench::kernels {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::array<std::int64_t, 4> kExtents{2, 3, 50, 16};  // 300 rows, 4800 elements
constexpr double kDeviation = 1e-3;

class CompareOutputs : public testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 engine{1};
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < 4800; ++i) {
      expected_.push_back({normal(engine), kDeviation * kDeviation});
      actual_.push_back(expected_.back().value + kDeviation * normal(engine));
    }
  }
  [[nodiscard]] std::string failure(const Allowance& allowance = {}) const {
    return compare_outputs("dk", kExtents, actual_, expected_, allowance).failure;
  }
  std::vector<Uncertain> expected_;
  std::vector<double> actual_;
};

TEST_F(CompareOutputs, PassesWhatRoundingExplains) {
  const Comparison result = compare_outputs("dk", kExtents, actual_, expected_);
  EXPECT_THAT(result.failure, IsEmpty());
  EXPECT_GT(result.worst, 3.0 / 7);  // the largest of 4800 normal errors is 3 to 5 deviations
  EXPECT_LT(result.worst, 5.0 / 7);
  EXPECT_NEAR(result.root_mean_square, 1 / (1.5 + 7 / std::sqrt(300.0)), 0.03);
}

TEST_F(CompareOutputs, NamesTheFirstWrongElement) {
  actual_[static_cast<std::size_t>(((1 * 3 + 2) * 50 + 7) * 16 + 5)] += 8 * kDeviation + 5 * kDeviation;
  actual_.back() += 13 * kDeviation;
  EXPECT_THAT(failure(), HasSubstr("dk[1, 2, 7, 5] is "));
  EXPECT_THAT(failure(), HasSubstr("; 2 of 4800 elements are off"));
}

TEST_F(CompareOutputs, FindsWhatIsNotFinite) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const double before = std::exchange(actual_[16], value);
    EXPECT_THAT(failure(), HasSubstr("dk[0, 0, 1, 0] is "));
    actual_[16] = before;
  }
}

TEST_F(CompareOutputs, FindsSwappedHeads) {
  std::swap_ranges(actual_.begin(), actual_.begin() + 800, actual_.begin() + 800);
  EXPECT_THAT(failure(), HasSubstr("dk[0, 0, 0, 0] is "));
}

TEST_F(CompareOutputs, FindsASystematicErrorBelowTheElementsLimit) {
  for (double& value : actual_) value += 2.5 * kDeviation;
  EXPECT_THAT(failure({.deviations = 9}), HasSubstr("in root mean square, more than 1.9"));
}

TEST_F(CompareOutputs, AllowsARelativeErrorWhereToldTo) {
  for (double& value : actual_) value *= 1.01;
  EXPECT_THAT(failure(), HasSubstr("elements are off"));
  EXPECT_THAT(failure({.root_mean_square = 100, .relative = 0.01}), IsEmpty());
}

TEST_F(CompareOutputs, RefusesAnotherSize) {
  actual_.pop_back();
  EXPECT_THAT(failure(), HasSubstr("4799 elements compared with 4800 of 4800"));
}

TEST_F(CompareOutputs, AnExactElementMustBeExact) {
  expected_[0] = {0, 0};
  actual_[0] = 1e-30;
  EXPECT_THAT(failure(), HasSubstr("dk[0, 0, 0, 0] is 1e-30, not 0 +- 0"));
}

}  // namespace
}  // namespace tbench::kernels
