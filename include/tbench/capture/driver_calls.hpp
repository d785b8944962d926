// Host time inside the CUDA driver: times each of its API calls through CUPTI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tbench/core/units.hpp"

namespace tbench::capture {

/// Classes of driver calls. Allocation: device memory and its addresses, and their release. Loading: modules, libraries
/// and kernels. Launch: kernels, which are loaded on their first launch unless CUDA_MODULE_LOADING=EAGER.
enum class DriverCallClass { kContext, kLoading, kAllocation, kLaunch, kOther };
inline constexpr std::size_t kDriverCallClasses = 5;

/// Returns the class of a function of the driver API.
/// @param function  name, e.g. "cuMemAlloc_v2"
[[nodiscard]] DriverCallClass driver_call_class(std::string_view function);

struct DriverTime {
  Seconds time;
  std::int64_t calls{};
};
using DriverTimes = std::array<DriverTime, kDriverCallClasses>;  // indexed by DriverCallClass

/// Times the driver calls of all threads of this process between start() and stop(), at well under a microsecond per
/// call. CUPTI serves one object at a time. The constructor attaches CUPTI, which takes milliseconds, and the
/// destructor releases it; both can lie outside the timed region.
class DriverCalls {
 public:
  /// Attaches CUPTI.
  /// @throws  std::runtime_error  if CUPTI refuses, e.g. because a profiler is using it
  DriverCalls();
  ~DriverCalls();
  DriverCalls(const DriverCalls&) = delete;
  DriverCalls& operator=(const DriverCalls&) = delete;

  /// Starts timing; a later start() adds to the times.
  /// @throws  std::runtime_error  if CUPTI fails
  void start();
  void stop();

  /// Times of the calls that have begun and returned between start() and stop() so far.
  [[nodiscard]] DriverTimes times() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tbench::capture
