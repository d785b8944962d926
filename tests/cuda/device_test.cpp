// Tests the behaviour without a driver. device_gpu_test.cpp has the tests that need a GPU.
#include "tbench/cuda/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/cuda/error.hpp"

namespace tbench::cuda {
namespace {

TEST(Device, WithoutAGpuNothingIsKnownAndNothingBreaks) {
  if (device_count() > 0) {
    GTEST_SKIP() << "this machine has a GPU";
  }
  EXPECT_EQ(device_count(), 0);
  EXPECT_FALSE(current_nvml_device(load_nvml()).is_known());
  EXPECT_FALSE(context_is_healthy());
  EXPECT_THROW(static_cast<void>(gpu_facts(nullptr)), CudaError);
  EXPECT_THROW(static_cast<void>(device_memory()), CudaError);
}

TEST(Device, TheRuntimeKnowsItsVersion) {
  EXPECT_THAT(cuda_runtime_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+"));
  EXPECT_EQ(cuda_runtime_version().substr(0, 2), std::to_string(CUDART_VERSION / 1000));
}

}  // namespace
}  // namespace tbench::cuda
