// Tests the clock monitor with a fake NVML (tests/cuda/fake_nvml.cpp) and without NVML.
#include "tbench/measure/clock_monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "measure/timer/host_time.hpp"

namespace tbench::measure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST(NvmlClockMonitor, PollsInAThreadOfItsOwn) {
  NvmlClockMonitor monitor{cuda::NvmlDevice::by_pci_bus_id(cuda::load_nvml(TBENCH_FAKE_NVML), "0000:0F:00.0")};
  EXPECT_THAT(monitor.stop_polling(), IsEmpty());  // polling had not begun
  const Seconds begin = steady_now();
  monitor.start_polling();
  sleep_for(kPollInterval * 5.0);
  const std::vector<PolledClock> noted = monitor.stop_polling();
  const Seconds end = steady_now();
  // There is one poll at the start and one per interval. A busy machine may have fewer.
  ASSERT_GE(noted.size(), 2U);
  EXPECT_LE(noted.size(), 2 + static_cast<std::size_t>((end - begin) / kPollInterval));
  EXPECT_TRUE(std::ranges::is_sorted(noted, {}, &PolledClock::at));
  EXPECT_GE(noted.front().at, begin);
  EXPECT_LE(noted.back().at, end);
  for (const PolledClock& poll : noted) {
    EXPECT_EQ(poll.sm_clock, Hertz{1755e6});
    EXPECT_NEAR(poll.power.value().value, 698.765, 1e-9);
  }
  monitor.start_polling();
  EXPECT_LE(monitor.stop_polling().size(), 2U);  // polling starts again, and stops without waiting for the interval
}

TEST(NvmlClockMonitor, OfAnUnknownDeviceDoesNotPoll) {
  NvmlClockMonitor monitor{cuda::NvmlDevice{}};
  monitor.start_polling();
  EXPECT_THAT(monitor.stop_polling(), IsEmpty());
}

TEST(NvmlClockMonitor, EndsItsThreadWithItself) {
  NvmlClockMonitor monitor{cuda::NvmlDevice::by_pci_bus_id(cuda::load_nvml(TBENCH_FAKE_NVML), "0000:0F:00.0")};
  monitor.start_polling();
}

}  // namespace
}  // namespace tbench::measure
