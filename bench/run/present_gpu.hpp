// Whether there is a GPU to measure: what the driver says, and what CUDA makes of it; and what is refused without one.
#pragma once

#include <optional>
#include <string>

#include "bench/cli/options.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/error.hpp"

namespace tbench::bench {

/// The model of the GPU to choose the standard suite for; nothing without one. Asks the driver's management library,
/// which neither makes a CUDA context nor wakes a GPU.
[[nodiscard]] std::optional<std::string> present_gpu();

/// To be called where CUDA may be initialised.
/// @throws  UsageError  where the driver sees a GPU and CUDA does not, with CUDA's own error
void refuse_gpu_without_cuda();

/// Calls that in another process, for one that never initialises CUDA.
/// @return  false where it refused, on stderr
[[nodiscard]] bool another_process_can_use_gpu();

/// The error for --tb_device=cuda without a GPU.
[[nodiscard]] UsageError no_cuda_device();

/// Refuses options for cases that run on the CPU.
/// @throws  UsageError  for a flag that only a GPU can serve: --tb_l2, --tb_trace=on or what implies it,
///                      --tb_memory_limit
void refuse_gpu_options(const Options& options);

/// Whether the cases run on a GPU.
/// @throws  UsageError  for --tb_device=cuda without a GPU; as refuse_gpu_without_cuda()
[[nodiscard]] bool choose_gpu(DeviceChoice choice);

/// @throws  UsageError  for --tb_require_exclusive where other processes use the GPU, or the driver does not tell
void check_exclusive(const Options& options, const Environment& environment);

}  // namespace tbench::bench
