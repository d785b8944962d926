// Tells whether the sm90 kernels can run in this build on this machine.
#pragma once

#include "kernels/attention/common/device_limits.hpp"
#include "tbench/cuda/device.hpp"

namespace tbench::kernels::sm90 {

inline constexpr const char* kWithoutSm90 =
    "no GPU of compute capability 9.0 on this machine, or no code for it in this build";

inline bool runs_here() {
  return cuda::device_count() > 0 && runs_sm90a(current_device_limits(), built_architectures());
}

}  // namespace tbench::kernels::sm90
