// Host clocks and the check of a step's marks, shared by the timers.
#pragma once

#include <ctime>

#include <chrono>
#include <cstddef>
#include <thread>

#include "tbench/core/units.hpp"

namespace tbench::measure {

/// Returns monotonic time from an arbitrary origin.
[[nodiscard]] inline Seconds steady_now() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

/// Returns the processor time of all threads of the process.
[[nodiscard]] inline Seconds process_cpu_now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return {static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9};
}

inline void sleep_for(Seconds duration) { std::this_thread::sleep_for(std::chrono::duration<double>(duration.value)); }

/// Checks the number of marks of a step.
/// @throws  std::logic_error  if step number `step` made `marks` marks but has `phases` phases
void require_marks(std::size_t step, std::size_t marks, std::size_t phases);

/// Checks that bursts can be timed.
/// @throws  std::logic_error  for 0 phases (begin_bursts() was not called), 0 bursts, or 0 launches per burst
void require_bursts(std::size_t phases, std::size_t count, std::size_t launches);

}  // namespace tbench::measure
