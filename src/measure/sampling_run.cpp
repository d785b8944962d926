#include "sampling_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tbench/core/statistics.hpp"
#include "tbench/measure/stopping.hpp"

namespace tbench::measure {

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
  timing.median = {median(run.samples)};
  timing.p10 = {quantile(run.samples, 0.1)};
  timing.p90 = {quantile(run.samples, 0.9)};
  timing.min = {*std::min_element(run.samples.begin(), run.samples.end())};
  timing.mean = {mean(run.samples)};
  if (const std::optional<double> deviation = standard_deviation(run.samples)) {
    timing.standard_deviation = Seconds{*deviation};
    timing.relative_iqr = relative_iqr(run.samples);
  }
  timing.relative_half_width = median_relative_half_width(run.samples);
  timing.stop_reason = run.stop;
  timing.warm_up = warm_up;
  for (std::size_t phase = 0; phases.size() > 1 && phase < phases.size(); ++phase) {
    timing.phases.push_back({.name = std::string{phases[phase]}, .median = {median(run.phase_samples[phase])}});
  }
  timing.enqueue = run.enqueue / steps;
  timing.cpu = run.cpu / steps;
  if (run.regime == Regime::kBurst) {
    timing.regime = run.regime;
    timing.l2 = run.l2;
    timing.launches_per_sample = run.launches;
    timing.resolution_limited = timing.median < kResolution;
    timing.host_bound = run.is_exposed;
  } else {
    timing.wall = run.wall / steps;
    timing.drain = (run.wall - run.enqueue) / steps;
    timing.host_bound = median(run.chunk_drains) < kHostBoundDrain * timing.median.value;
  }
  timing.flagged_samples = run.flagged();
  timing.samples_s = std::move(run.samples);
  return timing;
}

DeviceState device_state_of(const SamplingRun& run) {
  std::vector<double> clocks;
  std::vector<double> powers;
  std::set<std::string> reasons;
  DeviceState state;
  for (const ClockReading& reading : run.readings) {
    if (reading.sm_clock) {
      clocks.push_back(reading.sm_clock->value);
    }
    if (reading.power) {
      powers.push_back(reading.power->value);
    }
    if (reading.temperature_c) {
      state.temperature_c = std::max(state.temperature_c.value_or(*reading.temperature_c), *reading.temperature_c);
    }
    reasons.insert(reading.throttle_reasons.begin(), reading.throttle_reasons.end());
  }
  if (!clocks.empty()) {
    state.sm_clock_p5 = Hertz{quantile(clocks, 0.05)};
    state.sm_clock_p50 = Hertz{median(clocks)};
    state.sm_clock_p95 = Hertz{quantile(clocks, 0.95)};
  }
  if (!powers.empty()) {
    state.power = Watts{mean(powers)};
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
