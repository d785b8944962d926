// One run through sampling: its chunks, without times that the case cannot have, and the readings that it gathered,
// condensed into a Timing and a DeviceState.
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

/// The case cannot have a time: it ends as `incorrect`.
struct Incorrect {
  std::string reason;
};

class ChunkRunner {
 public:
  ChunkRunner(Case& subject, Timer& timer) : subject_{subject}, timer_{timer} {}

  /// Chained steps.
  /// @throws  Incorrect  if work goes on after the last event, twice in a row, or a time is not positive and finite
  Chunk steps(std::int64_t count, const std::function<void()>& while_busy);
  /// `count` bursts of `launches` launches.
  /// @throws  as steps()
  Chunk bursts(std::int64_t count, std::int64_t launches, const std::function<void()>& while_busy);

 private:
  Chunk checked(bool is_burst, const std::function<Chunk(const Step&)>& run);

  Case& subject_;
  Timer& timer_;
};

/// Everything of one run through sampling; a device that throttled starts a new one.
struct SamplingRun {
  Regime regime{};
  std::optional<L2State> l2;
  std::int64_t launches{1};                          // of a sample
  std::vector<double> samples;                       // seconds, kept ones in order
  std::vector<std::optional<double>> sample_clocks;  // Hz, one per sample
  std::vector<Seconds> sample_ends;                  // host time, one per sample; empty for bursts
  std::vector<PolledClock> polls;                    // those within samples; empty: none, readings count
  std::vector<std::vector<double>> phase_samples;    // [phases][samples], seconds
  std::vector<double> relative_iqr_history;          // one a check
  std::vector<ClockReading> readings;                // one a chunk
  std::vector<double> chunk_drains;                  // seconds, one a chunk
  Seconds wall, enqueue, cpu;                        // sums over all steps, dropped ones too
  double cycles{};                                   // of the chunks that counted them, and their time
  Seconds counted;
  std::int64_t steps{};          // all, dropped ones too; of bursts: launches
  bool is_exposed{};             // a burst's launch could not be hidden
  std::optional<Joules> energy;  // of all steps
  StopReason stop{};

  [[nodiscard]] std::vector<std::size_t> flagged() const;
  [[nodiscard]] bool has_too_many_flagged() const;
  [[nodiscard]] bool was_invalidated() const;
  [[nodiscard]] bool is_throttled() const { return has_too_many_flagged() || was_invalidated(); }
};

/// When each of the last steps of a chunk ended, in order.
/// @param times  of those steps
/// @param end    of the last one
[[nodiscard]] std::vector<Seconds> step_ends(std::span<const double> times, Seconds end);

/// Returns those polls, in order, that were noted while a sample that counts ran. Whether a sample is flagged is left
/// to the readings of chunks: under a power limit polled clocks swing by more than kSlowClock within a chunk.
[[nodiscard]] std::vector<PolledClock> polls_within(const SamplingRun& run, std::span<const PolledClock> polls);

/// @param run      at least one sample; its samples are moved out
/// @param phases   names, one for each row of run.phase_samples
[[nodiscard]] Timing timing_of(SamplingRun& run, std::span<const std::string_view> phases, const WarmUp& warm_up);
[[nodiscard]] DeviceState device_state_of(const SamplingRun& run);
/// Returns what the device did in a throttled run.
[[nodiscard]] std::string throttled_reason(const SamplingRun& run);

}  // namespace tbench::measure
