#include "tbench/cuda/flush_and_spin.hpp"

#include <gtest/gtest.h>

namespace tbench::cuda {
namespace {

TEST(DeviceRest, IsThreeTimesAsLongAsTheWork) {
  EXPECT_DOUBLE_EQ(rest_after(Seconds{0}).value, 0);
  EXPECT_DOUBLE_EQ(rest_after(Seconds{1e-3}).value, 3e-3);
  EXPECT_DOUBLE_EQ(rest_after(Seconds{75e-3}).value, 225e-3);
  EXPECT_DOUBLE_EQ(rest_after(Seconds{0.25}).value, 0.75);
}

TEST(DeviceRest, EndsAtALimitThatALongerSampleIsToldOf) {
  EXPECT_TRUE(is_rested_after(Seconds{0.25}));
  EXPECT_FALSE(is_rested_after(Seconds{0.2501}));
  EXPECT_DOUBLE_EQ(rest_after(Seconds{0.2501}).value, 0.75);
  EXPECT_DOUBLE_EQ(rest_after(Seconds{3}).value, 0.75);
}

}  // namespace
}  // namespace tbench::cuda
