// LibTorch's out-of-memory errors as tbench::OutOfMemory.
#pragma once

#include <functional>

namespace tbench::model {

/// Asks CUDA's caching allocator to tell the bytes of an allocation that fails: its exception does not. Once a process,
/// after CUDA was initialised; further calls do nothing.
void observe_cuda_out_of_memory();

/// Runs `action`. The bytes told are those of the block asked of the device, rounded up by the allocator.
/// @throws  OutOfMemory  where LibTorch's CUDA or CPU allocator ran out, also where another error came of that, as from
///                       a compiled package; everything else passes through
void with_out_of_memory_translated(const std::function<void()>& action);

}  // namespace tbench::model
