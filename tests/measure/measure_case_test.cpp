// Tests the path from a case to its records, with made-up cases on a simulated clock, and in two tests on the real
// clock. measure_case_failure_test.cpp has the cases that fail.
#include "tbench/measure/measure_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "measure_case_bench.hpp"
#include "tbench/core/error.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(MeasureCase, AGoodCaseHasAllItsParts) {
  Bench bench;
  bench.subject.own_counters = {{"skipped_steps", 2.0}, {"broken", std::numeric_limits<double>::quiet_NaN()}};
  bench.device_used = [] { return std::optional<std::int64_t>{1 << 20}; };
  const Record record = bench.run_once();
  EXPECT_EQ(record.id.name(), "Planted/size:tiny");
  EXPECT_EQ(record.status, Status::kOk);
  EXPECT_EQ(record.reason, "");
  ASSERT_TRUE(record.timing.has_value());
  EXPECT_EQ(record.timing->median, Seconds{kStep});
  EXPECT_EQ(record.work->tokens, 1024);
  EXPECT_TRUE(record.verification->passed);
  EXPECT_THAT(record.counters, ElementsAre(Pair("skipped_steps", 2.0)));
  EXPECT_FALSE(record.device.has_value());  // the monitor returned no readings
  EXPECT_FALSE(record.peak_at_clock.has_value());
  EXPECT_FALSE(record.requested_bytes.has_value());
}

TEST(MeasureCase, TheMemoryPassIsTwoStepsOfItsOwn) {
  Bench bench;
  bench.device_used = [] { return std::optional<std::int64_t>{1 << 20}; };
  const Record record = bench.run_once();
  ASSERT_TRUE(record.memory.has_value());
  EXPECT_EQ(bench.probe.launches_in_pass, 2);
  EXPECT_EQ(bench.probe.releases, 2);  // before the case and before the memory pass
  EXPECT_EQ(record.memory->allocated_peak, 1000);
  EXPECT_EQ(record.memory->requested_peak, 970);
  EXPECT_EQ(record.memory->reserved_peak, 2048);
  EXPECT_EQ(record.memory->device_used, 1 << 20);
  EXPECT_THAT(record.memory->split,
              UnorderedElementsAre(Pair("parameters", 100), Pair("step_temporaries", 700), Pair("other", 200)));
}

TEST(MeasureCase, AFlushesMemoryIsNotThereInTheMemoryPass) {
  Bench bench;
  bench.options.regime = Regime::kBurst;
  std::vector<int> ended_before_launch;
  bench.subject.on_launch = [&](std::int64_t) { ended_before_launch.push_back(bench.timer.bursts_ended); };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kOk);
  EXPECT_EQ(record.timing->regime, Regime::kBurst);
  EXPECT_EQ(std::ranges::count(ended_before_launch, 1), 2);  // the launches of the memory pass
  EXPECT_EQ(bench.probe.releases, 3);  // before the case, before the flush allocates, before the memory pass
  EXPECT_EQ(record.memory->allocated_peak, 1000);
}

TEST(MeasureCase, TheHarnessTimeIsWhatIsNeitherWarmUpNorSampling) {
  Bench bench;
  bench.subject.on_build = [&] { bench.timer.wait({0.75}); };
  const std::vector<Record> records = bench.run(2);
  ASSERT_EQ(records.size(), 2U);
  // The harness builds, and runs the memory pass of two steps. The second repetition builds nothing.
  EXPECT_DOUBLE_EQ(records[0].harness.value, 0.75 + 2 * kStep);
  EXPECT_DOUBLE_EQ(records[1].harness.value, 2 * kStep);
}

TEST(MeasureCase, TheHostsTimeIsToldByWhatItWasFor) {
  Bench bench;
  bench.subject.on_build = [&] { bench.timer.wait({0.75}); };
  bench.subject.on_verify = [&] { bench.timer.wait({0.5}); };
  bench.subject.on_second_verification = [&] { bench.timer.wait({0.125}); };
  bench.subject.second_verification = bench.subject.verification;
  const std::vector<Record> records = bench.run(2);
  ASSERT_EQ(records.size(), 2U);
  ASSERT_TRUE(records[0].host_times && records[1].host_times);
  const HostTimes& first = *records[0].host_times;
  EXPECT_EQ(first.build, Seconds{0.75});
  EXPECT_EQ(first.verification, Seconds{0.5});
  EXPECT_GT(first.sampling, Seconds{});
  EXPECT_DOUBLE_EQ(first.memory_pass.value, 2 * kStep);
  EXPECT_EQ(first.trace, Seconds{});  // there is no tracer
  EXPECT_EQ(first.second_verification, Seconds{0.125});
  EXPECT_NEAR(records[0].harness.value, 0.75 + 0.5 + 2 * kStep + 0.125, 1e-9);
  // The second repetition uses the build and the verification of the first.
  EXPECT_EQ(records[1].host_times->build, Seconds{});
  EXPECT_EQ(records[1].host_times->verification, Seconds{});
  EXPECT_EQ(records[1].host_times->second_verification, Seconds{0.125});
}

TEST(MeasureCase, ACaseWithoutATimeTellsNoHostTimes) {
  Bench bench;
  bench.subject.verification.passed = false;
  EXPECT_FALSE(bench.run_once().host_times.has_value());
}

TEST(MeasureCase, RepetitionsShareOneBuild) {
  Bench bench;
  int builds = 0;
  bench.subject.on_build = [&] { ++builds; };
  const std::vector<Record> records = bench.run(3);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(builds, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(records[i].repetition_index, static_cast<std::int64_t>(i));
    EXPECT_EQ(records[i].repetitions, 3);
    EXPECT_TRUE(records[i].timing.has_value());
    EXPECT_TRUE(records[i].verification.has_value());
  }
}

TEST(MeasureCase, TheDatasheetsPeaksAreAtItsClockAndAtTheMeasuredOne) {
  Bench bench;
  bench.gpu = GpuFacts{};
  bench.gpu->name = "NVIDIA H200";
  bench.gpu->sm_count = 132;
  bench.monitor.reading = [](std::int64_t) {
    ClockReading reading;
    reading.sm_clock = Hertz{1.5e9};
    return reading;
  };
  const Record record = bench.run_once();
  const auto per_sm_clock = datasheet_flop_per_sm_clock("NVIDIA H200", Precision::kBf16);
  ASSERT_TRUE(per_sm_clock.has_value());
  ASSERT_TRUE(record.peak_at_clock.has_value());
  EXPECT_DOUBLE_EQ(record.peak_at_clock->value, *per_sm_clock * 132.0 * 1.5e9);
  EXPECT_NEAR(record.boost_peak.value().value, 989.4e12, 0.1e12);
  EXPECT_EQ(record.device->sm_clock_p50, Hertz{1.5e9});

  Bench unknown;
  unknown.gpu = GpuFacts{};
  unknown.gpu->name = "Some other GPU";
  unknown.monitor.reading = bench.monitor.reading;
  EXPECT_FALSE(unknown.run_once().peak_at_clock.has_value());
  EXPECT_FALSE(unknown.run_once().boost_peak.has_value());
}

TEST(MeasureCase, CyclesThatTheGpuCannotCountAreDropped) {
  Bench bench;
  bench.gpu = GpuFacts{};
  bench.gpu->max_sm_clock_hz = 1.98e9;
  bench.timer.clock_of_chunk = [](std::int64_t) { return 2.01e9; };
  EXPECT_NEAR(bench.run_once().device.value().sm_clock_counted.value().value, 2.01e9, 1);
  bench.timer.clock_of_chunk = [](std::int64_t) { return 2.03e9; };
  const Record record = bench.run_once();
  EXPECT_FALSE(record.device && record.device->sm_clock_counted);
}

/// At the power limit, 0.15 s of steps run before the traced steps.
TEST(MeasureCase, StepsAtTheFullClockAreTracedWithoutARunUp) {
  const auto launches_of = [](double clock_hz) {
    Bench bench;
    bench.traces = true;
    bench.gpu = GpuFacts{};
    bench.gpu->max_sm_clock_hz = 2e9;
    bench.monitor.reading = [clock_hz](std::int64_t) {
      ClockReading reading;
      reading.sm_clock = Hertz{clock_hz};
      return reading;
    };
    EXPECT_TRUE(bench.run_once().trace.has_value());
    return bench.subject.launches;
  };
  EXPECT_EQ(launches_of(1.98e9), launches_of(2e9));
  EXPECT_EQ(launches_of(1.96e9) - launches_of(2e9), 9);  // nine steps of 1 / 64 s
}

TEST(MeasureCase, ACaseIsCheckedBeforeItsFirstStepUnlessItAsksForAfterwards) {
  Bench bench;
  EXPECT_EQ(bench.run_once().status, Status::kOk);
  EXPECT_EQ(bench.subject.launches_before_verification, 0);
  Bench last;
  last.subject.checked_last = true;
  const Record record = last.run_once();
  EXPECT_EQ(record.status, Status::kOk);
  EXPECT_TRUE(record.verification->passed);
  EXPECT_EQ(last.subject.launches_before_verification, last.subject.launches);
  EXPECT_GT(last.subject.launches, 0);
  EXPECT_EQ(last.activities.front(), "building");
  EXPECT_EQ(last.activities.back(), "verifying");
}

TEST(MeasureCase, ACaseThatCanIsCheckedAgainAfterItsLastStep) {
  Bench bench;
  bench.subject.second_verification = bench.subject.verification;
  bench.subject.second_verification->worst_error = 0.75;
  bench.subject.second_verification->worst_where = "loss[]";
  const std::vector<Record> records = bench.run(2);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(bench.subject.launches_before_second_verification, bench.subject.launches);
  EXPECT_EQ(bench.activities.back(), "verifying again");
  EXPECT_EQ(*(bench.activities.end() - 2), "measuring memory");
  for (const Record& record : records) {
    EXPECT_EQ(record.status, Status::kOk);
    EXPECT_EQ(record.verification->worst_where, "loss[]");  // the worse of the two
    EXPECT_EQ(record.memory->allocated_peak, 1000);
  }
  bench.subject.second_verification->worst_error = 0.25;
  EXPECT_EQ(bench.run_once().verification->worst_where, "logits[0]");
}

TEST(MeasureCase, TheSecondCheckCanBeSwitchedOff) {
  Bench bench;
  bench.subject.second_verification = bench.subject.verification;
  bench.options.verify_again = false;
  EXPECT_EQ(bench.run_once().status, Status::kOk);
  EXPECT_EQ(bench.subject.launches_before_second_verification, -1);
  EXPECT_EQ(bench.activities.back(), "measuring memory");
}

struct FakeChecker final : LaunchChecker {
  void begin() override { ++begun; }
  void redraw() override {}
  void perturb() override {}
  void after() override {}
  Verification verdict() override {
    ++verdicts;
    return says;
  }
  Verification says{.passed = true, .reference = "float64", .worst_error = 0.9, .worst_where = "y[3]", .message = ""};
  int verdicts{}, begun{};
};

TEST(MeasureCase, ACheckerIsAskedRightAfterTheBursts) {
  Bench bench;
  FakeChecker checker;
  bench.subject.watched_by = &checker;
  EXPECT_EQ(bench.run_once().status, Status::kOk);
  EXPECT_EQ(checker.verdicts, 0);  // chained steps are not checked
  bench.options.regime = Regime::kBurst;
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kOk);
  EXPECT_EQ(record.verification->worst_where, "y[3]");
  EXPECT_EQ(record.labels.at("trusted"), "plugin");
  EXPECT_EQ(checker.verdicts, 1);
  EXPECT_EQ(checker.begun, 2);  // once for each sampling; the warm-up does not count
  EXPECT_EQ(bench.timer.bursts_begun.back().checker, &checker);
  EXPECT_EQ(*(bench.activities.end() - 3), "verifying a timed launch");
}

TEST(MeasureCase, WhatACheckerHasSeenIsIncorrect) {
  Bench bench;
  FakeChecker checker;
  bench.subject.watched_by = &checker;
  bench.options.regime = Regime::kBurst;
  checker.says.passed = false;
  checker.says.message = "y[3] is 2, the reference 1";
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kIncorrect);
  EXPECT_EQ(record.reason, "found in a timed launch: y[3] is 2, the reference 1");
  EXPECT_FALSE(record.timing.has_value());
  EXPECT_FALSE(record.memory.has_value());
}

TEST(MeasureCase, AStopRequestPassesThrough) {
  for (const char* activity : {"building", "verifying", "warming up", "sampling"}) {
    Bench bench;
    bench.stop_at_activity = activity;
    EXPECT_THROW(bench.run(), Interrupted) << activity;
  }
}

TEST(MeasureCase, AStopRequestAfterSamplingLosesNothing) {
  for (const char* activity : {"measuring memory", "verifying again"}) {
    Bench bench;
    bench.stop_at_activity = activity;
    EXPECT_EQ(bench.run_once().status, Status::kOk) << activity;
  }
}

TEST(MeasureCase, RunsOnTheRealClockWithoutAGpu) {
  FakeCase subject;
  SteadyClockTimer timer;
  NoClockMonitor monitor;
  subject.on_launch = [&](std::int64_t) {
    const Seconds end = timer.now() + Seconds{0.001};
    while (timer.now() < end) {
    }
  };
  SamplerOptions options;
  options.fixed_warm_up = 2;
  options.fixed_samples = 9;
  const Instruments instruments{
      .timer = timer, .monitor = monitor, .memory = nullptr, .gpu = std::nullopt, .device_used_bytes = {}};
  const auto records = measure_case(CaseId{"Planted", {}}, subject, std::nullopt, instruments, options, 1, {}, {});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::kOk);
  EXPECT_EQ(records[0].timing->samples_s.size(), 9U);
  EXPECT_GE(records[0].timing->min.value, 0.001);
  EXPECT_LT(records[0].timing->median.value, 0.05);
  EXPECT_FALSE(records[0].timing->host_bound);
  EXPECT_FALSE(records[0].memory.has_value());
}

TEST(MeasureCase, TimesBurstsOnTheRealClockWithoutAGpu) {
  FakeCase subject;
  SteadyClockTimer timer;
  NoClockMonitor monitor;
  subject.on_launch = [&](std::int64_t) {
    const Seconds end = timer.now() + Seconds{4e-6};
    while (timer.now() < end) {
    }
  };
  const Instruments instruments{
      .timer = timer, .monitor = monitor, .memory = nullptr, .gpu = std::nullopt, .device_used_bytes = {}};
  const auto records =
      measure_case(CaseId{"Planted", {}}, subject, std::nullopt, instruments, burst_options(), 1, {}, {});
  ASSERT_EQ(records.size(), 1U);
  ASSERT_TRUE(records[0].timing.has_value()) << records[0].reason;
  const Timing& timing = *records[0].timing;
  EXPECT_EQ(timing.regime, Regime::kBurst);
  EXPECT_FALSE(timing.l2.has_value());
  EXPECT_GE(timing.launches_per_sample, 5);
  EXPECT_LE(timing.launches_per_sample, 14);  // 55 / 4 is 13.8
  EXPECT_GE(timing.min.value, 4e-6);
  EXPECT_EQ(timing.resolution_limited, timing.median.value < 10e-6);
}

}  // namespace
}  // namespace tbench::measure
