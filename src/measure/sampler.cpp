// Runs chunks and keeps the books; every decision is one of stopping.hpp's functions.
#include "tbench/measure/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sampling_run.hpp"
#include "tbench/core/statistics.hpp"
#include "tbench/measure/stopping.hpp"

namespace tbench::measure {

namespace {

constexpr int kCoolDownTries = 3;
constexpr Seconds kFirstWait{0.05};
constexpr Seconds kLongestWait{2.0};
constexpr int kWaitsPerTry = 6;

/// The case cannot have a time: it ends as `incorrect`.
struct Incorrect {
  std::string reason;
};

Seconds device_time(const Chunk& chunk) {
  Seconds sum;
  for (const double seconds : chunk.phase_seconds) {
    sum = sum + Seconds{seconds};
  }
  return sum;
}

class Sampler {
 public:
  Sampler(Case& subject, Timer& timer, ClockMonitor& monitor, const SamplerOptions& options,
          const ProgressCallback& progress, const StopRequested& stop_requested)
      : subject_{subject},
        timer_{timer},
        monitor_{monitor},
        options_{options},
        progress_{progress},
        stop_requested_{stop_requested} {}

  SampleResult measure();

 private:
  void report(std::string_view activity);
  Chunk run_chunk(std::int64_t count, const std::function<void()>& while_busy);
  void check_samples(const Chunk& chunk) const;
  WarmUp warm_up();
  SamplingRun take_samples();
  void take_chunk(SamplingRun& run, const ChunkPlan& plan);
  std::optional<Seconds> step_estimate(const SamplingRun& run) const;
  void cool_down();
  SamplingRun sample_until_cool();

  Case& subject_;
  Timer& timer_;
  ClockMonitor& monitor_;
  const SamplerOptions& options_;
  const ProgressCallback& progress_;
  const StopRequested& stop_requested_;
  std::optional<Seconds> warm_step_;  // time of a step at the end of the warm-up
  Seconds wait_{kFirstWait};          // the next wait for a hot device
};

void Sampler::report(std::string_view activity) {
  if (progress_) {
    progress_(activity);
  }
  if (stop_requested_ && stop_requested_()) {
    throw Interrupted{};
  }
}

Chunk Sampler::run_chunk(std::int64_t count, const std::function<void()>& while_busy) {
  const Step step = [this](PhaseMarker& marker) { subject_.launch(marker); };
  const auto run = [&] { return timer_.time_steps(static_cast<std::size_t>(count), step, while_busy); };
  const auto escapes = [](const Chunk& chunk) { return chunk.escaped > escape_tolerance(device_time(chunk)); };

  Chunk chunk = run();
  if (escapes(chunk)) {
    chunk = run();
  }
  if (escapes(chunk)) {
    throw Incorrect{
        fmt::format("the timed region does not contain the work: the device went on for {:.3g} ms after the last event "
                    "(chunk of {:.3g} ms)",
                    to_milliseconds(chunk.escaped), to_milliseconds(device_time(chunk)))};
  }
  check_samples(chunk);
  return chunk;
}

void Sampler::check_samples(const Chunk& chunk) const {
  for (std::size_t step = 0; step < chunk.steps(); ++step) {
    const double seconds = chunk.step_seconds(step);
    if (!std::isfinite(seconds) || seconds <= 0.0) {
      throw Incorrect{fmt::format("step {} of a chunk of {} took {} s by the timer: a time must be positive and finite",
                                  step, chunk.steps(), seconds)};
    }
  }
}

WarmUp Sampler::warm_up() {
  WarmUp result;
  std::vector<double> times;
  const Seconds begin = timer_.now();
  std::int64_t next = 1;  // the first step alone: its time is kept apart
  std::optional<WarmUpEnd> end = options_.fixed_warm_up == 0 ? std::optional{WarmUpEnd{}} : std::nullopt;
  while (!end) {
    report("warming up");
    const Chunk chunk = run_chunk(next, {});
    for (std::size_t step = 0; step < chunk.steps(); ++step) {
      times.push_back(chunk.step_seconds(step));
    }
    if (!result.first) {
      result.first = Seconds{times.front()};
    }
    end = warm_up_end(times, timer_.now() - begin, options_);
    const std::span last_times = std::span{times}.last(std::min<std::size_t>(times.size(), 10));
    warm_step_ = Seconds{median(last_times)};
    next = next_warm_up_chunk(static_cast<std::int64_t>(times.size()), *warm_step_, options_);
  }
  result.steps = static_cast<std::int64_t>(times.size());
  result.steady = end->steady;
  return result;
}

std::optional<Seconds> Sampler::step_estimate(const SamplingRun& run) const {
  return run.samples.empty() ? warm_step_ : std::optional{Seconds{median(run.samples)}};
}

void Sampler::take_chunk(SamplingRun& run, const ChunkPlan& plan) {
  const Chunk chunk = run_chunk(plan.steps, [&] { run.readings.push_back(monitor_.read()); });
  const ClockReading& reading = run.readings.back();
  run.phase_samples.resize(chunk.phases);
  for (auto step = static_cast<std::size_t>(plan.dropped); step < chunk.steps(); ++step) {
    run.samples.push_back(chunk.step_seconds(step));
    run.sample_clocks.push_back(reading.sm_clock ? std::optional{reading.sm_clock->value} : std::nullopt);
    for (std::size_t phase = 0; phase < chunk.phases; ++phase) {
      run.phase_samples[phase].push_back(chunk.phase_seconds[step * chunk.phases + phase]);
    }
  }
  run.chunk_drains.push_back((chunk.wall - chunk.enqueue).value);
  run.wall = run.wall + chunk.wall;
  run.enqueue = run.enqueue + chunk.enqueue;
  run.cpu = run.cpu + chunk.cpu;
  run.steps += static_cast<std::int64_t>(chunk.steps());
}

SamplingRun Sampler::take_samples() {
  SamplingRun run;
  const std::optional<Joules> energy_before = monitor_.total_energy();
  const Seconds begin = timer_.now();
  std::optional<StopReason> stop;
  while (!stop) {
    report("sampling");
    const SamplingState before{run.samples, run.relative_iqr_history, timer_.now() - begin};
    take_chunk(run, next_sampling_chunk(before, step_estimate(run), options_));
    if (run.samples.size() > 1) {
      run.relative_iqr_history.push_back(relative_iqr(run.samples));
    }
    stop = stop_reason({run.samples, run.relative_iqr_history, timer_.now() - begin}, options_);
  }
  run.stop = *stop;
  const std::optional<Joules> energy_after = monitor_.total_energy();
  if (energy_before && energy_after && *energy_after > *energy_before) {
    run.energy = Joules{energy_after->value - energy_before->value};
  }
  return run;
}

/// Waits at least once, and on while the device says that its times would be invalid; every wait is twice the last one.
void Sampler::cool_down() {
  for (int waits = 0; waits < kWaitsPerTry; ++waits) {
    report("cooling down");
    timer_.wait(wait_);
    wait_ = std::min(wait_ * 2.0, kLongestWait);
    if (!monitor_.read().invalidates) {
      return;
    }
  }
}

/// Samples, and again up to three times after a wait while the device throttles. A fixed count is a protocol that the
/// user asked for: it is run once, and judged as it is.
SamplingRun Sampler::sample_until_cool() {
  const Seconds begin = timer_.now();
  SamplingRun run = take_samples();
  for (int tries = 0; tries < kCoolDownTries && run.is_throttled() && !options_.fixed_samples &&
                      timer_.now() - begin < options_.sample_limit;
       ++tries) {
    cool_down();
    run = take_samples();
  }
  return run;
}

SampleResult Sampler::measure() {
  const std::size_t phases = subject_.phases().size();
  if (phases == 0) {
    throw std::logic_error{"a case must have at least one phase"};
  }
  timer_.prepare(
      static_cast<std::size_t>(std::max({options_.max_chunk, options_.min_chunk, options_.min_samples_long + 1})),
      phases);

  SampleResult result;
  const WarmUp warm = warm_up();
  SamplingRun run = sample_until_cool();
  result.device = device_state_of(run);
  if (run.is_throttled()) {
    result.status = Status::kThrottled;
    result.reason = throttled_reason(run);
  } else if (is_unstable(run.samples, run.stop, options_)) {
    result.status = Status::kUnstable;
    result.reason = fmt::format("{} samples until the {} did not settle the median to within {:.0f} %",
                                run.samples.size(), run.stop == StopReason::kTimeLimit ? "time limit" : "sample limit",
                                options_.unstable_half_width * 100.0);
  }
  result.timing = timing_of(run, subject_.phases(), warm);
  return result;
}

}  // namespace

SampleResult sample(Case& subject, Timer& timer, ClockMonitor& monitor, const SamplerOptions& options,
                    const ProgressCallback& progress, const StopRequested& stop_requested) {
  const Seconds begin = timer.now();
  SampleResult result;
  try {
    result = Sampler{subject, timer, monitor, options, progress, stop_requested}.measure();
  } catch (const Incorrect& incorrect) {
    result.status = Status::kIncorrect;
    result.reason = incorrect.reason;
  }
  result.elapsed = timer.now() - begin;
  return result;
}

}  // namespace tbench::measure
