// Properties of a device that the kernels' rules and checks read.
#pragma once

#include <cstddef>

namespace tbench::kernels {

/// Properties of a device that decide whether and how it can run the kernels.
struct DeviceLimits {
  int compute_capability_major{};
  int compute_capability_minor{};
  int multiprocessors{};
  std::size_t shared_bytes_per_block{};  // the opt-in maximum
  bool operator==(const DeviceLimits&) const = default;
};

/// Returns the limits of the current device. Each device is queried only once.
/// @throws  cuda::CudaError
[[nodiscard]] DeviceLimits current_device_limits();

}  // namespace tbench::kernels
