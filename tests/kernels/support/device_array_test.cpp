// Tests the comparison of arrays, without a GPU.
#include "support/device_array.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tbench::kernels {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double a_tenth(std::size_t /*index*/) { return 0.1; }

TEST(DeviceArray, ValuesAreThoseOfTheStorageType) {
  // With 8 and with 11 bits, the next numbers after 1 are 1 + 2^-7 and 1 + 2^-10. A tie rounds to the even number.
  EXPECT_EQ(stored({1 + 0x1p-8, 1 + 3 * 0x1p-8}, Precision::kBf16), (Doubles{1, 1 + 4 * 0x1p-8}));
  EXPECT_EQ(stored({1 + 0x1p-11, 70'000.0}, Precision::kFp16), (Doubles{1, kInfinity}));
  EXPECT_EQ(stored({1 + 0x1p-25}, Precision::kFp32), Doubles{1});
  const Doubles values = normal_values(1000, Precision::kBf16, 1);
  EXPECT_EQ(stored(values, Precision::kBf16), values);
  EXPECT_NE(normal_values(1000, Precision::kBf16, 2), values);
}

TEST(DeviceArray, RoundOffsAreHalfTheDistanceOfNumbersAroundOne) {
  EXPECT_EQ(round_off(Precision::kBf16), 0x1p-8);
  EXPECT_EQ(round_off(Precision::kFp16), 0x1p-11);
  EXPECT_EQ(round_off(Precision::kFp32), 0x1p-24);
}

TEST(DeviceArray, WhatIsCloseIsTaken) {
  expect_close("x", {1, 2, kNan, kInfinity, -kInfinity}, {1.09, 1.91, kNan, kInfinity, -kInfinity}, a_tenth);
}

TEST(DeviceArray, TheFirstElementThatIsOffIsNamed) {
  EXPECT_NONFATAL_FAILURE(expect_close("x", {1, 2.2, 3.5}, {1, 2, 3}, a_tenth), "x[1] is 2.2, not 2 +- 0.1; 2 of 3");
}

TEST(DeviceArray, WhatIsNotFiniteMatchesItselfAlone) {
  EXPECT_NONFATAL_FAILURE(expect_close("x", {kNan}, {1}, a_tenth), "x[0] is nan");
  EXPECT_NONFATAL_FAILURE(expect_close("x", {1}, {kNan}, a_tenth), "not nan");
  EXPECT_NONFATAL_FAILURE(expect_close("x", {kInfinity}, {kNan}, a_tenth), "x[0] is inf");
  EXPECT_NONFATAL_FAILURE(expect_close("x", {-kInfinity}, {kInfinity}, a_tenth), "x[0] is -inf");
  EXPECT_NONFATAL_FAILURE(expect_close("x", {1e300}, {kInfinity}, a_tenth), "not inf");
  EXPECT_FATAL_FAILURE(expect_close("x", {1}, {1, 2}, a_tenth), "x");
}

}  // namespace
}  // namespace tbench::kernels
