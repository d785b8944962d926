#include "tbench/model/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbench::model {
namespace {

TEST(Device, CountIsNoExceptionWithoutADriver) { EXPECT_GE(cuda_device_count(), 0); }

TEST(Device, VersionsOfLibtorchAndCudnn) {
  const auto versions = library_versions();
  ASSERT_EQ(versions.count("libtorch"), 1U);
  ASSERT_EQ(versions.count("cudnn"), 1U);
  EXPECT_THAT(versions.at("libtorch"), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_THAT(versions.at("cudnn"), testing::MatchesRegex("9\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace tbench::model
