// What a device must have for the attention kernels: facts read once a device, and machine code in this build.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/kernels/attention.hpp"

namespace tbench::kernels {

/// Reads each device's limits once, when they are first asked for. Safe to use from several threads.
class DeviceLimitsCache {
 public:
  explicit DeviceLimitsCache(std::function<DeviceLimits(int device)> read) : read_{std::move(read)} {}
  /// @throws  what reading throws; the next call reads again
  [[nodiscard]] DeviceLimits of(int device);

 private:
  std::function<DeviceLimits(int)> read_;
  std::mutex mutex_;
  std::map<int, DeviceLimits> limits_;
};

/// What TBENCH_CUDA_ARCHITECTURES was for this build, "8.0 9.0a".
[[nodiscard]] std::string_view built_architectures();

/// Why a build for `architectures` does not run on a GPU, or nothing. The entries are Torch's CMake's: "8.0" is machine
/// code for 8.0 and later minor versions of major version 8, "9.0a" for 9.0 alone; "+PTX" adds code that later GPUs
/// compile when they load it (none of them for an "a").
/// See the CUDA C++ Programming Guide, "Binary Compatibility" and "Architecture-Specific Features".
[[nodiscard]] std::optional<std::string> missing_code_reason(const DeviceLimits& limits,
                                                             std::string_view architectures);

/// Compute capability 9.0, which Hopper's kernels are for alone.
[[nodiscard]] bool is_hopper(const DeviceLimits& limits);

/// Whether a build for `architectures` runs Hopper's kernels, which are machine code for "9.0a": no other build makes
/// code of them, and what it launched would do nothing.
[[nodiscard]] bool runs_sm90a(const DeviceLimits& limits, std::string_view architectures);

/// Why a pass, "forward" or "backward", does not run with `workspace`; or nothing.
[[nodiscard]] std::optional<std::string> missing_workspace_reason(std::string_view pass, std::size_t needed,
                                                                  const void* workspace);

}  // namespace tbench::kernels
