// The commands between the launches of a burst, and the device's rests. The writes of a flush evict a kernel's data
// from the L2 cache. A spin kernel, which has a known duration and no memory accesses, hides the enqueuing of a launch.
// The device rests long enough that a burst's time does not depend on the previous burst.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "tbench/core/units.hpp"
#include "tbench/cuda/handle.hpp"

namespace tbench::cuda {

/// Flushes the L2 cache with device memory of twice the cache's size, on the device that was current at construction.
///
/// Rotating a case's buffers instead would let cold launches follow each other without gaps, as warm ones do. But it
/// needs many copies of all buffers, and whether they are cold would depend on each case's sizes. Therefore each of the
/// k cold launches of a sample has its own flush, spin and two events, whereas k warm launches share two events: do not
/// compare cold with warm times under 10 us.
class L2Flush {
 public:
  /// Allocates with cudaMalloc, so that the memory appears in no allocator's statistics. Synchronises.
  /// @throws  OutOfMemory, CudaError
  L2Flush();

  /// Enqueues writes to all of the memory. The writes leave dirty lines in the cache, so that reading cold data also
  /// pays for their write-back, as after any kernel that writes much.
  /// @throws  CudaError
  void enqueue(cudaStream_t stream) const;

  /// Enqueues a copy of `bytes` bytes of `memory`, at most bytes(), which reads them into the cache.
  /// @throws  CudaError
  void read(const void* memory, std::size_t bytes, cudaStream_t stream) const;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  DeviceMemoryBlock block_;
};

/// Enqueues one thread that spins until the GPU's nanosecond timer has advanced by `duration`. It does not wait for a
/// flag that the host sets, which would deadlock if the host waits for the device, for instance to load a kernel.
/// @param duration  at least 0; the timer resolves about 1 us on some GPUs
/// @throws  CudaError  if the launch fails
void launch_spin(Seconds duration, cudaStream_t stream);

/// The longest sample that is followed by a full rest; a full rest after longer samples would take too long.
inline constexpr Seconds kLongestRestedSample{0.25};

/// The length of a rest relative to the preceding work. Without rests, large launches reach the power limit: an H200
/// that rested 5 ms after each 75 ms (a duty of 94 %) ran at 1,500 of 1,980 MHz.
inline constexpr double kRestFactor = 3.0;

/// Whether a sample of this length is followed by a full rest. A longer sample runs at a duty above a quarter, and is
/// compared with the sustained rate of the device.
[[nodiscard]] constexpr bool is_rested_after(Seconds busy) { return busy <= kLongestRestedSample; }

/// Returns how long a device rests after a sample that kept it busy for `busy`.
[[nodiscard]] constexpr Seconds rest_after(Seconds busy) {
  return (is_rested_after(busy) ? busy : kLongestRestedSample) * kRestFactor;
}

}  // namespace tbench::cuda
