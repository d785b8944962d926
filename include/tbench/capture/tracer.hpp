// The GPU's work while steps are traced: CUPTI's activity records of this process, with the ranges of cuda/range.hpp,
// as a profile::Trace.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "tbench/profile/trace.hpp"

namespace tbench::capture {

/// Another tool has CUPTI, which serves one at a time: Nsight Systems, Nsight Compute, Kineto. The message names it.
class CuptiTaken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A trace, and what CUPTI says of its own.
struct CapturedTrace {
  profile::Trace trace;
  std::int64_t dropped{};      // records that CUPTI had no room for
  std::int64_t overhead_ns{};  // that CUPTI says it cost: buffers, resources
};

/// Traces the kernels, copies and fills of the device, the calls of the runtime and of the driver's launches, and the
/// ranges, of all threads of this process. Costs the host 2 to 4 us per launch while it traces (on an H200), nothing
/// before and, since CUPTI is taken out of the process, nothing after. One at a time, and not at the same time as
/// KernelLaunches or DriverCalls.
///
/// CUPTI's buffers are made by the constructor: a launching thread that has to wait for one stalls for 0.3 ms.
class Tracer {
 public:
  /// @throws  CuptiTaken          where another tool (a profiler) has CUPTI, or an object of this layer
  /// @throws  std::runtime_error  if CUPTI fails
  Tracer();
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// The clock of the trace, now.
  /// @throws  std::runtime_error  if CUPTI fails
  [[nodiscard]] static std::int64_t now_ns();

  /// Synchronises the device first: what was enqueued before is no part of the trace.
  /// @throws  std::runtime_error  if CUPTI fails
  void start();
  /// Synchronises, and forgets what was traced so far.
  void discard();
  /// Synchronises and ends the trace.
  [[nodiscard]] CapturedTrace stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tbench::capture
