#include "tbench/cuda/cycle_counter.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tbench::cuda {
namespace {

TEST(CountedCycles, AreThoseOfTheMultiprocessorInTheMiddle) {
  const std::vector<CycleMark> begin{{100, 1'000}, {500, 1'000}, {7, 1'010}};
  const std::vector<CycleMark> end{{100 + 3'000'000, 2'001'000}, {500 + 2'800'000, 2'001'000}, {7 + 4'000, 2'001'010}};
  const auto counted = counted_cycles(begin, end);
  ASSERT_TRUE(counted.has_value());
  EXPECT_DOUBLE_EQ(counted->cycles, 2'800'000.0);
  EXPECT_DOUBLE_EQ(counted->time.value, 2e-3);
}

TEST(CountedCycles, WhatHasOneMarkOrWentBackDoesNotCount) {
  // The SMs have no first mark, no last mark, a counter that was reset, and a complete pair of marks.
  const std::vector<CycleMark> begin{{0, 0}, {5, 1'000}, {9'000'000, 1'000}, {10, 1'000}};
  const std::vector<CycleMark> end{{50, 3'000}, {0, 0}, {40, 3'000}, {10 + 4'000, 3'000}};
  const auto counted = counted_cycles(begin, end);
  ASSERT_TRUE(counted.has_value());
  EXPECT_DOUBLE_EQ(counted->cycles, 4'000.0);
  EXPECT_DOUBLE_EQ(counted->time.value, 2e-6);
}

TEST(CountedCycles, WithoutAnyPairThereAreNone) {
  const std::vector<CycleMark> none(3), one{{5, 1'000}, {0, 0}, {0, 0}};
  EXPECT_FALSE(counted_cycles(none, none).has_value());
  EXPECT_FALSE(counted_cycles(one, none).has_value());
  EXPECT_FALSE(counted_cycles({}, {}).has_value());
}

}  // namespace
}  // namespace tbench::cuda
