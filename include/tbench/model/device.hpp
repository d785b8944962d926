// LibTorch's devices, library versions and memory allocator. The interface is free of LibTorch.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"

namespace tbench::model {

/// The device that a case runs on: the CPU, or the first visible CUDA device.
enum class DeviceKind { kCpu, kCuda };

/// Returns the number of CUDA devices that LibTorch can use; 0 if there is no driver. Never throws.
[[nodiscard]] int cuda_device_count() noexcept;

/// Returns why no implementation can compute in `precision` on the device, or nullopt if it can: there is no GPU, the
/// GPU is older than Ampere (tf32, bf16), or the device is a CPU (tf32, fp16).
[[nodiscard]] std::optional<std::string> device_unsupported_reason(DeviceKind device, Precision precision);

/// Returns the versions of `libtorch`, `cudnn` and `cublas`, as far as they are there, for Environment::versions. Needs
/// no GPU.
[[nodiscard]] std::map<std::string, std::string> library_versions();

/// Limits every CPU operation of the process to one thread from now on. With several threads that wait for each other,
/// a time would depend on the machine's other load.
void use_one_cpu_thread();

/// Limits LibTorch's allocator to a share of CUDA device 0's memory from now on.
/// @param share  fraction of the memory, above 0 and at most 1
/// @throws       c10::Error (a std::exception) if there is no CUDA device
void limit_cuda_memory(double share);

/// Makes the memory probe of CUDA device 0. Its release_cached() also frees the workspaces that cuBLAS keeps for every
/// thread and stream: they survive an emptied cache and would make a case's peak depend on the cases before it.
/// @throws  c10::Error (a std::exception) if there is no CUDA device
[[nodiscard]] std::unique_ptr<MemoryProbe> make_cuda_memory_probe();

}  // namespace tbench::model
