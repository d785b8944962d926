#include <gtest/gtest.h>

#include <chrono>

#include "on_gpu.hpp"
#include "tbench/capture/driver_calls.hpp"

namespace tbench::capture {
namespace {

const DriverTime& of(const DriverTimes& times, DriverCallClass call_class) {
  return times.at(static_cast<std::size_t>(call_class));
}

class DriverCallsOnGpu : public OnGpu {
 protected:
  static void allocate_and_free() {
    void* block = nullptr;
    ASSERT_EQ(cudaMalloc(&block, std::size_t{64} << 20U), cudaSuccess);
    ASSERT_EQ(cudaFree(block), cudaSuccess);
  }
};

TEST_F(DriverCallsOnGpu, AllocationsAreCountedAndTimedBetweenStartAndStop) {
  constexpr int kBlocks = 5;
  DriverCalls calls;
  allocate_and_free();
  calls.start();
  for (int i = 0; i < kBlocks; ++i) allocate_and_free();
  calls.stop();
  allocate_and_free();
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
  DriverCalls second;
  second.start();
  allocate_and_free();
  EXPECT_EQ(of(second.times(), DriverCallClass::kAllocation).calls, 2);
}

/// They stand around a step of a few milliseconds.
TEST_F(DriverCallsOnGpu, StartAndStopTakeNoTimeOfAStep) {
  DriverCalls calls;
  const auto begin = std::chrono::steady_clock::now();
  calls.start();
  calls.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::microseconds{200});
}

}  // namespace
}  // namespace tbench::capture
