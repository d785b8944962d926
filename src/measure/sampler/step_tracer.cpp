#include "tbench/measure/step_tracer.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "measure/sampler/step_marks.hpp"

namespace tbench::measure {
namespace {

constexpr Seconds kTracedTime{0.08};
constexpr double kBurstShare = 0.25;  // share of kTracedTime: the device rests before each burst
constexpr double kMinSteps = 2;
constexpr double kMaxSteps = 10;
constexpr double kMaxRunUpSteps = 100;

/// Ends the trace at the end of the scope, even if a step throws.
class TraceScope {
 public:
  explicit TraceScope(StepTracer& tracer) : tracer_{tracer} { tracer_.start(); }
  ~TraceScope() { tracer_.cancel(); }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  StepTracer& tracer_;
};

/// Returns the number of steps to trace, including a first step that does not count.
std::size_t steps_to_trace(Seconds step, Regime regime) {
  const Seconds time = regime == Regime::kBurst ? kTracedTime * kBurstShare : kTracedTime;
  const double fitting = step.value > 0 ? time / step : kMaxSteps;
  return 1 + static_cast<std::size_t>(std::clamp(fitting, kMinSteps, kMaxSteps));
}

std::size_t run_up_steps(Seconds step, Seconds run_up) {
  return step.value > 0 ? static_cast<std::size_t>(std::min(run_up / step, kMaxRunUpSteps)) : 0;
}

/// Returns the `steps` that the timer kept; the repeated ones in `made_again` are not part of any step.
std::vector<EnqueuedStep> kept(const std::vector<EnqueuedStep>& steps, const std::vector<std::size_t>& made_again) {
  std::vector<EnqueuedStep> rest;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!std::ranges::binary_search(made_again, i)) rest.push_back(steps[i]);
  }
  return rest;
}

}  // namespace

StepTrace trace_steps(Case& subject, Timer& timer, StepTracer& tracer, const TraceOptions& options, Seconds step) {
  // A graph from before the trace would not show its kernels one by one, so that an additional step records it again.
  // The replay in that step is not typical either, because the driver prepares the graph while the host waits.
  const std::size_t recording = subject.discard_recording() ? 1 : 0;
  const std::size_t uncounted = recording + run_up_steps(step, options.run_up);
  const std::size_t count = uncounted + steps_to_trace(step, options.regime);
  const std::size_t phases = subject.phases().size();
  auto marks = step_marks<EnqueuedStep>([&tracer] { return tracer.now_ns(); });
  timer.prepare(count, phases);
  const Step logged = [&](PhaseMarker& marker) { marks.launch(subject, marker); };
  const auto stop = [&](const Chunk& chunk) {
    const std::vector<EnqueuedStep> steps = kept(marks.steps(), chunk.made_again);
    StepTrace trace = tracer.stop(std::span{steps}.subspan(uncounted), subject.phases(), options.regime);
    if (chunk.counted.value > 0) trace.sm_clock_counted = Hertz{chunk.cycles / chunk.counted.value};
    return trace;
  };
  if (options.regime == Regime::kBurst) {
    const BurstScope scope{timer, {.phases = phases, .flush_l2 = timer.can_flush_l2() && options.l2 == L2State::kCold}};
    const TraceScope traced{tracer};
    return stop(timer.time_bursts(count, 1, logged, {}));
  }
  const TraceScope traced{tracer};
  return stop(timer.time_steps(count, logged, {}));
}

}  // namespace tbench::measure
