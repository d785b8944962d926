// The facts that the driver's management library tells about a GPU: clocks, temperature, power, energy, modes. The
// library is loaded when asked for, because it exists only beside a driver. Nothing here changes a setting.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tbench/core/units.hpp"

namespace tbench::cuda {

/// The loaded and initialised library; shut down with its last owner.
class NvmlLibrary;

inline constexpr const char* kNvmlLibraryName = "libnvidia-ml.so.1";

/// Loads and initialises NVML; null where there is none, or where it refuses (no driver, another version's driver).
[[nodiscard]] std::shared_ptr<const NvmlLibrary> load_nvml(const std::string& file_name = kNvmlLibraryName);

/// The driver's version, e.g. "580.159.03".
[[nodiscard]] std::optional<std::string> nvml_driver_version(const std::shared_ptr<const NvmlLibrary>& library);

/// One GPU as NVML knows it. Every question may go unanswered: no library, a function that this driver lacks, one that
/// this GPU does not support, or no permission. Questions take microseconds to milliseconds of host time, and never
/// synchronise with the GPU.
class NvmlDevice {
 public:
  /// Knows nothing.
  NvmlDevice() noexcept = default;

  /// @param pci_bus_id  as cudaDeviceGetPCIBusId spells it, "0000:0f:00.0"
  /// @return            a device that knows nothing if `library` is null or has no such device
  [[nodiscard]] static NvmlDevice by_pci_bus_id(std::shared_ptr<const NvmlLibrary> library,
                                                const std::string& pci_bus_id);
  /// @param uuid  "GPU-" or "MIG-", then the UUID
  [[nodiscard]] static NvmlDevice by_uuid(std::shared_ptr<const NvmlLibrary> library, const std::string& uuid);

  /// @param index  from 0, in the order of PCI bus ids
  [[nodiscard]] static NvmlDevice by_index(std::shared_ptr<const NvmlLibrary> library, unsigned int index);

  [[nodiscard]] bool is_known() const noexcept { return handle_ != nullptr; }

  /// The model: "NVIDIA H100 80GB HBM3".
  [[nodiscard]] std::optional<std::string> name() const;
  [[nodiscard]] std::optional<Hertz> sm_clock() const;
  [[nodiscard]] std::optional<Hertz> max_sm_clock() const;
  [[nodiscard]] std::optional<double> temperature_c() const;
  /// The power at this moment; for a GPU that does not tell that, NVML's average, which lags by up to a second.
  [[nodiscard]] std::optional<Watts> power() const;
  /// The limit in force: the lower one of software and board.
  [[nodiscard]] std::optional<Watts> power_limit() const;
  /// Energy used since the driver was loaded.
  [[nodiscard]] std::optional<Joules> total_energy() const;
  /// Why the clocks are what they are, as a bit mask for the two functions below.
  [[nodiscard]] std::optional<std::uint64_t> clock_event_reasons() const;
  [[nodiscard]] std::optional<bool> ecc() const;
  [[nodiscard]] std::optional<bool> mig() const;
  /// Compute processes on the device besides this one. In a container the process ids may be the host's ids, and this
  /// process then counts as another: ask before it first uses the GPU.
  [[nodiscard]] std::optional<std::int64_t> other_compute_processes() const;

 private:
  NvmlDevice(std::shared_ptr<const NvmlLibrary> library, void* handle) noexcept
      : library_{std::move(library)}, handle_{handle} {}

  std::shared_ptr<const NvmlLibrary> library_;
  void* handle_{};  // nvmlDevice_t, owned by NVML
};

/// Names of the reasons in a mask, in the order of their bits: "sw_power_cap", "hw_thermal_slowdown", ... A bit without
/// a name is "unknown_0x...".
[[nodiscard]] std::vector<std::string> clock_event_reason_names(std::uint64_t mask);

/// Whether the mask holds a thermal slowdown or a power brake. "hw_slowdown" alone does not count: it is set along with
/// those two, and also for a moment while the clocks change.
[[nodiscard]] bool makes_times_invalid(std::uint64_t clock_event_reasons);

}  // namespace tbench::cuda
