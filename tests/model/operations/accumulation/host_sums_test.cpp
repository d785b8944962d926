#include "model/operations/accumulation/sums.hpp"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tbench::model {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(RoundedTo, TiesGoToEvenAndOverflowIsInfinite) {
  EXPECT_EQ(rounded_to(1.0F + 0x1p-11F, Precision::kFp16), 1.0F);
  EXPECT_EQ(rounded_to(1.0F + 3 * 0x1p-11F, Precision::kFp16), 1.0F + 0x1p-9F);
  EXPECT_EQ(rounded_to(-1.0F - 0x1.2p-11F, Precision::kFp16), -1.0F - 0x1p-10F);
  EXPECT_EQ(rounded_to(65519.0F, Precision::kFp16), 65504.0F);
  EXPECT_EQ(rounded_to(-65520.0F, Precision::kFp16), -kInfinity);
  EXPECT_EQ(rounded_to(0x1p-25F, Precision::kFp16), 0.0F);          // half of the smallest number
  EXPECT_EQ(rounded_to(3 * 0x1p-25F, Precision::kFp16), 0x1p-23F);  // one and a half of it
  EXPECT_EQ(rounded_to(1.0F + 0x1p-8F, Precision::kBf16), 1.0F);
  EXPECT_EQ(rounded_to(1.0F + 3 * 0x1p-8F, Precision::kBf16), 1.0F + 0x1p-6F);
  EXPECT_EQ(rounded_to(0x1.ffp127F, Precision::kBf16), kInfinity);
  EXPECT_EQ(rounded_to(0.1F, Precision::kFp32), 0.1F);
  EXPECT_TRUE(std::isnan(rounded_to(std::numeric_limits<float>::quiet_NaN(), Precision::kFp16)));
}

TEST(RoundedTo, AgreesWithLibTorchOnAnyBits) {
  std::mt19937 random{1};
  for (int i = 0; i < 1'000'000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(x)) continue;
    ASSERT_EQ(rounded_to(x, Precision::kFp16), static_cast<float>(c10::Half{x})) << x;
    ASSERT_EQ(rounded_to(x, Precision::kBf16), static_cast<float>(c10::BFloat16{x})) << x;
  }
}

TEST(RepeatedSum, HasTheDigitsOfTheCourse) {
  const float half = rounded_to(0.01F, Precision::kFp16);
  EXPECT_EQ(static_cast<double>(repeated_sum(0.01F, 1000, Precision::kFp32)), 10.000133514404297);
  EXPECT_EQ(static_cast<double>(repeated_sum(half, 1000, Precision::kFp16)), 9.953125);
  EXPECT_EQ(static_cast<double>(repeated_sum(half, 1000, Precision::kFp32)), 10.00213623046875);
}

// float16 has a spacing of two from 2048 on. In bfloat16, adding one stops having an effect at 256.
TEST(Sums, OrdersByHand) {
  const std::vector<float> terms{2048, 1, 1, 1, 1};
  EXPECT_EQ(sequential_sum(terms, Precision::kFp16), 2048.0F);  // 2049 is a tie, and 2048 even
  EXPECT_EQ(kahan_sum(terms, Precision::kFp16), 2052.0F);
  // ((2048 + 1) + (1 + 1)) + 1 = 2050 + 1, a tie to 2052
  EXPECT_EQ(pairwise_sum(terms, 1, Precision::kFp16), 2052.0F);
  // ((2048 + 1) + 1) + (1 + 1)
  EXPECT_EQ(pairwise_sum(terms, 2, Precision::kFp16), 2050.0F);
  EXPECT_EQ(pairwise_sum(terms, 8, Precision::kFp32), 2052.0F);
  EXPECT_EQ(sequential_sum(terms, Precision::kFp32), 2052.0F);
}

TEST(Sums, TermsAreRoundedFirst) {
  const std::vector<float> terms{1.0F + 0x1p-11F, 1.0F + 0x1p-11F};
  for (const float sum : {sequential_sum(terms, Precision::kFp16), kahan_sum(terms, Precision::kFp16),
                          pairwise_sum(terms, 2, Precision::kFp16)}) {
    EXPECT_EQ(sum, 2.0F);
  }
}

}  // namespace
}  // namespace tbench::model
