// What the GPU tests of the model share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tbench/model/device.hpp"
#include "tbench/model/model_step.hpp"

namespace tbench::model {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

inline ModelStepConfig gpu_step(const std::string& impl, Pass pass, Precision precision) {
  return {.size = {.name = "tiny", .d_model = 64, .d_ff = 256, .num_layers = 2, .num_heads = 4},
          .context = 128,
          .batch = 2,
          .pass = pass,
          .precision = precision,
          .impl = impl,
          .device = DeviceKind::kCuda,
          .seed = 1};
}

}  // namespace tbench::model
