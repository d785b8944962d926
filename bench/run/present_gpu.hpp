// Whether there is a GPU to measure, according to the driver and to CUDA, and which options are refused without a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/cli/options.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/error.hpp"

namespace tbench::bench {

/// Returns the GPU model for which the suite is chosen; nullopt without a GPU. Asks the driver's management library,
/// which neither makes a CUDA context nor wakes a GPU.
[[nodiscard]] std::optional<std::string> present_gpu();

/// Refuses a GPU that CUDA cannot use. Initialises CUDA: call it only where that is allowed.
/// @throws  UsageError  with CUDA's own error, if the driver sees a GPU and CUDA does not
void refuse_gpu_without_cuda();

/// Returns the number of compute processes on the GPU of `environment`, or on the first visible GPU if its UUID is left
/// out. Call it in a process that has not used the GPU: the process would be counted.
/// @return  nullopt without a GPU, or if the driver does not report the processes
[[nodiscard]] std::optional<std::int64_t> other_processes_now(const Environment& environment);

/// Calls refuse_gpu_without_cuda() in a child process, for a process that must not initialise CUDA.
/// @return  false if the child refused the GPU, with the reason on stderr
[[nodiscard]] bool another_process_can_use_gpu();

/// Returns the error for --tb_device=cuda without a GPU.
[[nodiscard]] UsageError no_cuda_device();

/// Refuses options that need a GPU, for cases that run on the CPU.
/// @throws  UsageError  for --tb_l2, --tb_memory_limit, and --tb_trace=on or an option that implies it
void refuse_gpu_options(const Options& options);

/// Whether the cases run on a GPU.
/// @throws  UsageError  for --tb_device=cuda without a GPU, and as refuse_gpu_without_cuda()
[[nodiscard]] bool choose_gpu(DeviceChoice choice);

/// Checks --tb_require_exclusive.
/// @throws  UsageError  if other processes use the GPU, or if the driver does not report them
void check_exclusive(const Options& options, const Environment& environment);

}  // namespace tbench::bench
