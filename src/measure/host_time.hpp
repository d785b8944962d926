// Host clocks and the check of a step's marks, shared by the timers.
#pragma once

#include <ctime>

#include <chrono>
#include <cstddef>
#include <thread>

#include "tbench/core/units.hpp"

namespace tbench::measure {

/// Monotonic time from an arbitrary origin.
[[nodiscard]] inline Seconds steady_now() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

/// Processor time of the whole process, all threads.
[[nodiscard]] inline Seconds process_cpu_now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return {static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9};
}

inline void sleep_for(Seconds duration) { std::this_thread::sleep_for(std::chrono::duration<double>(duration.value)); }

/// @throws  std::logic_error  if step number `step` made `marks` marks and has `phases` phases
void require_marks(std::size_t step, std::size_t marks, std::size_t phases);

}  // namespace tbench::measure
