#include "html/charts/axes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tbench::html {
namespace {

using testing::ElementsAre;

TEST(AxisScale, PlacesValues) {
  const AxisScale log{.low = 1, .high = 100, .from = 200, .to = 0, .is_log = true};
  EXPECT_DOUBLE_EQ(log(10), 100);
  const AxisScale linear{.low = 0, .high = 100, .from = 200, .to = 0, .is_log = false};
  EXPECT_DOUBLE_EQ(linear(10), 180);
}

TEST(LinearScale, BeginsAtZeroUnlessValuesAreNearEachOther) {
  EXPECT_EQ(linear_scale(5, 10, 0, 1).low, 0);
  EXPECT_EQ(linear_scale(7, 7, 0, 1).low, 0) << "a value alone";
  const AxisScale near = linear_scale(350, 400, 0, 1);
  EXPECT_DOUBLE_EQ(near.low, 347.5);
  EXPECT_EQ(origin_note(near), ", from 347.5");
  EXPECT_EQ(origin_note(linear_scale(5, 10, 0, 1)), "");
  EXPECT_EQ(origin_note(log_scale(5, 10, 0, 1)), ", log");
}

TEST(StepsBetween, AreMultiplesInsideOfTheRange) {
  EXPECT_THAT(steps_between(347, 402, 6), ElementsAre(350, 360, 370, 380, 390, 400));
  EXPECT_THAT(steps_between(0, 1, 2), ElementsAre(0, 0.5, 1));
  EXPECT_EQ(tick_labels(steps_between(0, 1, 2)).front(), "0") << "no -0";
  EXPECT_THROW(static_cast<void>(steps_between(1, 1, 6)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(steps_between(0, INFINITY, 6)), std::invalid_argument);
}

TEST(LogSteps, AreOneTwoFive) {
  EXPECT_THAT(log_steps(1, 10), ElementsAre(1, 2, 5, 10));
  EXPECT_THAT(log_steps(57, 75), ElementsAre(60, 70)) << "fewer than three of 1, 2, 5: all digits";
  EXPECT_FALSE(log_steps(61, 62).empty()) << "no digit at all: linear steps";
}

TEST(TickLabels, TellNeighboursApart) {
  EXPECT_THAT(tick_labels({0, 0.5, 1}), ElementsAre("0", "0.5", "1"));
  EXPECT_THAT(tick_labels({1000000, 1500000}), ElementsAre("1,000,000", "1,500,000"));
  EXPECT_THAT(tick_labels({1.0000001, 1.0000002}), ElementsAre("1.0000001", "1.0000002"));
}

}  // namespace
}  // namespace tbench::html
