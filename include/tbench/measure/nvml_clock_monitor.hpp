// The clock monitor of NVIDIA GPUs.
#pragma once

#include "tbench/cuda/nvml.hpp"
#include "tbench/measure/clock_monitor.hpp"

namespace tbench::measure {

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
