// Support for the supervisor's tests. Time-outs are short only where one is meant to pass; everywhere else a loaded
// machine has half a minute.
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
