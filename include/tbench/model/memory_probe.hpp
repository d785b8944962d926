// The allocator's probe: peaks and cache of LibTorch's CUDA caching allocator. Free of LibTorch in its interface.
#pragma once

#include <memory>

#include "tbench/core/memory_probe.hpp"

namespace tbench::model {

/// For CUDA device 0. release_cached() also frees the workspaces that cuBLAS keeps for every thread and stream: they
/// survive an emptied cache and would make a case's peak depend on what ran before.
/// @throws  c10::Error (a std::exception) if there is no CUDA device
[[nodiscard]] std::unique_ptr<MemoryProbe> make_cuda_memory_probe();

}  // namespace tbench::model
