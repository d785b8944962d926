// The monitor over a fake NVML (tests/cuda/fake_nvml.cpp) and over none.
#include "tbench/measure/clock_monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbench::measure {
namespace {

using testing::ElementsAre;

TEST(NvmlClockMonitor, KnowsNothingOfAnUnknownDevice) {
  NvmlClockMonitor monitor{cuda::NvmlDevice{}};
  const ClockReading reading = monitor.read();
  EXPECT_FALSE(reading.sm_clock.has_value());
  EXPECT_FALSE(reading.temperature_c.has_value());
  EXPECT_FALSE(reading.power.has_value());
  EXPECT_TRUE(reading.throttle_reasons.empty());
  EXPECT_FALSE(reading.invalidates);
  EXPECT_FALSE(monitor.total_energy().has_value());
}

TEST(NvmlClockMonitor, ReadsWhatTheDeviceKnows) {
  NvmlClockMonitor monitor{cuda::NvmlDevice::by_pci_bus_id(cuda::load_nvml(TBENCH_FAKE_NVML), "0000:0F:00.0")};
  const ClockReading reading = monitor.read();
  EXPECT_EQ(reading.sm_clock, Hertz{1755e6});
  EXPECT_EQ(reading.temperature_c, 54.0);
  EXPECT_NEAR(reading.power->value, 698.765, 1e-9);
  EXPECT_THAT(reading.throttle_reasons, ElementsAre("sw_power_cap", "hw_thermal_slowdown"));
  EXPECT_TRUE(reading.invalidates);
  EXPECT_NEAR(monitor.total_energy()->value, 8'000'000.123, 1e-6);
}

}  // namespace
}  // namespace tbench::measure
