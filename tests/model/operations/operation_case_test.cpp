#include "model/operations/operation_case.hpp"

#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace tbench::model {
namespace {

constexpr std::int64_t kCount = 1 << 20;

at::Tensor values(std::uint64_t seed, std::uint64_t index, at::ScalarType dtype = at::kFloat) {
  return seeded_normal({kCount}, dtype, DeviceKind::kCpu, seed, index);
}

TEST(SeededNormal, HasTheMomentsOfTheStandardNormalDistribution) {
  const at::Tensor x = values(1, 0).to(at::kDouble);
  // Standard errors for n = 2^20: 1/sqrt(n) = 0.00098 for the mean, sqrt(2/n) = 0.0014 for the variance, sqrt(96/n) =
  // 0.0096 for the fourth moment. Errors up to five standard errors are allowed.
  EXPECT_NEAR(x.mean().item<double>(), 0.0, 5 * 0.00098);
  EXPECT_NEAR(x.square().mean().item<double>(), 1.0, 5 * 0.0014);
  EXPECT_NEAR(x.pow(4).mean().item<double>(), 3.0, 5 * 0.0096);
}

TEST(SeededNormal, IsTheSameForTheSameSeedAndIndex) { EXPECT_TRUE(at::equal(values(7, 3), values(7, 3))); }

TEST(SeededNormal, DiffersFromBufferToBufferAndFromSeedToSeed) {
  const at::Tensor x = values(7, 3);
  for (const at::Tensor& other : {values(7, 4), values(8, 3), values(3, 7), values(8, 2)}) {
    // A correlation of n independent values has the standard error 1/sqrt(n) = 0.00098.
    EXPECT_NEAR(x.mul(other).mean().item<double>(), 0.0, 5 * 0.00098);
  }
}

TEST(SeededNormal, PrecisionsAreRoundedFromTheSameNumbers) {
  EXPECT_TRUE(at::equal(values(7, 3, at::kBFloat16), values(7, 3).to(at::kBFloat16)));
}

TEST(SeededNormal, HasTheShapeAskedForAndIsContiguous) {
  const at::Tensor x = seeded_normal({3, 5}, at::kHalf, DeviceKind::kCpu, 1, 0);
  EXPECT_EQ(x.sizes(), (at::IntArrayRef{3, 5}));
  EXPECT_EQ(x.scalar_type(), at::kHalf);
  EXPECT_TRUE(x.is_contiguous());
}

}  // namespace
}  // namespace tbench::model
