// The parts of a burst between its launches: writes that empty the L2 cache of what a kernel may have left in it, a
// kernel that takes a known time and touches no memory, behind which a launch is hidden, and the length of the device's
// rests, so that a burst's time does not depend on the one before.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "tbench/core/units.hpp"
#include "tbench/cuda/handle.hpp"

namespace tbench::cuda {

/// Holds device memory of twice the L2 cache of the device that was current when it was made.
///
/// Rotating a case's buffers would let cold launches follow each other as warm ones do. It needs all buffers many times
/// over, and whether they are cold would depend on each case's sizes. So each of the k cold launches of a sample has a
/// flush, a spin and two events of its own, where k warm ones share two events: do not compare cold with warm under
/// 10 us.
class L2Flush {
 public:
  /// Allocates with cudaMalloc, so that no allocator's statistics hold it. Synchronises.
  /// @throws  OutOfMemory, CudaError
  L2Flush();

  /// Enqueues writes to all of the memory. The lines that they leave in the cache are dirty: reading cold data then
  /// costs their write-back too, as after any kernel that writes much.
  /// @throws  CudaError
  void enqueue(cudaStream_t stream) const;

  /// Enqueues a copy of so many bytes, or of as many as there is room for: reads them into the cache.
  /// @throws  CudaError
  void read(const void* memory, std::size_t bytes, cudaStream_t stream) const;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  DeviceMemoryBlock block_;
};

/// Enqueues one thread that spins until the GPU's nanosecond timer has gone on by `duration`. It waits for no flag that
/// the host sets: that would deadlock where the host waits for the device, for instance when it loads a kernel.
/// @param duration  at least 0; the timer's own steps, some 1 us on some GPUs, are its resolution
/// @throws  CudaError  if the launch fails
void launch_spin(Seconds duration, cudaStream_t stream);

/// The longest sample that gets its whole rest: more would take longer than anybody waits.
inline constexpr Seconds kLongestRestedSample{0.25};

/// Rests are this many times as long as what came before them. Launch upon launch, large ones run into the power limit:
/// an H200 that rested 5 ms after each 75 ms (a duty of 94 %) ran at 1,500 of 1,980 MHz.
inline constexpr double kRestFactor = 3.0;

/// Whether a sample of this length gets its whole rest. A longer one runs at a duty above a quarter, and is compared
/// with what the device sustains.
[[nodiscard]] constexpr bool is_rested_after(Seconds busy) { return busy <= kLongestRestedSample; }

/// How long a device rests after it was busy with a sample.
[[nodiscard]] constexpr Seconds rest_after(Seconds busy) {
  return (is_rested_after(busy) ? busy : kLongestRestedSample) * kRestFactor;
}

}  // namespace tbench::cuda
