// Watches the device's clock, temperature, power and energy while a case is sampled: through NVML, or not at all.
#pragma once

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

class ClockMonitor {
 public:
  virtual ~ClockMonitor() = default;
  [[nodiscard]] virtual ClockReading read() = 0;
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
  [[nodiscard]] ClockReading read() override;
  [[nodiscard]] std::optional<Joules> total_energy() override;

 private:
  cuda::NvmlDevice device_;
};

}  // namespace tbench::measure
