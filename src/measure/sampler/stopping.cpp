#include "measure/sampler/stopping.hpp"

#include <algorithm>
#include <cmath>

#include "tbench/stats/descriptive.hpp"

namespace tbench::measure {

namespace {

constexpr double kEscapeShare = 0.05;
constexpr Seconds kEscapeFloor{1e-3};
/// The margin that keeps bursts above kMinBurst although the time of a launch varies.
constexpr double kBurstMargin = 1.1;
constexpr std::int64_t kMaxLaunches = 1000;

std::int64_t count_of(std::span<const double> samples) { return static_cast<std::int64_t>(samples.size()); }

/// Returns how many times `step` fits into `time`, at most `limit`, which is also the result for a step of no time.
std::int64_t times_into(Seconds step, Seconds time, std::int64_t limit) {
  const double fits = time / step;
  return fits < static_cast<double>(limit) ? static_cast<std::int64_t>(fits) : limit;
}

bool is_long_case(Seconds step, const SamplerOptions& options) {
  return step * static_cast<double>(options.min_samples) > options.long_case;
}

/// Whether the last few steps are so long that no further check is needed, or are long and have similar times.
bool are_enough_long_steps(std::span<const double> times, const SamplerOptions& options) {
  const Seconds step{stats::median(times)};
  if (step > kLongStep) {
    return true;
  }
  const auto last = times.last(static_cast<std::size_t>(options.warm_up_long_steps));
  const auto [low, high] = std::minmax_element(last.begin(), last.end());
  return is_long_case(step, options) && *high - *low <= kLongStepSpread * step.value;
}

/// Returns the smallest number of steps of a warm-up that ends at its limit.
std::int64_t min_warm_up_steps(std::span<const double> times) {
  return Seconds{stats::median(times)} > kLongWarmUpStep ? kMinLongWarmUpSteps : kMinWarmUpSteps;
}

/// Whether the device has caught up with the host by the end of most chunks.
bool is_paced_by_host(const SamplingState& state) {
  return !state.chunk_drains.empty() &&
         stats::median(state.chunk_drains) < kHostBoundDrain * stats::median(state.samples);
}

/// Returns the half-width at which sampling stops. It relaxes with the time spent, because samples on a drifting host
/// are not independent, and more of them do not make the median more certain.
double wanted_half_width(Seconds elapsed, const SamplerOptions& options) {
  const double relaxed = options.precise_half_width * std::clamp(elapsed / options.sample_time, 1.0, kRelaxedPrecision);
  return std::min(relaxed, std::max(kWidestHalfWidth, options.precise_half_width));
}

}  // namespace

std::int64_t launches_per_sample(Seconds launch) {
  if (launch >= kMinBurst) {
    return 1;
  }
  return std::min(kMaxLaunches, 1 + times_into(launch, kMinBurst * kBurstMargin, kMaxLaunches));
}

std::int64_t next_chained_launches(std::int64_t made, Seconds launch, const SamplerOptions& options) {
  if (made <= 1) {
    return made == 0 ? 1 : kWarmUpChunk;
  }
  const std::int64_t filling = times_into(launch, kChainedTime, options.max_chunk);
  return made == 1 + kWarmUpChunk && filling > kWarmUpChunk ? filling : 0;
}

std::int64_t regular_chunk(Seconds step, const SamplerOptions& options) {
  return std::max(options.min_chunk, times_into(step, options.chunk_time, options.max_chunk));
}

std::int64_t samples_wanted(Seconds step, const SamplerOptions& options) {
  return is_long_case(step, options) ? std::min(options.min_samples, options.min_samples_long) : options.min_samples;
}

std::int64_t next_warm_up_chunk(std::int64_t made, Seconds step, const SamplerOptions& options) {
  const std::int64_t filling = std::max(kWarmUpChunk, times_into(step, options.chunk_time, options.max_chunk));
  const std::int64_t steps = is_long_case(step, options) ? 1 : filling;
  return options.fixed_warm_up ? std::min(steps, *options.fixed_warm_up - made) : steps;
}

std::optional<WarmUpEnd> warm_up_end(std::span<const double> times, Seconds elapsed, const SamplerOptions& options) {
  const std::int64_t made = count_of(times);
  if (options.fixed_warm_up) {
    return made >= *options.fixed_warm_up ? std::optional{WarmUpEnd{stats::is_steady(times) || stats::is_level(times)}}
                                          : std::nullopt;
  }
  if (elapsed >= options.warm_up_time && (stats::is_steady(times) || stats::is_level(times))) {
    return WarmUpEnd{.steady = true};
  }
  if (made >= options.warm_up_long_steps && are_enough_long_steps(times, options)) {
    return WarmUpEnd{.steady = true};
  }
  const bool is_at_limit = elapsed >= options.warm_up_limit && made >= min_warm_up_steps(times);
  return is_at_limit || elapsed >= kLongestWarmUp ? std::optional{WarmUpEnd{.steady = false}} : std::nullopt;
}

ChunkPlan next_sampling_chunk(const SamplingState& state, std::optional<Seconds> step, const SamplerOptions& options) {
  const std::int64_t have = count_of(state.samples);
  const std::int64_t regular = step ? regular_chunk(*step, options) : options.min_chunk;
  if (options.fixed_samples) {
    return {.steps = std::min(regular, *options.fixed_samples - have), .dropped = 0};
  }
  const std::int64_t dropped =
      options.dropped_per_chunk + (step ? times_into(*step, options.dropped_time, options.max_chunk) : 0);
  std::int64_t steps = regular;
  if (step && is_long_case(*step, options)) {
    const std::int64_t missing = samples_wanted(*step, options) - have;
    // Not longer than the time left, give or take a step, because a chunk cannot be stopped.
    const std::int64_t affordable = 2 + times_into(*step, options.sample_limit - state.elapsed, options.max_chunk);
    steps = missing > 0 ? std::min(missing + dropped, affordable) : std::min(options.min_samples_long / 2, affordable);
  }
  return {.steps = std::max(1 + dropped, std::min(steps, options.max_samples - have + dropped)), .dropped = dropped};
}

std::optional<StopReason> stop_reason(const SamplingState& state, const SamplerOptions& options) {
  const std::int64_t have = count_of(state.samples);
  if (options.fixed_samples) {
    return have >= *options.fixed_samples ? std::optional{StopReason::kFixedCount} : std::nullopt;
  }
  if (have == 0) {
    return std::nullopt;
  }
  if (have >= samples_wanted({stats::median(state.samples)}, options) && state.elapsed >= options.sample_time) {
    const std::optional<double> half_width = stats::median_relative_half_width(state.samples);
    if (half_width && *half_width <= wanted_half_width(state.elapsed, options)) {
      return StopReason::kPrecise;
    }
    if (stats::spread_has_settled(state.relative_iqr_history)) {
      return StopReason::kSpreadSettled;
    }
    if (state.elapsed >= (is_paced_by_host(state) ? options.host_patience : options.patience)) {
      return StopReason::kTimeLimit;
    }
  }
  if (have >= options.max_samples) {
    return StopReason::kSampleLimit;
  }
  return state.elapsed >= options.sample_limit ? std::optional{StopReason::kTimeLimit} : std::nullopt;
}

bool is_unstable(std::span<const double> samples, StopReason reason, const SamplerOptions& options) {
  if (reason != StopReason::kTimeLimit && reason != StopReason::kSampleLimit) {
    return false;
  }
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  const double half_range = (*high - *low) / 2.0 / stats::median(samples);
  return stats::median_relative_half_width(samples).value_or(half_range) > options.unstable_half_width;
}

std::vector<std::size_t> slow_samples(std::span<const std::optional<double>> clocks) {
  std::vector<double> known;
  for (const std::optional<double>& clock : clocks) {
    if (clock) {
      known.push_back(*clock);
    }
  }
  std::vector<std::size_t> slow;
  if (known.empty()) {
    return slow;
  }
  const double limit = kSlowClock * stats::median(known);
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    if (clocks[i] && *clocks[i] < limit) {
      slow.push_back(i);
    }
  }
  return slow;
}

Seconds escape_tolerance(Seconds chunk) { return std::max(kEscapeFloor, chunk * kEscapeShare); }

}  // namespace tbench::measure
