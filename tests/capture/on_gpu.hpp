// What needs a GPU and its context.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace tbench::capture {

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU on this machine";
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // makes the context
  }
};

}  // namespace tbench::capture
