// Tests NVML's wrapper without a library, with a fake one (fake_nvml.cpp), and with the real one on a GPU.
#include "tbench/cuda/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "tbench/cuda/device.hpp"

namespace tbench::cuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void expect_knows_nothing(const NvmlDevice& device) {
  EXPECT_FALSE(device.name().has_value());
  EXPECT_FALSE(device.sm_clock().has_value());
  EXPECT_FALSE(device.max_sm_clock().has_value());
  EXPECT_FALSE(device.temperature_c().has_value());
  EXPECT_FALSE(device.power().has_value());
  EXPECT_FALSE(device.power_limit().has_value());
  EXPECT_FALSE(device.total_energy().has_value());
  EXPECT_FALSE(device.clock_event_reasons().has_value());
  EXPECT_FALSE(device.ecc().has_value());
  EXPECT_FALSE(device.mig().has_value());
  EXPECT_FALSE(device.other_compute_processes().has_value());
}

TEST(NvmlWithoutALibrary, KnowsNothing) {
  const auto library = load_nvml("libthere-is-no-such-library.so.1");
  EXPECT_EQ(library, nullptr);
  EXPECT_FALSE(nvml_driver_version(library).has_value());
  const NvmlDevice device = NvmlDevice::by_pci_bus_id(library, "0000:0F:00.0");
  EXPECT_FALSE(device.is_known());
  expect_knows_nothing(device);
  expect_knows_nothing(NvmlDevice::by_uuid(library, "GPU-full"));
  expect_knows_nothing(NvmlDevice::by_index(library, 0));
  expect_knows_nothing(NvmlDevice{});
}

TEST(NvmlWithoutALibrary, ALibraryThatIsNotNvmlIsRefused) { EXPECT_EQ(load_nvml("libm.so.6"), nullptr); }

TEST(FakeNvml, AnswersInOurUnits) {
  const auto library = load_nvml(TBENCH_FAKE_NVML);
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(nvml_driver_version(library), "580.159.03");
  const NvmlDevice device = NvmlDevice::by_pci_bus_id(library, "0000:0F:00.0");
  ASSERT_TRUE(device.is_known());
  EXPECT_EQ(device.sm_clock(), Hertz{1755e6});
  EXPECT_EQ(device.max_sm_clock(), Hertz{1980e6});
  EXPECT_EQ(device.temperature_c(), 54.0);
  EXPECT_NEAR(device.power()->value, 698.765, 1e-9);  // instantaneous power
  EXPECT_NEAR(device.power_limit()->value, 700.0, 1e-9);
  EXPECT_NEAR(device.total_energy()->value, 8'000'000.123, 1e-6);
  EXPECT_EQ(device.clock_event_reasons(), 0x44U);
  EXPECT_EQ(device.ecc(), true);
  EXPECT_EQ(device.mig(), false);
  EXPECT_EQ(device.other_compute_processes(), 69);
  EXPECT_TRUE(NvmlDevice::by_uuid(library, "GPU-full").is_known());
  EXPECT_EQ(NvmlDevice::by_index(library, 0).name(), "NVIDIA Full 80GB");
  EXPECT_TRUE(NvmlDevice::by_index(library, 1).is_known());
  EXPECT_FALSE(NvmlDevice::by_index(library, 2).is_known());
}

TEST(FakeNvml, PowerIsTheAverageWhereTheMomentsIsUnknown) {
  ASSERT_EQ(setenv("TBENCH_FAKE_NVML_AVERAGE", "1", 1), 0);
  const NvmlDevice device = NvmlDevice::by_pci_bus_id(load_nvml(TBENCH_FAKE_NVML), "0000:0F:00.0");
  EXPECT_NEAR(device.power()->value, 612.345, 1e-9);
  ASSERT_EQ(unsetenv("TBENCH_FAKE_NVML_AVERAGE"), 0);
}

TEST(FakeNvml, WhatIsNotSupportedIsAbsent) {
  const auto library = load_nvml(TBENCH_FAKE_NVML);
  const NvmlDevice bare = NvmlDevice::by_pci_bus_id(library, "0000:10:00.0");
  EXPECT_TRUE(bare.is_known());
  expect_knows_nothing(bare);
  EXPECT_FALSE(NvmlDevice::by_pci_bus_id(library, "0000:11:00.0").is_known());
  EXPECT_FALSE(NvmlDevice::by_uuid(library, "GPU-other").is_known());
}

TEST(FakeNvml, ADeviceKeepsItsLibraryLoaded) {
  auto library = load_nvml(TBENCH_FAKE_NVML);
  const NvmlDevice device = NvmlDevice::by_pci_bus_id(library, "0000:0F:00.0");
  library.reset();
  EXPECT_EQ(device.sm_clock(), Hertz{1755e6});
}

TEST(ClockEventReasons, HaveNamesInTheOrderOfTheirBits) {
  EXPECT_THAT(clock_event_reason_names(0), IsEmpty());
  EXPECT_THAT(clock_event_reason_names(0x1), ElementsAre("gpu_idle"));
  EXPECT_THAT(clock_event_reason_names(0x44), ElementsAre("sw_power_cap", "hw_thermal_slowdown"));
  EXPECT_THAT(clock_event_reason_names(0x8a8),
              ElementsAre("hw_slowdown", "sw_thermal_slowdown", "hw_power_brake_slowdown", "unknown_0x800"));
}

TEST(ClockEventReasons, HeatAndPowerBrakeMakeTimesInvalid) {
  EXPECT_TRUE(makes_times_invalid(0x20));
  EXPECT_TRUE(makes_times_invalid(0x40));
  EXPECT_TRUE(makes_times_invalid(0x80));
  EXPECT_TRUE(makes_times_invalid(0xff));
  EXPECT_FALSE(makes_times_invalid(0));
  EXPECT_FALSE(makes_times_invalid(0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x100));
}

}  // namespace
}  // namespace tbench::cuda
