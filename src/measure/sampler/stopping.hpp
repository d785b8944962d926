// The sampler's rules as pure functions: how long a chunk is, when the warm-up is over, when to stop sampling, and
// which samples have a low clock.
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

/// A case with longer steps needs no second of warm-up: `warm_up_long_steps` steps are enough.
inline constexpr Seconds kLongStep{1.0};
/// The largest spread of the last few steps of a long case, relative to their median, at which the case is warm.
inline constexpr double kLongStepSpread = 0.005;
/// The smallest number of steps of a warm-up that ends at warm_up_limit; kMinLongWarmUpSteps if they take over
/// kLongWarmUpStep.
inline constexpr std::int64_t kMinWarmUpSteps = 10;
inline constexpr std::int64_t kMinLongWarmUpSteps = 5;
inline constexpr Seconds kLongWarmUpStep{0.25};
/// The longest warm-up, however few steps were made.
inline constexpr Seconds kLongestWarmUp{15.0};
/// The largest factor by which the accepted half-width of the median's interval grows beyond precise_half_width;
/// reached after this multiple of sample_time.
inline constexpr double kRelaxedPrecision = 8.0;
/// The largest relative half-width that counts as precise, however much time was spent.
inline constexpr double kWidestHalfWidth = 0.02;
/// The smallest number of steps of a warm-up chunk: one first step and three chunks make the ten steps that is_steady()
/// examines.
inline constexpr std::int64_t kWarmUpChunk = 3;
/// A sample is flagged if its clock is below this share of the median clock; kFlaggedLimit is the largest acceptable
/// share of flagged samples.
inline constexpr double kSlowClock = 0.97;
inline constexpr double kFlaggedLimit = 0.2;

/// The shortest sample of a burst: if a launch is shorter, the sample has several launches.
inline constexpr Seconds kMinBurst{50e-6};
/// A shorter launch is `resolution_limited`: events and the start of a kernel add a significant share to its time.
inline constexpr Seconds kResolution{10e-6};

/// The total time of chained launches, at most max_chunk of them, that is sure to show work that escapes.
inline constexpr Seconds kChainedTime{0.02};

/// Returns the launches of a burst: 1 if one takes kMinBurst, otherwise as many as exceed it by a tenth, at most 1,000.
[[nodiscard]] std::int64_t launches_per_sample(Seconds launch);

/// Returns the number of launches of the next chained chunk at the beginning of a burst's warm-up: one, then a few,
/// then as many as accumulate kChainedTime of work if it escapes; 0 once that is done.
/// @param made    launches so far
/// @param launch  time of a recent launch; ignored if there is none
[[nodiscard]] std::int64_t next_chained_launches(std::int64_t made, Seconds launch, const SamplerOptions& options);

/// Returns the number of steps of length `step` that fill `chunk_time`, within min_chunk and max_chunk.
[[nodiscard]] std::int64_t regular_chunk(Seconds step, const SamplerOptions& options);

/// Returns the smallest number of samples for a median: min_samples_long if min_samples would take over `long_case`.
[[nodiscard]] std::int64_t samples_wanted(Seconds step, const SamplerOptions& options);

/// Returns the number of steps of the next warm-up chunk. For a fixed count: the remaining steps, up to a regular
/// chunk. Otherwise single steps if they are long, or as many as fill chunk_time, at least kWarmUpChunk.
/// @param made  steps so far, > 0
[[nodiscard]] std::int64_t next_warm_up_chunk(std::int64_t made, Seconds step, const SamplerOptions& options);

struct WarmUpEnd {
  bool steady{};
};

/// Returns nullopt while the warm-up continues, and whether it ended steady once it is over. `times` are the times of
/// all steps so far. The warm-up is over
/// - after a fixed number of steps, if one is given: steady if the times are steady or level;
/// - steady, once warm_up_time has passed and the times are steady or level (warming up does not remove noise);
/// - steady, after warm_up_long_steps, if a step takes over kLongStep, or if min_samples steps would take over
///   `long_case` and the last warm_up_long_steps lie within kLongStepSpread;
/// - not steady, at warm_up_limit, once kMinWarmUpSteps were made, or kMinLongWarmUpSteps of over
///   kLongWarmUpStep; at kLongestWarmUp in any case.
[[nodiscard]] std::optional<WarmUpEnd> warm_up_end(std::span<const double> times, Seconds elapsed,
                                                   const SamplerOptions& options);

/// The state of sampling at a check, at the end of a chunk.
struct SamplingState {
  std::span<const double> samples;               // seconds, without the dropped samples, in order
  std::span<const double> relative_iqr_history;  // one value per check
  Seconds elapsed;                               // host time since sampling began
  std::span<const double> chunk_drains{};        // drains of chained steps in seconds, one per chunk: see Timing::drain
};

/// The next chunk: it runs `steps` steps, and the first `dropped` of them yield no sample.
struct ChunkPlan {
  std::int64_t steps{};
  std::int64_t dropped{};
};

/// Plans the next chunk of sampling.
/// @param step  time of a step as far as known; nullopt before the first step
[[nodiscard]] ChunkPlan next_sampling_chunk(const SamplingState& state, std::optional<Seconds> step,
                                            const SamplerOptions& options);

/// Returns the reason to stop now, or nullopt. Sampling stops if the fixed count or a limit is reached. With enough
/// samples, it also stops after sample_time if the median is precise, if the spread has settled, or if `patience` is
/// over. The median is precise if its half-width is within precise_half_width, which relaxes in proportion to the time
/// spent, by at most kRelaxedPrecision and never beyond kWidestHalfWidth. host_patience applies instead if the median
/// chunk's drain is under kHostBoundDrain of a step: such samples drift with the host, and more of them do not make the
/// median more certain.
[[nodiscard]] std::optional<StopReason> stop_reason(const SamplingState& state, const SamplerOptions& options);

/// Whether the median is too uncertain to be `ok`: sampling reached a limit, and the half-width of the median's
/// interval is above unstable_half_width. With fewer than 8 samples there is no interval, and half of the samples'
/// range is used instead.
[[nodiscard]] bool is_unstable(std::span<const double> samples, StopReason reason, const SamplerOptions& options);

/// Returns the indexes of the samples whose clock is below kSlowClock times the median of all known clocks.
/// @param clocks  one per sample, in Hz; nullopt if unknown
[[nodiscard]] std::vector<std::size_t> slow_samples(std::span<const std::optional<double>> clocks);

/// Returns how much device time after a chunk's last event does not count as escaped: the larger of 5 % of the chunk
/// and 1 ms.
[[nodiscard]] Seconds escape_tolerance(Seconds chunk);

}  // namespace tbench::measure
