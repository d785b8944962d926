#include "tbench/cuda/spin_kernel.hpp"

#include <gtest/gtest.h>

#include "tbench/cuda/device.hpp"
#include "tbench/cuda/handle.hpp"

namespace tbench::cuda {
namespace {

TEST(SpinKernelOnGpu, TakesTheTimeItIsGiven) {
  if (device_count() == 0) {
    GTEST_SKIP() << "no GPU on this machine";
  }
  const Event begin = make_timing_event();
  const Event end = make_timing_event();
  launch_spin({}, nullptr);  // loads the kernel
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  for (const double milliseconds : {0.5, 5.0, 50.0}) {
    TBENCH_CUDA_CHECK(cudaEventRecord(begin.get(), nullptr));
    launch_spin({milliseconds * 1e-3}, nullptr);
    TBENCH_CUDA_CHECK(cudaEventRecord(end.get(), nullptr));
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    float measured{};
    TBENCH_CUDA_CHECK(cudaEventElapsedTime(&measured, begin.get(), end.get()));
    EXPECT_GE(measured, milliseconds);
    EXPECT_LE(measured, milliseconds + 0.1);
  }
}

}  // namespace
}  // namespace tbench::cuda
