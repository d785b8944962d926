// Facts about CUDA's current device (so CUDA_VISIBLE_DEVICES is respected), for the record and for messages.
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

/// GPUs that this process can use; 0 without a driver. Never throws.
[[nodiscard]] int device_count() noexcept;

/// Why this process can use no GPU, in CUDA's words; empty if it can. Never throws.
[[nodiscard]] std::string device_problem() noexcept;

/// Name, UUID, extents and modes of the current device. Makes no CUDA context: call it before the process first uses
/// the GPU, so that `other_processes` cannot count this one (see NvmlDevice::other_compute_processes).
/// @param nvml   may be null: what only NVML knows is then absent
/// @throws       CudaError  if there is no device
[[nodiscard]] GpuFacts gpu_facts(const std::shared_ptr<const NvmlLibrary>& nvml);

/// The current device as NVML knows it; a device that knows nothing if there is none. For a MIG slice it is the whole
/// GPU, whose clocks and power the slice shares.
[[nodiscard]] NvmlDevice current_nvml_device(const std::shared_ptr<const NvmlLibrary>& nvml);

struct DeviceMemory {
  std::int64_t free{};   // bytes
  std::int64_t total{};  // bytes
  [[nodiscard]] std::int64_t used() const { return total - free; }
};

/// Memory of the current device, all processes together. Makes a CUDA context if there is none.
/// @throws  CudaError
[[nodiscard]] DeviceMemory device_memory();

/// Bytes of the current device's L2 cache that are set aside for lines that kernels make persistent
/// (cudaLimitPersistingL2CacheSize); 0 where a device, or a MIG slice, has no such limit.
/// @throws  CudaError
[[nodiscard]] std::size_t persisting_l2_bytes();

/// Makes the context of the current device, where there is none yet, and waits for it.
/// @return  host time that it took
/// @throws  CudaError
Seconds make_context();

/// Waits for the current device. False once the context is lost, so that this process cannot measure any more; any
/// error is cleared where it can be.
[[nodiscard]] bool context_is_healthy() noexcept;

/// Version of the CUDA runtime that this process uses, "13.0".
[[nodiscard]] std::string cuda_runtime_version();
/// Newest CUDA version that the driver supports, "13.0"; nothing without a driver.
[[nodiscard]] std::optional<std::string> cuda_driver_version();

}  // namespace tbench::cuda
