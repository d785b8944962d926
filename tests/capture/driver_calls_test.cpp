#include "tbench/capture/driver_calls.hpp"

#include <gtest/gtest.h>

namespace tbench::capture {
namespace {

TEST(DriverCallClassTest, FollowsTheNamesOfTheDriverApi) {
  using enum DriverCallClass;
  EXPECT_EQ(driver_call_class("cuDevicePrimaryCtxRetain"), kContext);
  EXPECT_EQ(driver_call_class("cuCtxCreate_v4"), kContext);
  EXPECT_EQ(driver_call_class("cuCtxGetCurrent"), kOther);
  EXPECT_EQ(driver_call_class("cuCtxSetCurrent"), kOther);
  EXPECT_EQ(driver_call_class("cuLibraryLoadData"), kLoading);
  EXPECT_EQ(driver_call_class("cuModuleLoadDataEx"), kLoading);
  EXPECT_EQ(driver_call_class("cuKernelGetFunction"), kLoading);
  EXPECT_EQ(driver_call_class("cuMemAlloc_v2"), kAllocation);
  EXPECT_EQ(driver_call_class("cuMemAddressReserve"), kAllocation);
  EXPECT_EQ(driver_call_class("cuMemHostGetDevicePointer_v2"), kOther);
  EXPECT_EQ(driver_call_class("cuMemFree_v2"), kAllocation);
  EXPECT_EQ(driver_call_class("cuMemcpyHtoDAsync_v2"), kOther);
  EXPECT_EQ(driver_call_class("cuMemsetD8Async"), kOther);
  EXPECT_EQ(driver_call_class("cuLaunchKernel"), kLaunch);
  EXPECT_EQ(driver_call_class("cuLaunchKernelEx"), kLaunch);
  EXPECT_EQ(driver_call_class("cuLaunchHostFunc"), kOther);
  EXPECT_EQ(driver_call_class("cuEventRecord"), kOther);
}

}  // namespace
}  // namespace tbench::capture
