// Traces a few steps of a case after its timing: the interface of a tracer, and the pass that uses it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/step_trace.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// Records the GPU's work between start() and stop().
class StepTracer {
 public:
  virtual ~StepTracer() = default;
  /// Synchronises and starts the trace.
  /// @throws  std::runtime_error  if tracing is not possible, e.g. because a profiler is attached
  virtual void start() = 0;
  /// The clock of the trace.
  [[nodiscard]] virtual std::int64_t now_ns() const = 0;
  /// Synchronises and ends the trace.
  /// @param steps  steps that were enqueued since start(), at least two; the first is not part of the result
  /// @throws  std::runtime_error  if the tracer fails
  [[nodiscard]] virtual StepTrace stop(std::span<const EnqueuedStep> steps, std::span<const std::string_view> phases,
                                       Regime regime) = 0;
  /// Returns further figures per step of the trace that stop() ended, for Record::counters.
  [[nodiscard]] virtual std::map<std::string, double> counters() const { return {}; }
  /// Releases the resources of start() if a step threw before stop().
  virtual void cancel() noexcept = 0;
};

struct TraceOptions {
  Regime regime{};
  L2State l2{};  // L2 state before a launch of a burst, if the timer can flush
  /// The time of uncounted steps before the traced ones, for chained steps: a device that has rested begins at a clock
  /// that it cannot sustain at its power limit.
  Seconds run_up{};
};

/// Runs steps in the same way as for timing, and traces them.
/// @param step  median time of a step; longer steps are traced fewer times
/// @throws  the tracer's exceptions, and any exception of the case's launch()
[[nodiscard]] StepTrace trace_steps(Case& subject, Timer& timer, StepTracer& tracer, const TraceOptions& options,
                                    Seconds step);

}  // namespace tbench::measure
