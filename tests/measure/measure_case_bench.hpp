// A made-up case with simulated instruments, for the tests of measure_case().
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fakes.hpp"
#include "tbench/measure/measure_case.hpp"

namespace tbench::measure {

inline constexpr double kStep = 1.0 / 64.0;

/// Simulates an allocator. Each launch allocates 700 bytes in addition to the 300 bytes that the case holds.
class FakeProbe final : public MemoryProbe {
 public:
  explicit FakeProbe(const FakeCase& subject) : subject_{subject} {}
  void release_cached() override {
    if (fail_release) {
      throw std::runtime_error{"release failed"};
    }
    ++releases;
    cached_ = 0;
  }
  void reset_peaks() override { launches_at_reset_ = subject_.launches; }
  MemoryPeaks peaks() const override {
    const std::int64_t launches = subject_.launches - launches_at_reset_;
    launches_in_pass = launches;
    return {.allocated = 300 + (launches > 0 ? 700 : 0),
            .requested = 290 + (launches > 0 ? 680 : 0),
            .reserved = 2048 + cached_};
  }
  std::int64_t allocated_now() const override { return 300; }
  void start_log() override {
    ++logs;
    launches_at_log_ = subject_.launches;
  }
  std::size_t logged_events() const override {
    return 2 * static_cast<std::size_t>(subject_.launches - launches_at_log_);
  }
  AllocationLog stop_log() override {
    --logs;
    AllocationLog log{.allocated_before = 300, .events = {}, .ranges = {"FORWARD/layer.3"}};
    for (std::size_t i = 0; i < logged_events(); i += 2) {
      log.events.push_back({.address = 1, .bytes = logged_bytes, .allocated = 300 + logged_bytes, .range = 0});
      log.events.push_back({.address = 1, .bytes = -logged_bytes, .allocated = 300, .range = 0});
    }
    return log;
  }

  std::int64_t logged_bytes{700};
  int logs{};  // logs that were started and have not ended
  int releases{};
  bool fail_release{};
  mutable std::int64_t launches_in_pass{};

 private:
  const FakeCase& subject_;
  std::int64_t launches_at_reset_{};
  std::int64_t launches_at_log_{};
  std::int64_t cached_{4096};
};

struct Bench {
  std::vector<Record> run(std::int64_t repetitions = 1) {
    const Instruments instruments{.timer = timer,
                                  .monitor = monitor,
                                  .memory = &probe,
                                  .tracer = traces ? &tracer : nullptr,
                                  .gpu = gpu,
                                  .device_used_bytes = device_used,
                                  .memory_log = {},
                                  .trace_check = trace_check};
    return measure_case(
        CaseId{"Planted", {{"size", "tiny"}}}, subject, Precision::kBf16, instruments, options, repetitions,
        [this](std::string_view activity) { activities.emplace_back(activity); },
        [this] { return stop_at_activity && activities.back() == *stop_at_activity; });
  }
  Record run_once() {
    const std::vector<Record> records = run();
    EXPECT_EQ(records.size(), 1U);
    return records.at(0);
  }

  FakeCase subject;
  FakeTimer timer{[](std::int64_t) { return kStep; }};
  FakeMonitor monitor{timer, [](std::int64_t) { return ClockReading{}; }};
  FakeProbe probe{subject};
  FakeTracer tracer{Seconds{kStep}};
  bool traces{};
  TraceCheck trace_check;
  SamplerOptions options;
  std::optional<GpuFacts> gpu;
  std::function<std::optional<std::int64_t>()> device_used;
  std::vector<std::string> activities;
  std::optional<std::string> stop_at_activity;
};

}  // namespace tbench::measure
