#include "tbench/render/gpu_name.hpp"

#include <gtest/gtest.h>

namespace tbench::render {
namespace {

TEST(ShortGpuName, LeavesOutVendorMemoryAndFormFactor) {
  EXPECT_EQ(short_gpu_name("NVIDIA H100 80GB HBM3"), "H100");
  EXPECT_EQ(short_gpu_name("NVIDIA H100 PCIe"), "H100");
  EXPECT_EQ(short_gpu_name("NVIDIA H200"), "H200");
  EXPECT_EQ(short_gpu_name("NVIDIA GH200 480GB"), "GH200");
  EXPECT_EQ(short_gpu_name("NVIDIA A100-SXM4-80GB"), "A100");
  EXPECT_EQ(short_gpu_name("NVIDIA GeForce RTX 4090"), "RTX 4090");
  EXPECT_EQ(short_gpu_name("NVIDIA RTX 6000 Ada Generation"), "RTX 6000 Ada");
  EXPECT_EQ(short_gpu_name("Tesla V100-SXM2-16GB"), "V100");
}

TEST(ShortGpuName, IsTheWholeNameIfNothingElseIsLeft) {
  EXPECT_EQ(short_gpu_name("NVIDIA"), "NVIDIA");
  EXPECT_EQ(short_gpu_name(""), "");
}

}  // namespace
}  // namespace tbench::render
