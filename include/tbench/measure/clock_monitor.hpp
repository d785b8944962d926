// Watches the device's clock, temperature, power and energy through NVML while a case is sampled.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/cuda/nvml.hpp"

namespace tbench::measure {

struct ClockReading {
  std::optional<Hertz> sm_clock;
  std::optional<double> temperature_c;
  std::optional<Watts> power;
  std::vector<std::string> throttle_reasons;  // names of the active reasons, e.g. "sw_power_cap"
  /// Whether a reason makes times invalid: thermal slowdown or power brake. A software power cap does not, because a
  /// GPU normally runs at that cap under load.
  bool invalidates{};
};

/// A reading that a polling monitor took in its own thread.
struct PolledClock {
  Seconds at;  // Timer::now() before the reading, which takes microseconds
  Hertz sm_clock;
  std::optional<Watts> power;
};

/// The interval at which a monitor polls. NVML updates its own clock reading no more often.
inline constexpr Seconds kPollInterval{0.02};

class ClockMonitor {
 public:
  virtual ~ClockMonitor() = default;
  [[nodiscard]] virtual ClockReading read() = 0;
  /// Starts to record the clock every kPollInterval in a separate thread. A single reading after the chunk is enqueued
  /// is not enough, because it falls at a different moment of the chunk in every process: the MFU of the same product
  /// was 0.64 in one process and 0.85 in the next.
  virtual void start_polling() {}
  /// Stops polling; does nothing if start_polling() was not called.
  /// @return  readings in order of time; empty for a monitor that does not poll
  virtual std::vector<PolledClock> stop_polling() { return {}; }
  /// Energy that the device has used since a fixed moment in the past.
  [[nodiscard]] virtual std::optional<Joules> total_energy() = 0;
};

/// A monitor for machines without a GPU: every reading is absent.
class NoClockMonitor final : public ClockMonitor {
 public:
  ClockReading read() override { return {}; }
  std::optional<Joules> total_energy() override { return std::nullopt; }
};

/// Reads the values that NVML offers for one GPU; the others are absent. Leaves out the throttle reason "gpu_idle".
/// A reading takes some milliseconds of host time.
class NvmlClockMonitor final : public ClockMonitor {
 public:
  explicit NvmlClockMonitor(cuda::NvmlDevice device);

  /// Stops the polling thread.
  ~NvmlClockMonitor() override;
  [[nodiscard]] ClockReading read() override;
  void start_polling() override;
  std::vector<PolledClock> stop_polling() override;
  [[nodiscard]] std::optional<Joules> total_energy() override;

 private:
  class Poller;
  cuda::NvmlDevice device_;
  std::unique_ptr<Poller> poller_;  // absent unless the monitor is polling
};

}  // namespace tbench::measure
