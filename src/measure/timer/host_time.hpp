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

/// @throws  std::logic_error  if bursts cannot be timed: no phases (begin_bursts() was not called), none at all, or of
///                            no launches
void require_bursts(std::size_t phases, std::size_t count, std::size_t launches);

}  // namespace tbench::measure
