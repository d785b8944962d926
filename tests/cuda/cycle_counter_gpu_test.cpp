#include "tbench/cuda/cycle_counter.hpp"

#include <gtest/gtest.h>

#include "tbench/cuda/device.hpp"
#include "tbench/cuda/flush_and_spin.hpp"
#include "tbench/cuda/nvml.hpp"

namespace tbench::cuda {
namespace {

TEST(CycleCounterOnGpu, CountsTheClockThatNvmlTells) {
  if (device_count() == 0) {
    GTEST_SKIP() << "no GPU on this machine";
  }
  CycleCounter counter;
  const auto nvml = current_nvml_device(load_nvml());
  launch_spin(Seconds{0.2}, nullptr);  // wakes the GPU up
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  for (const double milliseconds : {2.0, 50.0}) {
    counter.begin();
    launch_spin(Seconds{milliseconds * 1e-3}, nullptr);
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    const auto counted = counter.end();
    ASSERT_TRUE(counted.has_value());
    EXPECT_GE(counted->time.value, milliseconds * 1e-3);
    EXPECT_LE(counted->time.value, milliseconds * 1e-3 + 2e-3);
    const auto told = nvml.sm_clock();
    ASSERT_TRUE(told.has_value());
    // A spinning thread leaves the GPU at its full clock, which NVML reports in steps of 15 MHz.
    EXPECT_NEAR(counted->cycles / counted->time.value, told->value, 0.02 * told->value) << milliseconds << " ms";
  }
}

}  // namespace
}  // namespace tbench::cuda
