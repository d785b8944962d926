// One run of sampling: its chunks, checked for impossible times, and its readings, condensed into a Timing and a
// DeviceState.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// Thrown if the case cannot have a time; its status becomes `incorrect`.
struct Incorrect {
  std::string reason;
};

class ChunkRunner {
 public:
  ChunkRunner(Case& subject, Timer& timer) : subject_{subject}, timer_{timer} {}

  /// Times a chunk of `count` chained steps.
  /// @throws  Incorrect  if work continues after the last event, twice in a row, or a time is not positive and finite
  Chunk steps(std::int64_t count, const std::function<void()>& while_busy);
  /// Times `count` bursts of `launches` launches.
  /// @throws  Incorrect  as steps()
  Chunk bursts(std::int64_t count, std::int64_t launches, const std::function<void()>& while_busy);

 private:
  Chunk checked(bool is_burst, const std::function<Chunk(const Step&)>& run);

  Case& subject_;
  Timer& timer_;
};

/// The data of one run of sampling. If the device throttled, sampling starts a new run.
struct SamplingRun {
  Regime regime{};
  std::optional<L2State> l2;
  std::int64_t launches{1};                          // launches per sample
  std::vector<double> samples;                       // seconds, without the dropped samples, in order
  std::vector<std::optional<double>> sample_clocks;  // Hz, one per sample
  std::vector<Seconds> sample_ends;                  // host time, one per sample; empty for bursts
  std::vector<PolledClock> polls;  // readings during samples; empty if the monitor does not poll, and `readings` count
  std::vector<std::vector<double>> phase_samples;  // [phases][samples], seconds
  std::vector<double> relative_iqr_history;        // one per check
  std::vector<ClockReading> readings;              // one per chunk
  std::vector<double> chunk_drains;                // seconds, one per chunk
  Seconds wall, enqueue, cpu;                      // sums over all steps, including dropped ones
  double cycles{};                                 // sum over the chunks that counted cycles; `counted` is their time
  Seconds counted;
  std::int64_t steps{};          // all steps, including dropped ones; for bursts: launches
  bool is_exposed{};             // whether a burst's launch could not be hidden
  std::optional<Joules> energy;  // energy used by all steps
  StopReason stop{};

  [[nodiscard]] std::vector<std::size_t> flagged() const;
  [[nodiscard]] bool has_too_many_flagged() const;
  [[nodiscard]] bool was_invalidated() const;
  [[nodiscard]] bool is_throttled() const { return has_too_many_flagged() || was_invalidated(); }
};

/// Returns the moments at which the last steps of a chunk ended, in order.
/// @param times  times of these steps
/// @param end    moment at which the last step ended
[[nodiscard]] std::vector<Seconds> step_ends(std::span<const double> times, Seconds end);

/// Returns the polls, in order, that were taken during a sample that counts. Flags on samples are based on the chunks'
/// readings instead, because under a power limit polled clocks swing by more than kSlowClock within a chunk.
[[nodiscard]] std::vector<PolledClock> polls_within(const SamplingRun& run, std::span<const PolledClock> polls);

/// Condenses a run into a Timing.
/// @param run     run with at least one sample; its samples are moved out
/// @param phases  names, one for each row of run.phase_samples
[[nodiscard]] Timing timing_of(SamplingRun& run, std::span<const std::string_view> phases, const WarmUp& warm_up);
[[nodiscard]] DeviceState device_state_of(const SamplingRun& run);
/// Returns a description of how the device throttled in a run.
[[nodiscard]] std::string throttled_reason(const SamplingRun& run);

}  // namespace tbench::measure
