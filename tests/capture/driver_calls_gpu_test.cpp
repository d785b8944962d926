#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tbench/capture/driver_calls.hpp"

namespace tbench::capture {
namespace {

const DriverTime& of(const DriverTimes& times, DriverCallClass call_class) {
  return times.at(static_cast<std::size_t>(call_class));
}

class DriverCallsOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU on this machine";
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // makes the context
  }
};

TEST_F(DriverCallsOnGpu, AllocationsAreCountedAndTimedWhileItLives) {
  constexpr int kBlocks = 5;
  const DriverCalls calls;
  for (int i = 0; i < kBlocks; ++i) {
    void* block = nullptr;
    ASSERT_EQ(cudaMalloc(&block, std::size_t{64} << 20U), cudaSuccess);
    ASSERT_EQ(cudaFree(block), cudaSuccess);
  }
  const DriverTime allocation = of(calls.times(), DriverCallClass::kAllocation);
  EXPECT_EQ(allocation.calls, 2 * kBlocks);
  EXPECT_GT(allocation.time, Seconds{1e-5});
  EXPECT_LT(allocation.time, Seconds{1.0});
  EXPECT_EQ(of(calls.times(), DriverCallClass::kLaunch).calls, 0);
}

TEST_F(DriverCallsOnGpu, AnotherOneIsRefusedUntilTheFirstHasGone) {
  {
    const DriverCalls first;
    EXPECT_THROW(DriverCalls{}, std::runtime_error);
  }
  const DriverCalls second;
  void* block = nullptr;
  ASSERT_EQ(cudaMalloc(&block, 1024), cudaSuccess);
  ASSERT_EQ(cudaFree(block), cudaSuccess);
  EXPECT_EQ(of(second.times(), DriverCallClass::kAllocation).calls, 2);
}

}  // namespace
}  // namespace tbench::capture
