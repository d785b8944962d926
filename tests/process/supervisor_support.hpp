// Supports the supervisor's tests. Only time-outs that are meant to pass are short. All others are half a minute, for a
// busy machine.
#pragma once

#include <string_view>

#include "tbench/process/supervisor.hpp"

namespace tbench::process {

inline constexpr Seconds kAmple{30.0};

/// Options for the worker with injected faults (supervisor_test_worker.cpp).
inline SupervisorOptions options_with_timeout(Seconds timeout) {
  return {.command = {TBENCH_TEST_WORKER}, .timeout = timeout, .start_timeout = kAmple, .exit_grace = kAmple};
}

inline void ignore_progress(std::string_view) {}
inline bool never() { return false; }

}  // namespace tbench::process
