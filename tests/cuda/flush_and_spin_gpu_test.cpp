#include "tbench/cuda/flush_and_spin.hpp"

#include <gtest/gtest.h>

#include "tbench/cuda/device.hpp"
#include "tbench/cuda/handle.hpp"

namespace tbench::cuda {
namespace {

TEST(L2FlushOnGpu, WritesTwiceTheCache) {
  if (device_count() == 0) {
    GTEST_SKIP() << "no GPU on this machine";
  }
  const L2Flush flush;
  EXPECT_EQ(static_cast<std::int64_t>(flush.bytes()), 2 * gpu_facts(nullptr).l2_bytes);
  const Event begin = make_timing_event();
  const Event end = make_timing_event();
  flush.enqueue(nullptr);  // loads the kernel
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  TBENCH_CUDA_CHECK(cudaEventRecord(begin.get(), nullptr));
  flush.enqueue(nullptr);
  TBENCH_CUDA_CHECK(cudaEventRecord(end.get(), nullptr));
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  float milliseconds{};
  TBENCH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
  // No GPU writes 20 TB/s, and every supported GPU writes more than 0.1 TB/s.
  const double bytes_per_second = static_cast<double>(flush.bytes()) / (static_cast<double>(milliseconds) * 1e-3);
  EXPECT_LT(bytes_per_second, 20e12);
  EXPECT_GT(bytes_per_second, 0.1e12);
}

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
