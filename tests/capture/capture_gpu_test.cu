// Tests CUPTI on a GPU. Driver calls are counted and timed. Empty kernels with known names are launched in every way
// that CUDA has.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tbench/capture/driver_calls.hpp"
#include "tbench/capture/kernel_launches.hpp"

namespace tbench::capture {

__global__ void other_kernel() {}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU on this machine";
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // creates the context
  }
};

template <class Element>
__global__ void known_kernel(const Element*) {}

constexpr const char* kKnownKernel = "tbench::capture::(anonymous namespace)::known_kernel";
constexpr const char* kOtherKernel = "tbench::capture::other_kernel";

cudaError_t launch_known_float() {
  known_kernel<float><<<1, 1>>>(nullptr);
  return cudaGetLastError();
}

/// Launches another instantiation of the same template.
cudaError_t launch_known_int() {
  known_kernel<int><<<1, 1>>>(nullptr);
  return cudaGetLastError();
}

cudaError_t launch_other() {
  other_kernel<<<1, 1>>>();
  return cudaGetLastError();
}

/// Launches the other kernel with launch attributes, and as a cooperative kernel.
cudaError_t launch_other_extended() {
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3{1, 1, 1};
  return cudaLaunchKernelEx(&config, &other_kernel);
}

cudaError_t launch_other_cooperatively() {
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&other_kernel), dim3{1, 1, 1}, dim3{1, 1, 1},
                                     nullptr);
}

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

/// Start and stop surround a step of a few milliseconds. The fastest of ten counts, because the host interrupts some.
TEST_F(DriverCallsOnGpu, StartAndStopTakeNoTimeOfAStep) {
  DriverCalls calls;
  auto fastest = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 10; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    calls.start();
    calls.stop();
    fastest = std::min(fastest, std::chrono::steady_clock::now() - begin);
  }
  EXPECT_LT(fastest, std::chrono::microseconds{200});
}

class KernelLaunchesOnGpu : public OnGpu {};

TEST_F(KernelLaunchesOnGpu, AreNamedAndCountedInTheOrderOfTheFirst) {
  KernelLaunches launches;
  launches.start();
  for (const auto launch : {launch_other, launch_known_float, launch_other, launch_known_int, launch_other}) {
    ASSERT_EQ(launch(), cudaSuccess);
  }
  EXPECT_THAT(launches.take(), ElementsAre(KernelLaunch{kOtherKernel, 3}, KernelLaunch{kKnownKernel, 2}));
  EXPECT_THAT(launches.take(), IsEmpty());
}

TEST_F(KernelLaunchesOnGpu, AreSeenHoweverTheyAreMade) {
  KernelLaunches launches;
  launches.start();
  ASSERT_EQ(launch_other_extended(), cudaSuccess);
  EXPECT_THAT(launches.take(), ElementsAre(KernelLaunch{kOtherKernel, 1}));
  ASSERT_EQ(launch_other_cooperatively(), cudaSuccess);
  EXPECT_THAT(launches.take(), ElementsAre(KernelLaunch{kOtherKernel, 1}));
}

TEST_F(KernelLaunchesOnGpu, OfAnotherThreadAreSeen) {
  KernelLaunches launches;
  launches.start();
  cudaError_t launched = cudaErrorUnknown;
  std::thread{[&] { launched = launch_other(); }}.join();
  ASSERT_EQ(launched, cudaSuccess);
  EXPECT_THAT(launches.take(), ElementsAre(KernelLaunch{kOtherKernel, 1}));
}

TEST_F(KernelLaunchesOnGpu, CountBetweenStartAndStopAlone) {
  KernelLaunches launches;
  ASSERT_EQ(launch_other(), cudaSuccess);
  launches.start();
  ASSERT_EQ(launch_known_float(), cudaSuccess);
  launches.stop();
  ASSERT_EQ(launch_other(), cudaSuccess);
  EXPECT_THAT(launches.take(), ElementsAre(KernelLaunch{kKnownKernel, 1}));
}

TEST_F(KernelLaunchesOnGpu, AreRefusedWhileAnotherHoldsCupti) {
  {
    const DriverCalls calls;
    EXPECT_THROW(KernelLaunches{}, std::runtime_error);
  }
  EXPECT_NO_THROW(KernelLaunches{});
}

}  // namespace
}  // namespace tbench::capture
