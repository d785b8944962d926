// The sampler's rules as pure functions: how long a chunk is, when the warm-up is over, when to stop sampling, which
// samples are suspect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"
#include "tbench/measure/sampler.hpp"

namespace tbench::measure {

/// A step longer than this needs no second of warm-up to be measured well: `warm_up_long_steps` of them are enough.
inline constexpr Seconds kLongStep{1.0};
/// How far apart the last few steps of a long case may lie, relative to their median, to be warm.
inline constexpr double kLongStepSpread = 0.005;
/// At warm_up_limit a warm-up has so many steps at least, or so many of those that take over kLongWarmUpStep.
inline constexpr std::int64_t kMinWarmUpSteps = 10;
inline constexpr std::int64_t kMinLongWarmUpSteps = 5;
inline constexpr Seconds kLongWarmUpStep{0.25};
/// However few steps were made: no warm-up goes on for longer.
inline constexpr Seconds kLongestWarmUp{15.0};
/// How many times wider than precise_half_width the median's interval may be at most: so wide after as many
/// sample_time.
inline constexpr double kRelaxedPrecision = 8.0;
/// However much time was spent: wider than this is not precise.
inline constexpr double kWidestHalfWidth = 0.02;
/// Steps of a warm-up chunk at least: so that one first step and three chunks make the ten that is_steady() looks at.
inline constexpr std::int64_t kWarmUpChunk = 3;
/// A sample is flagged under this share of the median clock; more than kFlaggedLimit of them are too many.
inline constexpr double kSlowClock = 0.97;
inline constexpr double kFlaggedLimit = 0.2;

/// A sample of a burst lasts at least so long: it has several launches where one is shorter.
inline constexpr Seconds kMinBurst{50e-6};
/// A launch shorter than this is `resolution_limited`: what events and a kernel's start add is not small beside it.
inline constexpr Seconds kResolution{10e-6};

/// Chained launches that are sure to show work that escapes take together so long, or are max_chunk.
inline constexpr Seconds kChainedTime{0.02};

/// Launches of a burst: 1 where one lasts kMinBurst, else as many as last a tenth more, at most 1,000.
[[nodiscard]] std::int64_t launches_per_sample(Seconds launch);

/// How many launches the next chained chunk at the begin of a burst's warm-up has: one, then a few, then as many as
/// pile up kChainedTime of work if any of it escapes; 0 when that has been done.
/// @param made    launches so far
/// @param launch  the time of one of the latest; not looked at before there is one
[[nodiscard]] std::int64_t next_chained_launches(std::int64_t made, Seconds launch, const SamplerOptions& options);

/// Steps of `step` seconds that fill `chunk_time`, within min_chunk and max_chunk.
[[nodiscard]] std::int64_t regular_chunk(Seconds step, const SamplerOptions& options);

/// Samples that a median needs at least: min_samples_long where min_samples would take more than `long_case`.
[[nodiscard]] std::int64_t samples_wanted(Seconds step, const SamplerOptions& options);

/// How many steps the next chunk of warm-up has: all that are left of a fixed count up to a regular chunk, single long
/// steps, else as many as fill chunk_time, at least kWarmUpChunk.
/// @param made  steps made so far, > 0
[[nodiscard]] std::int64_t next_warm_up_chunk(std::int64_t made, Seconds step, const SamplerOptions& options);

struct WarmUpEnd {
  bool steady{};
};

/// Whether the warm-up is over, and whether it ended steady. `times` are all steps so far in order. It is over
/// - after a fixed number of steps, if one is given: steady if the times are steady or level;
/// - steady, once warm_up_time has passed and the times are steady, or level: noise is not what warming up removes;
/// - steady, after warm_up_long_steps where a step takes over kLongStep, or where min_samples of them would take more
/// than
///   `long_case` and the last warm_up_long_steps lie within kLongStepSpread;
/// - not steady, at warm_up_limit, once kMinWarmUpSteps were made, or kMinLongWarmUpSteps of over
///   kLongWarmUpStep; at kLongestWarmUp in any case.
[[nodiscard]] std::optional<WarmUpEnd> warm_up_end(std::span<const double> times, Seconds elapsed,
                                                   const SamplerOptions& options);

/// The sampler's knowledge at a check, at the end of a chunk.
struct SamplingState {
  std::span<const double> samples;               // kept ones, in order
  std::span<const double> relative_iqr_history;  // one value a check
  Seconds elapsed;                               // host time since sampling began
  std::span<const double> chunk_drains{};        // of chained steps, seconds, one a chunk: see Timing::drain
};

/// The next chunk: `steps` are run, of which the first `dropped` give no sample.
struct ChunkPlan {
  std::int64_t steps{};
  std::int64_t dropped{};
};

/// @param step  the time of a step as far as known; nothing before the first one
[[nodiscard]] ChunkPlan next_sampling_chunk(const SamplingState& state, std::optional<Seconds> step,
                                            const SamplerOptions& options);

/// Why to stop now, or nothing: the fixed count is reached; or, with enough samples and sample_time passed, the median
/// is precise (its half-width within precise_half_width, relaxing in proportion to the time spent, at most
/// kRelaxedPrecision times, and never beyond kWidestHalfWidth), the spread has settled, or patience is at its end
/// (host_patience where the median chunk's drain is under kHostBoundDrain of a step: such samples wander with the host,
/// and more of them make no median more certain); or a limit is reached.
[[nodiscard]] std::optional<StopReason> stop_reason(const SamplingState& state, const SamplerOptions& options);

/// Whether the median is too uncertain to be `ok`: sampling ran into a limit and the half-width of the median's
/// interval is above unstable_half_width. Under 8 samples there is no interval, and half their whole range stands for
/// it.
[[nodiscard]] bool is_unstable(std::span<const double> samples, StopReason reason, const SamplerOptions& options);

/// Indexes of the samples whose clock is under kSlowClock of the median of all known clocks.
/// @param clocks  one per sample, in Hz; nothing where the clock is not known
[[nodiscard]] std::vector<std::size_t> slow_samples(std::span<const std::optional<double>> clocks);

/// Device time of a chunk that may pass after its last event without counting as escaped: 5 % of the chunk, or 1 ms.
[[nodiscard]] Seconds escape_tolerance(Seconds chunk);

}  // namespace tbench::measure
