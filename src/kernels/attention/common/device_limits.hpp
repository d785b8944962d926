// Requirements of the attention kernels: the device's limits, read once per device, and this build's machine code.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/kernels/device_limits.hpp"

namespace tbench::kernels {

/// Reads each device's limits once, at the first call of of(). Safe to use from several threads.
class DeviceLimitsCache {
 public:
  explicit DeviceLimitsCache(std::function<DeviceLimits(int device)> read) : read_{std::move(read)} {}
  /// Returns the limits of a device.
  /// @throws  every exception of `read`; the next call reads again
  [[nodiscard]] DeviceLimits of(int device);

 private:
  std::function<DeviceLimits(int)> read_;
  std::mutex mutex_;
  std::map<int, DeviceLimits> limits_;
};

/// Returns this build's TBENCH_CUDA_ARCHITECTURES, for example "8.0 9.0a".
[[nodiscard]] std::string_view built_architectures();

/// Returns why a build for `architectures` does not run on a GPU, or nullopt if it does. The entries have the form of
/// Torch's CMake. "8.0" is machine code for 8.0 and later minor versions of major version 8; "9.0a" is machine code for
/// 9.0 alone. "+PTX" adds PTX, which later GPUs compile when they load it, except for the PTX of an "a" entry. See the
/// CUDA C++ Programming Guide, "Binary Compatibility" and "Architecture-Specific Features".
[[nodiscard]] std::optional<std::string> missing_code_reason(const DeviceLimits& limits,
                                                             std::string_view architectures);

/// Whether the GPU has compute capability 9.0, which the sm90 kernels require.
[[nodiscard]] bool is_hopper(const DeviceLimits& limits);

/// Whether a build for `architectures` runs the sm90 kernels. Only a build with "9.0a" has code in them; in any other
/// build their launches would do nothing.
[[nodiscard]] bool runs_sm90a(const DeviceLimits& limits, std::string_view architectures);

}  // namespace tbench::kernels
