#include "tbench/capture/kernel_launches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "known_kernels.hpp"
#include "on_gpu.hpp"
#include "tbench/capture/driver_calls.hpp"

namespace tbench::capture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
