#include "kernels/attention/sm90/common/fast_divmod.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tbench::kernels::sm90 {
namespace {

TEST(Divisor, DividesEveryNumber) {
  constexpr int kLargest = std::numeric_limits<int>::max();
  for (
      const int value :
      {1,       2, 3, 4, 5, 7, 8, 12, 25, 48, 100, 127, 128, 129, 400, 641, 65535, 1 << 20, (1 << 30) + 1, kLargest - 1,
       kLargest}) {
    const FastDivmod by = make_fast_divmod(value);
    for (int number = 0; number < 5000; ++number) ASSERT_EQ(divide(number, by), number / value) << value;
    for (std::int64_t multiple = value; multiple <= kLargest; multiple += value * (1 + multiple / value / 9)) {
      for (const int number : {static_cast<int>(multiple) - 1, static_cast<int>(multiple)}) {
        ASSERT_EQ(divide(number, by), number / value) << number << " / " << value;
      }
    }
    EXPECT_EQ(divide(kLargest, by), kLargest / value) << value;
  }
}

TEST(Divisor, IsAProductAndAShift) {
  // 3 <= 2^2: 2^33 / 3 = 2,863,311,530.7 rounded up; 1: 2^31
  EXPECT_EQ(make_fast_divmod(3).multiplier, 2863311531u);
  EXPECT_EQ(make_fast_divmod(3).shift, 2);
  EXPECT_EQ(make_fast_divmod(1).multiplier, 1u << 31);
  EXPECT_EQ(make_fast_divmod(1).shift, 0);
}

}  // namespace
}  // namespace tbench::kernels::sm90
