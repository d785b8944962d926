// A simulated machine for the sampler's tests: time passes only where a fake says so.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tbench/measure/case.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// Steps take what `duration` says of their running number; all times are simulated.
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
      // Phases of a step take 1, 2, 3, ... parts of it.
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
    clock = clock + chunk.wall;
    chunk_sizes.push_back(static_cast<std::int64_t>(count));
    return chunk;
  }

  Seconds now() const override { return clock; }
  void wait(Seconds time) override {
    waits.push_back(time.value);
    clock = clock + time;
  }

  std::function<double(std::int64_t step)> duration;
  std::function<Seconds(std::int64_t chunk)> escaped;  // none if empty
  std::optional<Seconds> drain;                        // of a chunk; the whole chunk if absent
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

/// Says what `reading` gives for the running number of the reading; uses `watts` all the time.
class FakeMonitor final : public ClockMonitor {
 public:
  FakeMonitor(const Timer& timer, std::function<ClockReading(std::int64_t)> reading_of)
      : reading{std::move(reading_of)}, timer_{timer} {}

  ClockReading read() override { return reading(reads++); }
  std::optional<Joules> total_energy() override {
    return watts ? std::optional{Joules{5000.0 + *watts * timer_.now().value}} : std::nullopt;
  }

  std::function<ClockReading(std::int64_t)> reading;
  std::optional<double> watts;
  std::int64_t reads{};

 private:
  const Timer& timer_;
};

/// A case that does nothing but mark its phases; each of its answers can be replaced.
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
    return verification;
  }
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
  Work work() const override { return {.flop = {1e12}, .tokens = 1024}; }
  std::map<std::string, std::int64_t> memory_split(std::int64_t allocated_peak) const override {
    return {{"parameters", 100}, {"activations", allocated_peak - 100}};
  }
  std::map<std::string, double> counters() override { return own_counters; }

  std::optional<std::string> unsupported;
  std::function<void()> on_build;
  std::function<void(std::int64_t launch)> on_launch;
  Verification verification{
      .passed = true, .reference = "float64", .worst_error = 0.5, .worst_where = "logits[0]", .message = ""};
  std::vector<std::string_view> phase_names{"step"};
  std::map<std::string, double> own_counters;
  std::int64_t launches{};
  bool checked_last{};
  std::int64_t launches_before_verification{-1};
};

}  // namespace tbench::measure
