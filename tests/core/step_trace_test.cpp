#include "tbench/core/step_trace.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tbench {
namespace {

TEST(StepTrace, CountsKernelsWithoutCopiesAndFills) {
  StepTrace trace;
  EXPECT_EQ(kernels_per_step(trace), 0);
  const auto calls_of = [](std::string kernel_class, double calls) {
    TracedKernel kernel;
    kernel.kernel_class = std::move(kernel_class);
    kernel.calls = calls;
    return kernel;
  };
  trace.kernels = {calls_of("gemm", 12), calls_of("memcpy", 3), calls_of("memset", 1), calls_of("other", 0.5)};
  EXPECT_EQ(kernels_per_step(trace), 12.5);
}

TEST(StepTrace, IsIdleForWhatOfTheTimedStepIsNotTheDevices) {
  StepTrace trace;
  trace.device = {0.008};
  EXPECT_DOUBLE_EQ(idle_share(trace, {0.010}), 0.2);
  EXPECT_EQ(idle_share(trace, {0.0079}), 0);  // the device was slower while it was traced
  EXPECT_EQ(idle_share(trace, {0}), 0);
}

TEST(StepTrace, IsHostBoundWhereTheQueueWasEmpty) {
  StepTrace trace;
  trace.device = {0.008};
  trace.host_gaps = {0.0019};
  trace.device_gaps = {0.0001};
  EXPECT_TRUE(is_host_bound(trace, {0.010}));
  trace.host_gaps = {0.0004};  // gaps of the device's own take the rest
  trace.device_gaps = {0.0016};
  EXPECT_FALSE(is_host_bound(trace, {0.010}));
}

/// Traced, this host falls behind; in the timed steps it does not: they are as long as the device works.
TEST(StepTrace, IsNotHostBoundBecauseItWasTraced) {
  StepTrace trace;
  trace.device = {0.0098};
  trace.host_gaps = {0.004};
  EXPECT_FALSE(is_host_bound(trace, {0.010}));
  EXPECT_TRUE(is_host_bound(trace, {0.0104}));  // 0.6 ms of 10.4 are nobody's
}

}  // namespace
}  // namespace tbench
