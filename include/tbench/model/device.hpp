// The machine as LibTorch sees it, and LibTorch's allocator of memory. The interface is free of LibTorch.
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

/// CUDA devices that LibTorch can use; 0 without a driver. Never throws.
[[nodiscard]] int cuda_device_count() noexcept;

/// Why no implementation can compute in `precision` on the device, or nothing: there is none, it is older than Ampere
/// (tf32, bf16), or a CPU (tf32, fp16).
[[nodiscard]] std::optional<std::string> device_unsupported_reason(DeviceKind device, Precision precision);

/// Versions of `libtorch` and `cudnn`, for Environment::versions. Needs no GPU.
[[nodiscard]] std::map<std::string, std::string> library_versions();

/// Lets every operation on the CPU use one thread from now on, in the whole process. Threads that wait for each other
/// would time the machine's other load.
void use_one_cpu_thread();

/// Lets LibTorch's allocator take no more than this share of CUDA device 0's memory from now on.
/// @param share  above 0, at most 1
/// @throws       c10::Error (a std::exception) if there is no CUDA device
void limit_cuda_memory(double share);

/// For CUDA device 0. release_cached() also frees the workspaces that cuBLAS keeps for every thread and stream: they
/// survive an emptied cache and would make a case's peak depend on what ran before.
/// @throws  c10::Error (a std::exception) if there is no CUDA device
[[nodiscard]] std::unique_ptr<MemoryProbe> make_cuda_memory_probe();

}  // namespace tbench::model
