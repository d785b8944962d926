#include "tbench/measure/clock_monitor.hpp"

#include <utility>

namespace tbench::measure {

NvmlClockMonitor::NvmlClockMonitor(cuda::NvmlDevice device) : device_{std::move(device)} {}

ClockReading NvmlClockMonitor::read() {
  ClockReading reading;
  // The clock first: the other questions take time, in which a short chunk may end.
  reading.sm_clock = device_.sm_clock();
  if (const auto reasons = device_.clock_event_reasons()) {
    reading.throttle_reasons = cuda::clock_event_reason_names(*reasons);
    std::erase(reading.throttle_reasons, "gpu_idle");
    reading.invalidates = cuda::makes_times_invalid(*reasons);
  }
  reading.power = device_.power();
  reading.temperature_c = device_.temperature_c();
  return reading;
}

std::optional<Joules> NvmlClockMonitor::total_energy() { return device_.total_energy(); }

}  // namespace tbench::measure
