// The facts that NVML, the driver's management library, reports about a GPU: clocks, temperature, power, energy and
// modes. The library is loaded on demand, because only machines with a driver have it. Nothing here changes a setting.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tbench/core/units.hpp"

namespace tbench::cuda {

/// The loaded and initialised library; its last owner shuts it down.
class NvmlLibrary;

inline constexpr const char* kNvmlLibraryName = "libnvidia-ml.so.1";

/// Loads and initialises NVML. Returns null if the library is absent or refuses (no driver, or a driver of another
/// version).
[[nodiscard]] std::shared_ptr<const NvmlLibrary> load_nvml(const std::string& file_name = kNvmlLibraryName);

/// Returns the driver's version, e.g. "580.159.03".
[[nodiscard]] std::optional<std::string> nvml_driver_version(const std::shared_ptr<const NvmlLibrary>& library);

/// One GPU, queried through NVML. Every query may return nullopt: without the library, if the driver lacks the
/// function, if the GPU does not support it, or without permission. Queries take microseconds to milliseconds of host
/// time and never synchronise with the GPU.
class NvmlDevice {
 public:
  /// Makes an unknown device, all of whose queries return nullopt.
  NvmlDevice() noexcept = default;

  /// Finds a GPU by its PCI bus id.
  /// @param pci_bus_id  id as cudaDeviceGetPCIBusId() writes it, "0000:0f:00.0"
  /// @return            an unknown device if `library` is null or has no such device
  [[nodiscard]] static NvmlDevice by_pci_bus_id(std::shared_ptr<const NvmlLibrary> library,
                                                const std::string& pci_bus_id);
  /// Finds a GPU or a MIG slice by its UUID.
  /// @param uuid  "GPU-" or "MIG-", then the UUID
  [[nodiscard]] static NvmlDevice by_uuid(std::shared_ptr<const NvmlLibrary> library, const std::string& uuid);

  /// Finds a GPU by its index.
  /// @param index  number from 0, in the order of PCI bus ids
  [[nodiscard]] static NvmlDevice by_index(std::shared_ptr<const NvmlLibrary> library, unsigned int index);

  [[nodiscard]] bool is_known() const noexcept { return handle_ != nullptr; }

  /// Returns the GPU model, such as "NVIDIA H100 80GB HBM3".
  [[nodiscard]] std::optional<std::string> name() const;
  [[nodiscard]] std::optional<Hertz> sm_clock() const;
  [[nodiscard]] std::optional<Hertz> max_sm_clock() const;
  [[nodiscard]] std::optional<double> temperature_c() const;
  /// Returns the power at this moment, or, if the GPU does not report it, NVML's average, which lags by up to a second.
  [[nodiscard]] std::optional<Watts> power() const;
  /// Returns the limit in force, the lower of the software limit and the board limit.
  [[nodiscard]] std::optional<Watts> power_limit() const;
  /// Returns the energy used since the driver was loaded.
  [[nodiscard]] std::optional<Joules> total_energy() const;
  /// Returns the reasons for the current clocks as a bit mask for the two functions below.
  [[nodiscard]] std::optional<std::uint64_t> clock_event_reasons() const;
  [[nodiscard]] std::optional<bool> ecc() const;
  [[nodiscard]] std::optional<bool> mig() const;
  /// Returns the number of other compute processes on the device. In a container NVML may report the host's process
  /// ids, and this process then counts as another: query it before the process first uses the GPU.
  [[nodiscard]] std::optional<std::int64_t> other_compute_processes() const;

 private:
  NvmlDevice(std::shared_ptr<const NvmlLibrary> library, void* handle) noexcept
      : library_{std::move(library)}, handle_{handle} {}

  std::shared_ptr<const NvmlLibrary> library_;
  void* handle_{};  // nvmlDevice_t, owned by NVML
};

/// Returns the names of the reasons in a mask, in the order of their bits: "sw_power_cap", "hw_thermal_slowdown", ... A
/// bit without a name becomes "unknown_0x...".
[[nodiscard]] std::vector<std::string> clock_event_reason_names(std::uint64_t mask);

/// Whether the mask holds a thermal slowdown or a power brake. "hw_slowdown" alone does not count: the driver sets it
/// along with those two, but also for a moment while the clocks change.
[[nodiscard]] bool makes_times_invalid(std::uint64_t clock_event_reasons);

}  // namespace tbench::cuda
