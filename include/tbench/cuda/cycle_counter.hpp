// The clock that a GPU really had between two moments: by its multiprocessors' own cycle counters.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <span>

#include "tbench/core/units.hpp"
#include "tbench/cuda/handle.hpp"

namespace tbench::cuda {

/// A multiprocessor's counters at one moment; zeros: nothing ran on it.
struct CycleMark {
  std::uint64_t cycles;       // %clock64
  std::uint64_t nanoseconds;  // %globaltimer
};

struct CountedCycles {
  double cycles{};  // of one multiprocessor
  Seconds time;     // for which they were counted
};

/// Returns the cycles between two marks of each multiprocessor, for the multiprocessor with the median clock: all have
/// one clock, and the median stays what it is where a few counters were reset, or a multiprocessor slept.
/// @param begin, end  by multiprocessor, as many
/// @return  nothing where no multiprocessor has both marks
[[nodiscard]] std::optional<CountedCycles> counted_cycles(std::span<const CycleMark> begin,
                                                          std::span<const CycleMark> end);

/// NVML tells the clock in steps of 15 MHz, 1 % of it under load, and of some moment: three processes whose products
/// took the same time within 0.04 % differed by 1.1 % in cycles by its median. Counted, cycles are exact.
///
/// Holds some device memory, and synchronises the device: for use outside timed regions, right before and right behind.
class CycleCounter {
 public:
  /// Counts the cycles of the current device.
  /// @throws  OutOfMemory, CudaError
  CycleCounter();

  /// @throws  CudaError
  void begin();
  /// Since begin().
  /// @throws  CudaError
  [[nodiscard]] std::optional<CountedCycles> end();

 private:
  void mark(CycleMark* marks) const;

  int multiprocessors_;
  DeviceMemoryBlock marks_;  // [begin or end, multiprocessor]
};

}  // namespace tbench::cuda
