#include "tbench/core/device_rest.hpp"

#include <gtest/gtest.h>

namespace tbench {
namespace {

TEST(DeviceRest, IsThreeTimesAsLongAsTheWorkUpToALimit) {
  EXPECT_DOUBLE_EQ(rest_after(Seconds{1e-3}).value, 3e-3);
  EXPECT_DOUBLE_EQ(rest_after(Seconds{2e-3}).value, 5e-3);
  EXPECT_DOUBLE_EQ(rest_after(Seconds{50e-3}).value, 5e-3);
  EXPECT_DOUBLE_EQ(rest_after(Seconds{0}).value, 0);
}

}  // namespace
}  // namespace tbench
