// Runs the chunks and keeps their results. All decisions are functions of stopping.hpp.
#include "tbench/measure/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "measure/sampler/sampling_run.hpp"
#include "measure/sampler/stopping.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::measure {

namespace {

constexpr int kCoolDownTries = 3;
constexpr Seconds kFirstWait{0.05};
constexpr Seconds kLongestWait{2.0};
constexpr int kWaitsPerTry = 6;
/// The shortest sampling time for which energy is reported; the steps of the energy counter are too coarse below it.
constexpr Seconds kMinEnergyTime{2.0};

std::vector<double> step_times(const Chunk& chunk) {
  std::vector<double> times;
  for (std::size_t step = 0; step < chunk.steps(); ++step) {
    times.push_back(chunk.step_seconds(step));
  }
  return times;
}

/// Returns the state for stopping.hpp. Bursts have no drains, because flushes and spins would be part of them.
SamplingState state_of(const SamplingRun& run, Seconds elapsed) {
  const bool has_drains = run.regime == Regime::kSustained;
  return {.samples = run.samples,
          .relative_iqr_history = run.relative_iqr_history,
          .elapsed = elapsed,
          .chunk_drains = has_drains ? std::span<const double>{run.chunk_drains} : std::span<const double>{}};
}

/// Polls the clock until the end of the scope.
class PollingScope {
 public:
  PollingScope(ClockMonitor& monitor, bool is_wanted) : monitor_{monitor}, is_open_{is_wanted} {
    if (is_open_) monitor_.start_polling();
  }
  PollingScope(const PollingScope&) = delete;
  PollingScope& operator=(const PollingScope&) = delete;
  ~PollingScope() { static_cast<void>(stop()); }

  std::vector<PolledClock> stop() {
    return std::exchange(is_open_, false) ? monitor_.stop_polling() : std::vector<PolledClock>{};
  }

 private:
  ClockMonitor& monitor_;
  bool is_open_;
};

class Sampler {
 public:
  Sampler(Case& subject, Timer& timer, ClockMonitor& monitor, const SamplerOptions& options,
          const ProgressCallback& progress, const StopRequested& stop_requested)
      : subject_{subject},
        timer_{timer},
        monitor_{monitor},
        options_{options},
        progress_{progress},
        stop_requested_{stop_requested},
        runner_{subject, timer} {
    if (is_burst() && timer.can_flush_l2()) {
      l2_ = options.l2;
    }
  }

  void prepare();
  SampleResult measure();

 private:
  void report(std::string_view activity);
  WarmUp warm_up();
  [[nodiscard]] bool is_burst() const { return options_.regime == Regime::kBurst; }
  [[nodiscard]] std::int64_t warm_up_left(const WarmUp& made) const;
  Seconds chain_first_launches(WarmUp& result);
  WarmUp warm_up_bursts();
  SampleResult result_after(const WarmUp& warm);
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
  ChunkRunner runner_;
  std::optional<L2State> l2_;         // L2 state of bursts, if the timer controls it
  std::int64_t launches_{1};          // launches per sample
  std::optional<Seconds> warm_step_;  // time of a sample at the end of the warm-up
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

WarmUp Sampler::warm_up() {
  WarmUp result;
  std::vector<double> times;
  const Seconds begin = timer_.now();
  std::int64_t next = 1;  // the first step is timed by itself
  std::optional<WarmUpEnd> end = options_.fixed_warm_up == 0 ? std::optional{WarmUpEnd{}} : std::nullopt;
  while (!end) {
    report("warming up");
    std::ranges::copy(step_times(runner_.steps(next, {})), std::back_inserter(times));
    if (!result.first) {
      result.first = Seconds{times.front()};
    }
    end = warm_up_end(times, timer_.now() - begin, options_);
    const std::span last_times = std::span{times}.last(std::min<std::size_t>(times.size(), 10));
    warm_step_ = Seconds{stats::median(last_times)};
    next = next_warm_up_chunk(static_cast<std::int64_t>(times.size()), *warm_step_, options_);
  }
  result.steps = static_cast<std::int64_t>(times.size());
  result.steady = end->steady;
  return result;
}

/// Returns the number of launches that a fixed warm-up still needs.
std::int64_t Sampler::warm_up_left(const WarmUp& made) const {
  return options_.fixed_warm_up.value_or(std::numeric_limits<std::int64_t>::max()) - made.steps;
}

/// Chains the first launches like the steps of a model, so that work that escapes to another stream accumulates and is
/// seen; in a burst it would end unseen during the spin.
/// @return  time of a launch
Seconds Sampler::chain_first_launches(WarmUp& result) {
  Seconds launch;
  while (const std::int64_t next =
             std::min(next_chained_launches(result.steps, launch, options_), warm_up_left(result))) {
    report("warming up");
    const std::vector<double> times = step_times(runner_.steps(next, {}));
    if (!result.first) {
      result.first = Seconds{times.front()};
    }
    launch = Seconds{stats::median(times)};
    result.steps += next;
  }
  return launch;
}

WarmUp Sampler::warm_up_bursts() {
  WarmUp result;
  SamplerOptions open_end = options_;  // a fixed number counts launches, and warm_up_left() checks it
  open_end.fixed_warm_up.reset();
  const Seconds begin = timer_.now();
  Seconds launch = chain_first_launches(result);
  std::vector<double> times;  // seconds per launch in bursts
  std::optional<WarmUpEnd> end;
  while (!end && warm_up_left(result) > 0) {
    report("warming up");
    launches_ = std::min(launches_per_sample(launch), warm_up_left(result));
    const std::int64_t regular = next_warm_up_chunk(result.steps, launch * static_cast<double>(launches_), open_end);
    const Chunk chunk = runner_.bursts(std::min(regular, warm_up_left(result) / launches_), launches_, {});
    std::ranges::copy(step_times(chunk), std::back_inserter(times));
    result.steps += static_cast<std::int64_t>(chunk.steps() * chunk.launches);
    launch = Seconds{stats::median(std::span{times}.last(std::min<std::size_t>(times.size(), 10)))};
    if (!options_.fixed_warm_up) {
      end = warm_up_end(times, timer_.now() - begin, open_end);
    }
  }
  if (result.steps > 0) {
    launches_ = launches_per_sample(launch);
    warm_step_ = launch * static_cast<double>(launches_);
  }
  result.steady = end ? end->steady : stats::is_steady(times) || stats::is_level(times);
  return result;
}

std::optional<Seconds> Sampler::step_estimate(const SamplingRun& run) const {
  if (run.samples.empty()) {
    return warm_step_;
  }
  return Seconds{stats::median(run.samples)} * static_cast<double>(launches_);
}

void Sampler::take_chunk(SamplingRun& run, const ChunkPlan& plan) {
  const auto read_clocks = [&] { run.readings.push_back(monitor_.read()); };
  const Chunk chunk =
      is_burst() ? runner_.bursts(plan.steps, launches_, read_clocks) : runner_.steps(plan.steps, read_clocks);
  const Seconds end = timer_.now();
  const ClockReading& reading = run.readings.back();
  run.phase_samples.resize(chunk.phases);
  for (auto step = static_cast<std::size_t>(plan.dropped); step < chunk.steps(); ++step) {
    run.samples.push_back(chunk.step_seconds(step));
    run.sample_clocks.push_back(reading.sm_clock ? std::optional{reading.sm_clock->value} : std::nullopt);
    for (std::size_t phase = 0; phase < chunk.phases; ++phase) {
      run.phase_samples[phase].push_back(chunk.phase_seconds[step * chunk.phases + phase]);
    }
  }
  if (!is_burst()) {
    const std::vector<double> kept = step_times(chunk);
    std::ranges::copy(step_ends(std::span{kept}.subspan(static_cast<std::size_t>(plan.dropped)), end),
                      std::back_inserter(run.sample_ends));
  }
  run.chunk_drains.push_back((chunk.wall - chunk.enqueue).value);
  run.wall = run.wall + chunk.wall;
  run.enqueue = run.enqueue + chunk.enqueue;
  run.cpu = run.cpu + chunk.cpu;
  run.cycles += chunk.cycles;
  run.counted = run.counted + chunk.counted;
  run.steps += static_cast<std::int64_t>(chunk.steps() * chunk.launches);
  run.is_exposed = run.is_exposed || chunk.exposed;
}

SamplingRun Sampler::take_samples() {
  SamplingRun run;
  run.regime = options_.regime;
  run.l2 = l2_;
  run.launches = launches_;
  if (LaunchChecker* const checker = subject_.launch_checker()) {
    checker->begin();
  }
  PollingScope polling{monitor_, /*is_wanted=*/!is_burst()};
  const std::optional<Joules> energy_before = monitor_.total_energy();
  const Seconds begin = timer_.now();
  std::optional<StopReason> stop;
  while (!stop) {
    report("sampling");
    const SamplingState before = state_of(run, timer_.now() - begin);
    take_chunk(run, next_sampling_chunk(before, step_estimate(run), options_));
    if (run.samples.size() > 1) {
      run.relative_iqr_history.push_back(stats::relative_iqr(run.samples));
    }
    stop = stop_reason(state_of(run, timer_.now() - begin), options_);
  }
  run.stop = *stop;
  run.polls = polls_within(run, polling.stop());
  const std::optional<Joules> energy_after = monitor_.total_energy();
  // The energy of bursts is unknown, because flushes, spins and gaps use energy, too.
  const bool is_resolved = !is_burst() && timer_.now() - begin >= kMinEnergyTime;
  if (is_resolved && energy_before && energy_after && *energy_after > *energy_before) {
    run.energy = Joules{energy_after->value - energy_before->value};
  }
  return run;
}

/// Waits at least once, and again while the device reports that its times would be invalid. Each wait is twice as long
/// as the previous one.
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

/// Takes samples, and repeats this up to three times, after a wait, while the device throttles. With a fixed number of
/// samples, a protocol of the user's choice, it takes them once and evaluates them as they are.
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

/// Prepares the timer. It may wait for other processes, which does not count as sampling.
void Sampler::prepare() {
  const std::size_t phases = subject_.phases().size();
  if (phases == 0) {
    throw std::logic_error{"a case must have at least one phase"};
  }
  timer_.prepare(
      static_cast<std::size_t>(std::max({options_.max_chunk, options_.min_chunk, options_.min_samples_long + 1})),
      phases);
}

SampleResult Sampler::measure() {
  if (!is_burst()) {
    return result_after(warm_up());
  }
  const BurstScope bursts{
      timer_,
      {.phases = subject_.phases().size(), .flush_l2 = l2_ == L2State::kCold, .checker = subject_.launch_checker()}};
  return result_after(warm_up_bursts());
}

SampleResult Sampler::result_after(const WarmUp& warm) {
  SampleResult result;
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

SamplerOptions burst_options() {
  SamplerOptions options;
  options.regime = Regime::kBurst;
  options.warm_up_time = {0.1};
  options.warm_up_limit = {2.0};
  options.sample_time = {0.1};
  options.sample_limit = {15.0};
  options.min_samples = 30;
  options.long_case = {0.5};
  options.max_samples = 2000;
  options.precise_half_width = 0.005;
  options.chunk_time = {0.02};
  options.min_chunk = 5;
  options.dropped_per_chunk = 0;
  return options;
}

SampleResult sample(Case& subject, Timer& timer, ClockMonitor& monitor, const SamplerOptions& options,
                    const ProgressCallback& progress, const StopRequested& stop_requested) {
  Sampler sampler{subject, timer, monitor, options, progress, stop_requested};
  sampler.prepare();
  const Seconds begin = timer.now();
  SampleResult result;
  try {
    result = sampler.measure();
  } catch (const Incorrect& incorrect) {
    result.status = Status::kIncorrect;
    result.reason = incorrect.reason;
  }
  result.elapsed = timer.now() - begin;
  return result;
}

}  // namespace tbench::measure
