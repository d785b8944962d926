// Tests facts about a real GPU that hold for every GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/cuda/device.hpp"
#include "tbench/cuda/handle.hpp"

namespace tbench::cuda {
namespace {

using testing::MatchesRegex;

class DeviceOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) {
      GTEST_SKIP() << "no GPU on this machine";
    }
  }
  std::shared_ptr<const NvmlLibrary> nvml_ = load_nvml();
};

TEST_F(DeviceOnGpu, FactsArePlausible) {
  const GpuFacts facts = gpu_facts(nvml_);
  EXPECT_FALSE(facts.name.empty());
  EXPECT_THAT(facts.uuid, MatchesRegex("GPU-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+"));
  EXPECT_EQ(facts.uuid.size(), 40U);
  EXPECT_THAT(facts.compute_capability, MatchesRegex("[0-9]+\\.[0-9]"));
  EXPECT_GE(facts.sm_count, 1);
  EXPECT_GT(facts.memory_bytes, std::int64_t{1} << 30);
  EXPECT_GT(facts.l2_bytes, 1 << 16);
  EXPECT_TRUE(facts.ecc.has_value());
}

TEST_F(DeviceOnGpu, NvmlFindsCudasDevice) {
  const NvmlDevice device = current_nvml_device(nvml_);
  ASSERT_TRUE(device.is_known());
  // The device found by the UUID that CUDA reports is the same one, so its energy counter does not decrease.
  const NvmlDevice again = NvmlDevice::by_uuid(nvml_, gpu_facts(nvml_).uuid);
  if (again.is_known() && device.total_energy()) {
    EXPECT_GE(again.total_energy()->value, device.total_energy()->value - 1.0);
  }
  EXPECT_TRUE(nvml_driver_version(nvml_).has_value());
}

TEST_F(DeviceOnGpu, NvmlsNumbersArePlausible) {
  const NvmlDevice device = current_nvml_device(nvml_);
  ASSERT_TRUE(device.sm_clock().has_value());
  EXPECT_GT(device.sm_clock()->value, 1e8);
  EXPECT_LE(device.sm_clock()->value, device.max_sm_clock()->value);
  EXPECT_LT(device.max_sm_clock()->value, 5e9);
  EXPECT_GT(device.temperature_c().value(), 0.0);
  EXPECT_LT(device.temperature_c().value(), 120.0);
  EXPECT_GT(device.power().value().value, 1.0);
  EXPECT_LT(device.power()->value, 5000.0);
  EXPECT_GE(device.power_limit().value().value, 10.0);
  EXPECT_TRUE(device.clock_event_reasons().has_value());
}

TEST_F(DeviceOnGpu, MemoryInUseGrowsWithAnAllocation) {
  constexpr std::size_t kBytes = std::size_t{256} << 20U;
  const DeviceMemory before = device_memory();
  EXPECT_GT(before.total, before.free);
  void* block = nullptr;
  TBENCH_CUDA_CHECK(cudaMalloc(&block, kBytes));
  const std::int64_t growth = device_memory().used() - before.used();
  TBENCH_CUDA_CHECK(cudaFree(block));
  EXPECT_GE(growth, static_cast<std::int64_t>(kBytes));
}

TEST_F(DeviceOnGpu, AContextThatExistsIsNotMadeAgain) {
  make_context();
  EXPECT_LT(make_context(), Seconds{0.005});
}

TEST_F(DeviceOnGpu, AnErrorThatHarmsNothingLeavesTheContextHealthy) {
  EXPECT_TRUE(context_is_healthy());
  EXPECT_EQ(cudaMemset(nullptr, 0, 16), cudaErrorInvalidValue);
  EXPECT_TRUE(context_is_healthy());
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(DeviceOnGpu, TheDriverKnowsItsVersion) {
  EXPECT_THAT(cuda_driver_version().value(), MatchesRegex("[0-9]+\\.[0-9]+"));
}

TEST_F(DeviceOnGpu, HandlesAreMadeAndDestroyed) {
  const Event event = make_timing_event();
  const Stream stream = make_non_blocking_stream();
  TBENCH_CUDA_CHECK(cudaEventRecord(event.get(), stream.get()));
  TBENCH_CUDA_CHECK(cudaEventSynchronize(event.get()));
}

}  // namespace
}  // namespace tbench::cuda
