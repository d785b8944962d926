// Facts about CUDA's current device, for the record and for messages; CUDA_VISIBLE_DEVICES applies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tbench/core/environment.hpp"
#include "tbench/core/units.hpp"
#include "tbench/cuda/nvml.hpp"

namespace tbench::cuda {

/// Returns the number of GPUs that this process can use; 0 without a driver. Never throws.
[[nodiscard]] int device_count() noexcept;

/// Returns CUDA's own reason why this process cannot use a GPU; empty if it can. Never throws.
[[nodiscard]] std::string device_problem() noexcept;

/// Returns name, UUID, extents and modes of the current device. Makes no CUDA context: call it before the process first
/// uses the GPU, so that `other_processes` cannot count this process (see NvmlDevice::other_compute_processes).
/// @param nvml  may be null; facts that only NVML has are then absent
/// @throws  CudaError  if there is no device
[[nodiscard]] GpuFacts gpu_facts(const std::shared_ptr<const NvmlLibrary>& nvml);

/// Returns the current device's NVML handle, or one whose is_known() is false if there is none. For a MIG slice it is
/// the whole GPU, whose clocks and power the slice shares.
[[nodiscard]] NvmlDevice current_nvml_device(const std::shared_ptr<const NvmlLibrary>& nvml);

struct DeviceMemory {
  std::int64_t free{};   // bytes
  std::int64_t total{};  // bytes
  [[nodiscard]] std::int64_t used() const { return total - free; }
};

/// Returns the memory of the current device, used by all processes together. Makes a CUDA context if there is none.
/// @throws  CudaError
[[nodiscard]] DeviceMemory device_memory();

/// Returns how many bytes of the current device's L2 cache are set aside for lines that kernels make persistent
/// (cudaLimitPersistingL2CacheSize); 0 if a device, or a MIG slice, has no such limit.
/// @throws  CudaError
[[nodiscard]] std::size_t persisting_l2_bytes();

/// Makes the context of the current device if there is none yet, and waits for it.
/// @return  host time that this took
/// @throws  CudaError
Seconds make_context();

/// Waits for the current device. Returns false if the context is lost, so that this process cannot measure any more.
/// Clears errors that can be cleared.
[[nodiscard]] bool context_is_healthy() noexcept;

/// Returns the version of the CUDA runtime that this process uses, such as "13.0".
[[nodiscard]] std::string cuda_runtime_version();
/// Returns the newest CUDA version that the driver supports, such as "13.0"; nullopt without a driver.
[[nodiscard]] std::optional<std::string> cuda_driver_version();

}  // namespace tbench::cuda
