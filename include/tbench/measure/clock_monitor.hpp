// Watches the device's clock, temperature, power and energy while a case is sampled: through NVML, or not at all.
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
  std::vector<std::string> throttle_reasons;  // names of the active ones, e.g. "sw_power_cap"
  /// One of the reasons makes times invalid: thermal slowdown or power brake (a software power cap does not: it is
  /// how the GPU runs under load).
  bool invalidates{};
};

/// A reading that a monitor noted by itself.
struct PolledClock {
  Seconds at;  // of the timers' now(): before the reading, which takes microseconds
  Hertz sm_clock;
  std::optional<Watts> power;
};

/// How often a monitor that polls does so. NVML's own clock changes no more often.
inline constexpr Seconds kPollInterval{0.02};

class ClockMonitor {
 public:
  virtual ~ClockMonitor() = default;
  [[nodiscard]] virtual ClockReading read() = 0;
  /// Begins to note the clock every kPollInterval in a thread of its own. A reading after a chunk's enqueue alone comes
  /// at another moment of the chunk in every process: the same product had an MFU of 0.64 in one and of 0.85 in the
  /// next.
  virtual void start_polling() {}
  /// Ends that. Nothing if it was not begun.
  /// @return  in order; empty for a monitor that does not poll
  virtual std::vector<PolledClock> stop_polling() { return {}; }
  /// Energy the device has used since some fixed moment.
  [[nodiscard]] virtual std::optional<Joules> total_energy() = 0;
};

/// For machines without a GPU: knows nothing.
class NoClockMonitor final : public ClockMonitor {
 public:
  ClockReading read() override { return {}; }
  std::optional<Joules> total_energy() override { return std::nullopt; }
};

/// Reads what NVML knows of one GPU; what it does not know is absent. A reading takes some milliseconds of host time.
class NvmlClockMonitor final : public ClockMonitor {
 public:
  explicit NvmlClockMonitor(cuda::NvmlDevice device);

  /// An idle GPU is no reason worth a record: "gpu_idle" is left out of the reasons.
  ~NvmlClockMonitor() override;
  [[nodiscard]] ClockReading read() override;
  void start_polling() override;
  std::vector<PolledClock> stop_polling() override;
  [[nodiscard]] std::optional<Joules> total_energy() override;

 private:
  class Poller;
  cuda::NvmlDevice device_;
  std::unique_ptr<Poller> poller_;  // while it polls
};

}  // namespace tbench::measure
