// The GPU's work while steps are traced: CUPTI's activity records of this process, with the ranges of cuda/range.hpp,
// as a profile::Trace.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "tbench/profile/trace.hpp"

namespace tbench::capture {

/// Thrown if another tool uses CUPTI, which serves one at a time: Nsight Systems, Nsight Compute or Kineto. The message
/// names the tool.
class CuptiTaken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A trace, and CUPTI's report on its own losses and cost.
struct CapturedTrace {
  profile::Trace trace;
  std::int64_t dropped{};      // records for which CUPTI had no room
  std::int64_t overhead_ns{};  // host time that CUPTI attributes to itself: buffers, resources
};

/// Traces the device's kernels, copies and fills, the calls of the runtime, the driver's launch calls, and the ranges,
/// of all threads of this process. Costs the host 2 to 4 us per launch while tracing (on an H200), and nothing before
/// or after, because CUPTI is removed from the process. Only one Tracer may exist at a time, and none together with
/// KernelLaunches or DriverCalls.
///
/// The constructor allocates CUPTI's buffers, because a launching thread that has to wait for one stalls for 0.3 ms.
class Tracer {
 public:
  /// Attaches CUPTI and allocates its buffers.
  /// @throws  CuptiTaken          if another tool (a profiler) or another object of this layer uses CUPTI
  /// @throws  std::runtime_error  if CUPTI fails
  Tracer();
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// Returns the current time of the trace's clock.
  /// @throws  std::runtime_error  if CUPTI fails
  [[nodiscard]] static std::int64_t now_ns();

  /// Synchronises the device and starts the trace; work enqueued earlier is not part of it.
  /// @throws  std::runtime_error  if CUPTI fails
  void start();
  /// Synchronises and discards everything traced so far.
  void discard();
  /// Synchronises and ends the trace.
  [[nodiscard]] CapturedTrace stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tbench::capture
