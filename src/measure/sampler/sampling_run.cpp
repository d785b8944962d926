#include "measure/sampler/sampling_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "measure/sampler/stopping.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::measure {
namespace {

/// Returns the device time of the work between two waits: a chunk of steps, or one burst, whose rows are means over its
/// launches.
Seconds device_time(const Chunk& chunk, bool of_one_burst) {
  const Seconds sum{std::accumulate(chunk.phase_seconds.begin(), chunk.phase_seconds.end(), 0.0)};
  return of_one_burst ? sum * static_cast<double>(chunk.launches) / static_cast<double>(chunk.steps()) : sum;
}

void check_times(const Chunk& chunk) {
  for (std::size_t step = 0; step < chunk.steps(); ++step) {
    const double seconds = chunk.step_seconds(step);
    if (!std::isfinite(seconds) || seconds <= 0.0) {
      throw Incorrect{fmt::format("step {} of a chunk of {} took {} s by the timer: a time must be positive and finite",
                                  step, chunk.steps(), seconds)};
    }
  }
}

}  // namespace

Chunk ChunkRunner::steps(std::int64_t count, const std::function<void()>& while_busy) {
  return checked(
      false, [&](const Step& step) { return timer_.time_steps(static_cast<std::size_t>(count), step, while_busy); });
}

Chunk ChunkRunner::bursts(std::int64_t count, std::int64_t launches, const std::function<void()>& while_busy) {
  return checked(true, [&](const Step& step) {
    return timer_.time_bursts(static_cast<std::size_t>(count), static_cast<std::size_t>(launches), step, while_busy);
  });
}

Chunk ChunkRunner::checked(bool is_burst, const std::function<Chunk(const Step&)>& run) {
  const Step step = [this](PhaseMarker& marker) { subject_.launch(marker); };
  const auto escapes = [&](const Chunk& chunk) {
    return chunk.escaped > escape_tolerance(device_time(chunk, is_burst));
  };
  Chunk chunk = run(step);
  if (escapes(chunk)) {
    chunk = run(step);
  }
  if (escapes(chunk)) {
    throw Incorrect{fmt::format(
        "the timed region does not contain the work: the device went on for {:.3g} ms after the last event "
        "({} of {:.3g} ms)",
        to_milliseconds(chunk.escaped), is_burst ? "burst" : "chunk", to_milliseconds(device_time(chunk, is_burst)))};
  }
  check_times(chunk);
  return chunk;
}

std::vector<std::size_t> SamplingRun::flagged() const { return slow_samples(sample_clocks); }

bool SamplingRun::has_too_many_flagged() const {
  return static_cast<double>(flagged().size()) > kFlaggedLimit * static_cast<double>(samples.size());
}

bool SamplingRun::was_invalidated() const {
  return std::any_of(readings.begin(), readings.end(), [](const ClockReading& reading) { return reading.invalidates; });
}

Timing timing_of(SamplingRun& run, std::span<const std::string_view> phases, const WarmUp& warm_up) {
  const auto steps = static_cast<double>(run.steps);
  Timing timing;
  const stats::Summary summary = stats::summary_of(run.samples);
  timing.median = {summary.median};
  timing.p10 = {summary.p10};
  timing.p90 = {summary.p90};
  timing.min = {summary.min};
  timing.mean = {summary.mean};
  if (summary.standard_deviation) timing.standard_deviation = Seconds{*summary.standard_deviation};
  timing.relative_iqr = summary.relative_iqr;
  timing.relative_half_width = summary.relative_half_width;
  timing.stop_reason = run.stop;
  timing.warm_up = warm_up;
  for (std::size_t phase = 0; phases.size() > 1 && phase < phases.size(); ++phase) {
    const std::vector<double>& samples = run.phase_samples[phase];
    const std::optional<double> deviation = stats::standard_deviation(samples);
    timing.phases.push_back({.name = std::string{phases[phase]},
                             .median = {stats::median(samples)},
                             .mean = Seconds{stats::mean(samples)},
                             .standard_deviation = deviation ? std::optional{Seconds{*deviation}} : std::nullopt});
  }
  timing.enqueue = run.enqueue / steps;
  timing.cpu = run.cpu / steps;
  if (run.regime == Regime::kBurst) {
    timing.regime = run.regime;
    timing.l2 = run.l2;
    timing.launches_per_sample = run.launches;
    timing.resolution_limited = timing.median < kResolution;
    timing.host_bound = run.is_exposed;
    const double busy = timing.mean.value * static_cast<double>(run.samples.size()) * static_cast<double>(run.launches);
    timing.duty = run.wall.value > 0 ? std::optional{std::min(busy / run.wall.value, 1.0)} : std::nullopt;
  } else {
    timing.wall = run.wall / steps;
    timing.drain = (run.wall - run.enqueue) / steps;
    timing.host_bound = stats::median(run.chunk_drains) < kHostBoundDrain * timing.median.value;
  }
  timing.flagged_samples = run.flagged();
  timing.samples_s = std::move(run.samples);
  return timing;
}

std::vector<Seconds> step_ends(std::span<const double> times, Seconds end) {
  std::vector<Seconds> ends(times.size());
  for (std::size_t i = times.size(); i-- > 0;) {
    ends[i] = end;
    end = end - Seconds{times[i]};
  }
  return ends;
}

std::vector<PolledClock> polls_within(const SamplingRun& run, std::span<const PolledClock> polls) {
  std::vector<PolledClock> within;
  auto next = polls.begin();
  for (std::size_t i = 0; i < run.sample_ends.size(); ++i) {
    const Seconds end = run.sample_ends[i];
    const Seconds begin = end - Seconds{run.samples[i]};
    next = std::find_if(next, polls.end(), [&](const PolledClock& poll) { return poll.at >= begin; });
    for (; next != polls.end() && next->at < end; ++next) {
      within.push_back(*next);
    }
  }
  return within;
}

DeviceState device_state_of(const SamplingRun& run) {
  std::vector<double> clocks;
  std::vector<double> powers;
  std::set<std::string> reasons;
  DeviceState state;
  for (const PolledClock& poll : run.polls) {
    clocks.push_back(poll.sm_clock.value);
    if (poll.power) {
      powers.push_back(poll.power->value);
    }
  }
  const bool is_polled = !run.polls.empty();
  for (const ClockReading& reading : run.readings) {
    if (reading.sm_clock && !is_polled) {
      clocks.push_back(reading.sm_clock->value);
    }
    if (reading.power && !is_polled) {
      powers.push_back(reading.power->value);
    }
    if (reading.temperature_c) {
      state.temperature_c = std::max(state.temperature_c.value_or(*reading.temperature_c), *reading.temperature_c);
    }
    reasons.insert(reading.throttle_reasons.begin(), reading.throttle_reasons.end());
  }
  if (!clocks.empty()) {
    state.clock_source = is_polled ? ClockSource::kPolled : ClockSource::kChunk;
    state.sm_clock_p5 = Hertz{stats::quantile(clocks, 0.05)};
    state.sm_clock_p50 = Hertz{stats::median(clocks)};
    state.sm_clock_p95 = Hertz{stats::quantile(clocks, 0.95)};
    if (is_polled) state.sm_clock_mean = Hertz{stats::mean(clocks)};
  }
  if (run.counted.value > 0) {
    state.sm_clock_counted = Hertz{run.cycles / run.counted.value};
  }
  if (!powers.empty()) {
    state.power = Watts{stats::mean(powers)};
  }
  if (run.energy) {
    state.energy_per_step = Joules{run.energy->value / static_cast<double>(run.steps)};
  }
  state.throttle_reasons.assign(reasons.begin(), reasons.end());
  return state;
}

std::string throttled_reason(const SamplingRun& run) {
  if (run.was_invalidated()) {
    return "the GPU slowed itself down for heat or power supply while sampling";
  }
  return fmt::format("{} of {} samples ran under {} of the median SM clock", run.flagged().size(), run.samples.size(),
                     kSlowClock);
}

}  // namespace tbench::measure
