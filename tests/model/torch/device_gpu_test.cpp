// Tests that allocated peaks are exact: the same case gives the same number of bytes, whatever ran in between.
#include "tbench/model/device.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using MemoryProbeGpu = GpuTest;

std::int64_t allocated_peak(MemoryProbe& probe, const ModelConfig& config) {
  const auto step = make_model_case(config);
  step->build();
  launch(*step);
  probe.release_cached();
  probe.reset_peaks();
  launch(*step);
  launch(*step);
  probe.release_cached();
  const std::int64_t peak = probe.peaks().allocated;
  return peak;
}

TEST_F(MemoryProbeGpu, TheSameCaseHasTheSamePeakWhateverRanBefore) {
  const auto probe = make_cuda_memory_probe();
  for (const auto* impl : {"eager", "sdpa"}) {
    for (const Precision precision : {Precision::kFp32, Precision::kBf16, Precision::kFp16}) {
      const auto config = gpu_step(impl, Pass::kTrainStep, precision);
      auto larger = gpu_step("eager", Pass::kForwardBackward, Precision::kFp32);
      larger.context = 512;
      const std::int64_t first = allocated_peak(*probe, config);
      EXPECT_NE(allocated_peak(*probe, larger), first);
      EXPECT_EQ(allocated_peak(*probe, config), first) << impl << " " << to_string(precision);
    }
  }
}

TEST_F(MemoryProbeGpu, NothingIsHeldAfterARelease) {
  const auto probe = make_cuda_memory_probe();
  {
    const auto step = make_model_case(gpu_step("sdpa", Pass::kTrainStep, Precision::kBf16));
    step->build();
    launch(*step);
    EXPECT_GT(probe->allocated_now(), 0);
  }
  probe->release_cached();
  EXPECT_EQ(probe->allocated_now(), 0);
  probe->reset_peaks();
  EXPECT_EQ(probe->peaks().allocated, 0);
  EXPECT_EQ(probe->peaks().reserved, 0);
}

TEST_F(MemoryProbeGpu, AnOutOfMemoryErrorLeavesNoTrace) {
  const auto probe = make_cuda_memory_probe();
  const auto config = gpu_step("eager", Pass::kTrainStep, Precision::kFp32);
  const std::int64_t before = allocated_peak(*probe, config);
  {
    auto huge = config;
    huge.context = 16384;
    huge.batch = 512;
    const auto step = make_model_case(huge);
    EXPECT_THROW(
        {
          step->build();
          launch(*step);
        },
        OutOfMemory);
  }
  EXPECT_EQ(allocated_peak(*probe, config), before);
}

}  // namespace
}  // namespace tbench::model
