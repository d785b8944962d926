// Simulates a machine for the sampler's tests. Time passes only when a fake advances it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/step_tracer.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// Makes each step take `duration(i)` seconds of simulated time, where i counts all steps.
class FakeTimer final : public Timer {
 public:
  explicit FakeTimer(std::function<double(std::int64_t step)> duration_of_step)
      : duration{std::move(duration_of_step)} {}

  void prepare(std::size_t max_steps, std::size_t phase_count) override {
    prepared_steps = max_steps;
    phases = phase_count;
  }

  Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override {
    EXPECT_LE(count, prepared_steps);
    Chunk chunk;
    chunk.phases = phases;
    for (std::size_t i = 0; i < count; ++i) {
      MarkCount marker;
      step(marker);
      EXPECT_EQ(marker.marks, phases);
      const double seconds = duration(steps++);
      // The phases of a step take 1, 2, 3, ... parts of its time.
      const auto parts = static_cast<double>(phases * (phases + 1)) / 2.0;
      for (std::size_t phase = 1; phase <= phases; ++phase) {
        chunk.phase_seconds.push_back(seconds * static_cast<double>(phase) / parts);
      }
      chunk.wall = chunk.wall + Seconds{seconds};
    }
    if (while_busy) {
      while_busy();
    }
    chunk.enqueue = drain ? chunk.wall - *drain : Seconds{};
    chunk.cpu = chunk.wall * 2.0;
    chunk.escaped = escaped ? escaped(static_cast<std::int64_t>(chunk_sizes.size())) : Seconds{};
    if (clock_of_chunk) {
      chunk.cycles = clock_of_chunk(static_cast<std::int64_t>(chunk_sizes.size())) * chunk.wall.value;
      chunk.counted = chunk.wall;
    }
    clock = clock + chunk.wall;
    chunk_sizes.push_back(static_cast<std::int64_t>(count));
    return chunk;
  }

  bool can_flush_l2() const override { return flushes; }
  void begin_bursts(const BurstSetup& wanted) override { bursts_begun.push_back(wanted); }
  /// Runs bursts of the same steps. Each burst also takes `overhead` of simulated time. Calls in `made_again` have no
  /// row.
  Chunk time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                    const std::function<void()>& while_busy) override {
    EXPECT_GT(bursts_begun.size(), static_cast<std::size_t>(bursts_ended));
    const std::size_t calls = count * launches + made_again.size();
    prepared_steps = std::max(prepared_steps, calls);
    const Chunk single = time_steps(calls, launch, while_busy);
    Chunk chunk = single;
    chunk.launches = launches;
    chunk.made_again = made_again;
    chunk.phase_seconds.assign(count * phases, 0.0);
    std::size_t row = 0;
    for (std::size_t call = 0; call < calls; ++call) {
      if (std::ranges::binary_search(made_again, call)) continue;
      const std::size_t burst = row++ / launches;
      for (std::size_t phase = 0; phase < phases; ++phase) {
        chunk.phase_seconds[burst * phases + phase] += single.phase_seconds[call * phases + phase];
      }
    }
    for (double& seconds : chunk.phase_seconds) {
      seconds /= static_cast<double>(launches);
    }
    chunk.exposed = exposed;
    chunk.wall = chunk.wall + overhead * static_cast<double>(count);
    clock = clock + overhead * static_cast<double>(count);
    burst_launches.push_back(static_cast<std::int64_t>(launches));
    return chunk;
  }
  void end_bursts() noexcept override { ++bursts_ended; }

  Seconds now() const override { return clock; }
  void wait(Seconds time) override {
    waits.push_back(time.value);
    clock = clock + time;
  }

  std::function<double(std::int64_t step)> duration;
  std::function<Seconds(std::int64_t chunk)> escaped;        // no work escapes if empty
  std::function<double(std::int64_t chunk)> clock_of_chunk;  // counted clock in Hz; not counted if empty
  std::optional<Seconds> drain;                              // drain of a chunk; the whole chunk if absent
  bool flushes{true};
  bool exposed{};
  std::vector<std::size_t> made_again;
  Seconds overhead;  // per burst
  std::vector<BurstSetup> bursts_begun;
  int bursts_ended{};
  std::vector<std::int64_t> burst_launches;  // per chunk
  std::size_t prepared_steps{};
  std::size_t phases{};
  std::int64_t steps{};
  std::vector<std::int64_t> chunk_sizes;
  std::vector<double> waits;
  Seconds clock;

 private:
  struct MarkCount final : PhaseMarker {
    void mark() override { ++marks; }
    std::size_t marks{};
  };
};

/// Returns `reading(i)` for reading i, and draws `watts` all the time.
class FakeMonitor final : public ClockMonitor {
 public:
  FakeMonitor(const Timer& timer, std::function<ClockReading(std::int64_t)> reading_of)
      : reading{std::move(reading_of)}, timer_{timer} {}

  ClockReading read() override { return reading(reads++); }
  void start_polling() override {
    ++polls_begun;
    polling_since = timer_.now();
  }
  std::vector<PolledClock> stop_polling() override {
    ++polls_ended;
    std::vector<PolledClock> noted;
    for (Seconds at = polling_since; polled && at <= timer_.now(); at = at + kPollInterval) noted.push_back(polled(at));
    return noted;
  }
  std::optional<Joules> total_energy() override {
    return watts ? std::optional{Joules{5000.0 + *watts * timer_.now().value}} : std::nullopt;
  }

  std::function<ClockReading(std::int64_t)> reading;
  std::function<PolledClock(Seconds at)> polled;  // no polling if empty
  std::optional<double> watts;
  std::int64_t reads{};
  int polls_begun{};
  int polls_ended{};
  Seconds polling_since;

 private:
  const Timer& timer_;
};

/// Reports for every step that the device works for 60 % of `step` and waits for the host during the rest.
class FakeTracer final : public StepTracer {
 public:
  explicit FakeTracer(Seconds step_time) : step{step_time} {}

  void start() override {
    ++starts;
    if (refusal) throw std::runtime_error{*refusal};
  }
  std::int64_t now_ns() const override { return ++clock_ns; }
  StepTrace stop(std::span<const EnqueuedStep> enqueued, std::span<const std::string_view> phases,
                 Regime regime_of_steps) override {
    steps.assign(enqueued.begin(), enqueued.end());
    phase_names.assign(phases.begin(), phases.end());
    regime = regime_of_steps;
    StepTrace trace;
    trace.steps = static_cast<std::int64_t>(enqueued.size()) - 1;
    trace.device = step * 0.6;
    trace.host_gaps = step * 0.4;
    return trace;
  }

  std::map<std::string, double> counters() const override { return counted; }
  void cancel() noexcept override { ++cancels; }

  Seconds step;
  std::map<std::string, double> counted;
  std::optional<std::string> refusal;
  int cancels{};
  int starts{};
  std::vector<EnqueuedStep> steps;
  std::vector<std::string> phase_names;
  Regime regime{};
  mutable std::int64_t clock_ns{};
};

/// A case that only marks its phases. Each of its answers can be replaced.
class FakeCase : public Case {
 public:
  std::optional<std::string> unsupported_reason() const override { return unsupported; }
  void build() override {
    if (on_build) {
      on_build();
    }
  }
  Verification verify() override {
    launches_before_verification = launches;
    if (on_verify) {
      on_verify();
    }
    return verification;
  }
  std::optional<Verification> verify_again() override {
    launches_before_second_verification = launches;
    if (on_second_verification) {
      on_second_verification();
    }
    return second_verification;
  }
  LaunchChecker* launch_checker() override { return watched_by; }
  bool verifies_last() const override { return checked_last; }
  std::span<const std::string_view> phases() const override { return phase_names; }
  void launch(PhaseMarker& marker) override {
    if (on_launch) {
      on_launch(launches);
    }
    ++launches;
    for (std::size_t i = 0; i < phase_names.size(); ++i) {
      marker.mark();
    }
  }
  bool discard_recording() override {
    launches_before_recording.push_back(launches);
    return records;
  }
  Work work() const override { return {.flop = {1e12}, .tokens = 1024}; }
  std::vector<LiveTensor> live_tensors() const override {
    return {{.address = 0, .bytes = 100, .memory_class = "parameters"}};
  }
  std::map<std::string, double> counters() override { return own_counters; }
  std::map<std::string, double> build_counters() override { return own_build_counters; }

  std::optional<std::string> unsupported;
  std::function<void()> on_build, on_verify, on_second_verification;
  std::function<void(std::int64_t launch)> on_launch;
  Verification verification{
      .passed = true, .reference = "float64", .worst_error = 0.5, .worst_where = "logits[0]", .message = ""};
  std::vector<std::string_view> phase_names{"step"};
  std::map<std::string, double> own_counters;
  std::map<std::string, double> own_build_counters;
  std::int64_t launches{};
  bool checked_last{};
  std::int64_t launches_before_verification{-1};
  std::optional<Verification> second_verification;
  std::int64_t launches_before_second_verification{-1};
  LaunchChecker* watched_by{};
  bool records{};
  std::vector<std::int64_t> launches_before_recording;  // number of launches each time that a recording was discarded
};

}  // namespace tbench::measure
