// Compares the bounds with known probabilities, and with sums that are rounded.
#include "model/torch/rounding.hpp"

#include <ATen/Context.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tbench::model {
namespace {

TEST(RoundingBounds, OfSumsIsTheUnionBoundOfTheNormalTail) {
  // sqrt(2 ln(2 * 1e6 / 1e-4)) = sqrt(2 * 23.7190)
  EXPECT_NEAR(sum_bound(1e6, 1e-4), 6.8875, 1e-4);
  EXPECT_NEAR(sum_bound(1, 2 * std::exp(-2)), 2.0, 1e-12);
}

TEST(RoundingBounds, OfAWalkSolvesItsOwnBound) {
  const double t = walk_bound(1e6, 1e-4);
  // One-sided probability sqrt(2 t) exp(0.73 - pi t / 2), for 2 * 1e6 sides.
  EXPECT_NEAR(2e6 * std::sqrt(2 * t) * std::exp(0.73 - M_PI / 2 * t), 1e-4, 1e-7);
  EXPECT_GT(t, sum_bound(1e6, 1e-4) / std::sqrt(2.0));  // bound of a walk whose Q equals its mean, 1 / 2
}

/// Compares float32 sums of 100 normal terms with float64. The test checks which share exceeds the bound of 1 in 100.
TEST(RoundingBounds, AWalkExceedsItsBoundNoMoreOftenThanSaid) {
  constexpr std::int64_t kTerms = 100, kSums = 100'000;
  at::manual_seed(3);
  const at::Tensor terms = at::randn({kTerms, kSums});
  at::Tensor sums = terms[0].clone();
  for (std::int64_t i = 1; i < kTerms; ++i) sums.add_(terms[i]);
  const at::Tensor errors = sums.to(at::kDouble).sub(terms.to(at::kDouble).sum(0)).abs();
  const double rms = std::sqrt(static_cast<double>(kTerms));
  const double unit = 0x1p-24 * rms * walk_roundoffs(static_cast<double>(kTerms));
  const auto share_above = [&](double bound) { return errors.gt(bound * unit).to(at::kDouble).mean().item<double>(); };
  EXPECT_LT(share_above(walk_bound(1, 1e-2)), 1e-2);
  EXPECT_GT(share_above(walk_bound(1, 1e-2) / 8), 1e-2);  // the bound is at most eight times too large
}

TEST(RoundingBounds, SquaresOfProductsSpreadLessTheMoreThereAre) {
  at::manual_seed(4);
  for (const std::int64_t terms : {1, 10, 1000}) {
    const at::Tensor products = at::randn({10'000, terms}, at::kDouble).mul(at::randn({10'000, terms}, at::kDouble));
    const double largest = products.square().sum(-1).sqrt().max().item<double>() / std::sqrt(terms);
    const double bound = product_spread(static_cast<double>(terms), 1e4, 1e-2);
    EXPECT_LT(largest, bound) << terms;
    EXPECT_GT(largest, bound / 3) << terms;
  }
}

TEST(RoundingBounds, OfNormsAreThoseOfLaurentAndMassart) {
  // n = 100, x = 4: 1 + 2 sqrt(0.04) + 0.08 = 1.48; 1 - 0.4
  EXPECT_NEAR(norm_fluctuation(100, std::exp(-4)), std::sqrt(1.48), 1e-12);
  EXPECT_NEAR(norm_shortfall(100, std::exp(-4)), std::sqrt(0.6), 1e-12);
  EXPECT_EQ(norm_shortfall(15, std::exp(-4)), 0.0);
}

TEST(RoundingBounds, OfFewDegreesIsAboveStudentsQuantile) {
  // P(|T| > t) = P(|z| > 3) = 0.0027: t is 3.96 for 10 degrees of freedom (tables), and 3.0 for very many.
  EXPECT_GT(student_bound(3, 10), 3.8);
  EXPECT_LT(student_bound(3, 10), 4.1);
  EXPECT_NEAR(student_bound(3, 1e6), 3.0, 1e-4);
}

}  // namespace
}  // namespace tbench::model
