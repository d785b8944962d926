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
  EXPECT_EQ(operations_per_step(trace), 16.5);
}

}  // namespace
}  // namespace tbench
