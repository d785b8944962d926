// Gathers what the results were made with: GPU, host, versions, build.
#pragma once

#include <string>

#include "tbench/core/environment.hpp"

namespace tbench::bench {

/// @param on_gpu         whether the cases run on the current CUDA device
/// @param clock_policy   what the user says about the clocks; recorded as it is
[[nodiscard]] Environment collect_environment(bool on_gpu, const std::string& clock_policy);

}  // namespace tbench::bench
