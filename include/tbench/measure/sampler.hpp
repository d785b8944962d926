// Warms up a step, samples it until its median is known precisely enough, and reports the uncertainty. bench/README.md
// describes the rules. Nothing here depends on CUDA.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/record.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// Limits of warm-up and sampling. The defaults are for model steps; burst_options() are for kernels, where a step is
/// one launch.
struct SamplerOptions {
  Regime regime{};                     // the family's: chained steps, or separate bursts
  Seconds warm_up_time{1.0};           // shortest warm-up (--benchmark_min_warmup_time)
  Seconds warm_up_limit{3.0};          // longest warm-up, but at least kMinWarmUpSteps (stopping.hpp)
  std::int64_t warm_up_long_steps{5};  // enough steps if each takes over a second
  Seconds sample_time{0.5};            // shortest sampling (--benchmark_min_time)
  Seconds sample_limit{60.0};          // longest sampling
  Seconds patience{5.0};               // longest sampling with enough samples, because a host may drift for ever
  /// The value of `patience` if the device has caught up with the host at the end of most chunks. Replayed on the
  /// samples of two runs of the standard suite on an H100, a patience of 2 s instead of 5 s moves 8 and 9 of 65 medians
  /// by over 1 %. All but one of these medians are host-bound.
  Seconds host_patience{2.0};
  std::int64_t min_samples{20};
  std::int64_t min_samples_long{8};  // used if min_samples would take more than `long_case`
  Seconds long_case{2.0};
  std::int64_t max_samples{300};
  double precise_half_width{0.0025};
  double unstable_half_width{0.05};
  Seconds chunk_time{0.25};
  std::int64_t min_chunk{8};
  std::int64_t max_chunk{64};
  std::int64_t dropped_per_chunk{1};          // first samples of a chunk, which begins on an idle device
  Seconds dropped_time{};                     // samples are also dropped for this long after them
  L2State l2{};                               // L2 state before the launches of a burst, if the timer can flush
  bool verify_again{true};                    // after sampling, if the case supports it; false for --tb_verify=once
  std::optional<std::int64_t> fixed_warm_up;  // --tb_warmup: exactly this many steps; may be 0
  std::optional<std::int64_t> fixed_samples;  // --tb_samples: exactly this many samples, none dropped
};

/// Returns the options for launches of 5 us to 50 ms. Drops no samples, because every burst begins on an idle device.
[[nodiscard]] SamplerOptions burst_options();

struct SampleResult {
  Timing timing;
  DeviceState device;
  Status status{Status::kOk};  // ok, unstable, throttled, or incorrect if work escapes the timed region
  std::string reason;
  Seconds elapsed;  // host time of warm-up and sampling, including waits for a hot device
};

/// Receives the current activity ("warming up", "sampling"), often enough to serve as a sign of life.
using ProgressCallback = std::function<void(std::string_view activity)>;
/// Asked between chunks whether to stop early (Ctrl-C); if true, sampling throws Interrupted.
using StopRequested = std::function<bool()>;

/// Thrown when the user asked to stop in the middle of a case.
struct Interrupted {};

/// Samples chained steps or bursts, according to `options.regime`.
/// If the result is `incorrect` (work escapes the timed region, or a sample is not a positive number), its timing and
/// device state are empty. A chunk whose work seems to escape is run once more before that verdict, because a host that
/// was suspended for a moment looks the same.
/// @throws  Interrupted; std::logic_error for a case without phases; any exception of the case's launch()
[[nodiscard]] SampleResult sample(Case& subject, Timer& timer, ClockMonitor& monitor, const SamplerOptions& options,
                                  const ProgressCallback& progress, const StopRequested& stop_requested);

}  // namespace tbench::measure
