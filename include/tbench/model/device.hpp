// What LibTorch says of the machine. Free of LibTorch in its interface.
#pragma once

#include <map>
#include <string>

namespace tbench::model {

/// CUDA devices that LibTorch can use; 0 without a driver. Never throws.
[[nodiscard]] int cuda_device_count() noexcept;

/// Versions of `libtorch` and `cudnn`, for Environment::versions. Needs no GPU.
[[nodiscard]] std::map<std::string, std::string> library_versions();

/// Lets every operation on the CPU use one thread from now on, in the whole process. Threads that wait for each other
/// would time the machine's other load.
void use_one_cpu_thread();

}  // namespace tbench::model
