// Traces a few steps of a case after its timing: the interface to whoever sees what the GPU does, and the pass.
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

/// Sees what the GPU does between start() and stop().
class StepTracer {
 public:
  virtual ~StepTracer() = default;
  /// Synchronises.
  /// @throws  std::runtime_error  if that is not possible: a profiler is attached, say
  virtual void start() = 0;
  /// The clock of the trace.
  [[nodiscard]] virtual std::int64_t now_ns() const = 0;
  /// Synchronises, and ends the trace.
  /// @param steps  that were enqueued since start(), at least two; the first is not part of the result
  /// @throws       std::runtime_error  if the tracer fails
  [[nodiscard]] virtual StepTrace stop(std::span<const EnqueuedStep> steps, std::span<const std::string_view> phases,
                                       Regime regime) = 0;
  /// Returns the further figures of the trace that stop() ended, per step: for Record::counters.
  [[nodiscard]] virtual std::map<std::string, double> counters() const { return {}; }
  /// Lets go of what start() holds, if stop() did not: a step has thrown.
  virtual void cancel() noexcept = 0;
};

struct TraceOptions {
  Regime regime{};
  L2State l2{};  // what a burst meets, where the timer can flush
  /// Chained steps: a device that rested begins at a clock that it cannot hold at its power limit, so that so much time
  /// in steps comes before those that count.
  Seconds run_up{};
};

/// Runs steps as the timer runs them to be timed, and traces them.
/// @param step  the median of the timed ones: longer steps are traced fewer times
/// @throws      as the tracer, and whatever the case's launch() throws
[[nodiscard]] StepTrace trace_steps(Case& subject, Timer& timer, StepTracer& tracer, const TraceOptions& options,
                                    Seconds step);

}  // namespace tbench::measure
