// Empties the L2 cache of what a kernel may have left in it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "tbench/cuda/handle.hpp"

namespace tbench::cuda {

/// Holds device memory of twice the L2 cache of the device that was current when it was made.
class L2Flush {
 public:
  /// Allocates with cudaMalloc, so that no allocator's statistics hold it. Synchronises.
  /// @throws  OutOfMemory, CudaError
  L2Flush();

  /// Enqueues writes to all of the memory. The lines that they leave in the cache are dirty: reading cold data then
  /// costs their write-back too, as after any kernel that writes much.
  /// @throws  CudaError
  void enqueue(cudaStream_t stream) const;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  DeviceMemoryBlock block_;
};

}  // namespace tbench::cuda
