// From a case to records, with planted cases on a simulated clock, and once on the real one.
#include "tbench/measure/measure_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "fakes.hpp"
#include "tbench/core/error.hpp"
#include "tbench/measure/steady_clock_timer.hpp"

namespace tbench::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr double kStep = 1.0 / 64.0;

/// An allocator whose peak follows the launches: each one allocates 700 bytes beside the 300 that the case holds.
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
    return {.allocated = 300 + (launches > 0 ? 700 : 0), .reserved = 2048 + cached_};
  }
  std::int64_t allocated_now() const override { return 300; }

  int releases{};
  bool fail_release{};
  mutable std::int64_t launches_in_pass{};

 private:
  const FakeCase& subject_;
  std::int64_t launches_at_reset_{};
  std::int64_t cached_{4096};
};

struct Bench {
  std::vector<Record> run(std::int64_t repetitions = 1) {
    const Instruments instruments{
        .timer = timer, .monitor = monitor, .memory = &probe, .gpu = gpu, .device_used_bytes = device_used};
    return measure_case(
        CaseId{"Planted", {{"size", "tiny"}}}, subject, Precision::kBf16, instruments, {}, repetitions,
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
  std::optional<GpuFacts> gpu;
  std::function<std::optional<std::int64_t>()> device_used;
  std::vector<std::string> activities;
  std::optional<std::string> stop_at_activity;
};

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
  EXPECT_FALSE(record.device.has_value());  // the monitor knew nothing
  EXPECT_FALSE(record.datasheet_peak.has_value());
  EXPECT_FALSE(record.requested_bytes.has_value());
}

TEST(MeasureCase, TheMemoryPassIsTwoStepsOfItsOwn) {
  Bench bench;
  bench.device_used = [] { return std::optional<std::int64_t>{1 << 20}; };
  const Record record = bench.run_once();
  ASSERT_TRUE(record.memory.has_value());
  EXPECT_EQ(bench.probe.launches_in_pass, 2);
  EXPECT_EQ(bench.probe.releases, 2);  // before the case and before the pass
  EXPECT_EQ(record.memory->allocated_peak, 1000);
  EXPECT_EQ(record.memory->reserved_peak, 2048);
  EXPECT_EQ(record.memory->device_used, 1 << 20);
  EXPECT_THAT(record.memory->split, UnorderedElementsAre(Pair("parameters", 100), Pair("activations", 900)));
}

TEST(MeasureCase, AFlushesMemoryIsNotThereInTheMemoryPass) {
  Bench bench;
  bench.subject.own_regime = Regime::kBurst;
  std::vector<int> ended_before_launch;
  bench.subject.on_launch = [&](std::int64_t) { ended_before_launch.push_back(bench.timer.bursts_ended); };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kOk);
  EXPECT_EQ(record.timing->regime, Regime::kBurst);
  EXPECT_EQ(std::ranges::count(ended_before_launch, 1), 2);  // the launches of the pass
  EXPECT_EQ(bench.probe.releases, 3);  // before the case, before the flush's memory is taken, before the pass
  EXPECT_EQ(record.memory->allocated_peak, 1000);
}

TEST(MeasureCase, TheHarnessTimeIsWhatIsNeitherWarmUpNorSampling) {
  Bench bench;
  bench.subject.on_build = [&] { bench.timer.wait({0.75}); };
  const std::vector<Record> records = bench.run(2);
  ASSERT_EQ(records.size(), 2U);
  // Building, and the memory pass of two steps. The second repetition builds nothing.
  EXPECT_DOUBLE_EQ(records[0].harness.value, 0.75 + 2 * kStep);
  EXPECT_DOUBLE_EQ(records[1].harness.value, 2 * kStep);
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

TEST(MeasureCase, TheDatasheetPeakIsAtTheMedianClock) {
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
  ASSERT_TRUE(record.datasheet_peak.has_value());
  EXPECT_DOUBLE_EQ(record.datasheet_peak->value, *per_sm_clock * 132.0 * 1.5e9);
  EXPECT_EQ(record.device->sm_clock_p50, Hertz{1.5e9});

  Bench unknown;
  unknown.gpu = GpuFacts{};
  unknown.gpu->name = "Some other GPU";
  unknown.monitor.reading = bench.monitor.reading;
  EXPECT_FALSE(unknown.run_once().datasheet_peak.has_value());
}

TEST(MeasureCase, AnUnsupportedCaseIsNotBuilt) {
  Bench bench;
  bench.subject.unsupported = "needs tensor cores";
  bench.subject.on_build = [] { FAIL() << "built"; };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kUnsupported);
  EXPECT_EQ(record.reason, "needs tensor cores");
  EXPECT_FALSE(record.timing.has_value());
}

TEST(MeasureCase, AWrongOutputHasNoTime) {
  Bench bench;
  bench.subject.verification = {.passed = false,
                                .reference = "float64",
                                .worst_error = 7.0,
                                .worst_where = "logits[3]",
                                .message = "logits[3] is 1.5, expected 1.0"};
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kIncorrect);
  EXPECT_EQ(record.reason, "logits[3] is 1.5, expected 1.0");
  EXPECT_FALSE(record.timing.has_value());
  EXPECT_FALSE(record.memory.has_value());
  EXPECT_EQ(record.verification->worst_where, "logits[3]");
  EXPECT_EQ(bench.timer.steps, 0);
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

TEST(MeasureCase, AnOutputFoundWrongAfterwardsHasNoTimeEither) {
  Bench bench;
  bench.subject.checked_last = true;
  bench.subject.own_counters = {{"skipped_steps", 2.0}};
  bench.subject.verification = {.passed = false,
                                .reference = "float64",
                                .worst_error = 7.0,
                                .worst_where = "logits[3]",
                                .message = "logits[3] is 1.5, expected 1.0"};
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kIncorrect);
  EXPECT_EQ(record.reason, "logits[3] is 1.5, expected 1.0");
  EXPECT_FALSE(record.timing.has_value());
  EXPECT_FALSE(record.memory.has_value());
  EXPECT_TRUE(record.counters.empty());
  EXPECT_GT(bench.timer.steps, 0);
}

TEST(MeasureCase, EscapedWorkHasNoTime) {
  Bench bench;
  bench.timer.escaped = [](std::int64_t) { return Seconds{1.0}; };
  const std::vector<Record> records = bench.run(3);
  ASSERT_EQ(records.size(), 1U);  // the others would be no better
  EXPECT_EQ(records[0].status, Status::kIncorrect);
  EXPECT_THAT(records[0].reason, HasSubstr("the timed region does not contain the work"));
  EXPECT_FALSE(records[0].timing.has_value());
}

TEST(MeasureCase, OutOfMemoryWhileBuildingIsAResult) {
  Bench bench;
  bench.subject.on_build = [] { throw OutOfMemory{"no room for the weights", 123456}; };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kOom);
  EXPECT_EQ(record.reason, "no room for the weights");
  EXPECT_EQ(record.requested_bytes, 123456);
  EXPECT_FALSE(record.timing.has_value());
  EXPECT_EQ(bench.probe.releases, 2);  // before the case and after the failure
  EXPECT_EQ(bench.timer.steps, 0);
}

TEST(MeasureCase, OutOfMemoryInAStepIsAResult) {
  Bench bench;
  bench.subject.on_launch = [](std::int64_t launch) {
    if (launch == 70) {
      throw OutOfMemory{"fragmented", std::nullopt};
    }
  };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kOom);
  EXPECT_FALSE(record.requested_bytes.has_value());
  EXPECT_FALSE(record.timing.has_value());
  EXPECT_TRUE(record.verification->passed);
}

TEST(MeasureCase, OutOfMemoryKeepsTheCountersThatBuildingHasSettled) {
  Bench bench;
  bench.subject.own_counters = {{"held_bytes", 8.0}, {"skipped_steps", 2.0}};
  bench.subject.own_build_counters = {{"held_bytes", 8.0}, {"broken", std::numeric_limits<double>::quiet_NaN()}};
  bench.subject.on_launch = [](std::int64_t) { throw OutOfMemory{"no room for the gradients", 5}; };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kOom);
  EXPECT_THAT(record.counters, ElementsAre(Pair("held_bytes", 8.0)));

  bench.subject.on_build = [] { throw OutOfMemory{"no room for the inputs", 5}; };
  EXPECT_TRUE(bench.run_once().counters.empty());
}

TEST(MeasureCase, NoOtherFailureKeepsCounters) {
  Bench crashed;
  crashed.subject.own_build_counters = {{"held_bytes", 8.0}};
  crashed.subject.on_launch = [](std::int64_t) { throw std::runtime_error{"an illegal memory access"}; };
  EXPECT_TRUE(crashed.run_once().counters.empty());
  Bench wrong;
  wrong.subject.own_build_counters = {{"held_bytes", 8.0}};
  wrong.subject.verification.passed = false;
  EXPECT_TRUE(wrong.run_once().counters.empty());
}

TEST(MeasureCase, OutOfMemoryInTheMemoryPassLeavesNoTime) {
  Bench bench;
  bench.subject.on_launch = [&bench](std::int64_t) {
    if (!bench.activities.empty() && bench.activities.back() == "measuring memory") {
      throw OutOfMemory{"too little", 1};
    }
  };
  const std::vector<Record> records = bench.run(2);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::kOom);
  EXPECT_FALSE(records[0].timing.has_value());
}

TEST(MeasureCase, ADeviceThatCannotBeClearedAfterOutOfMemoryIsACrash) {
  Bench bench;
  bench.subject.on_build = [&bench] {
    bench.probe.fail_release = true;
    throw OutOfMemory{"no room", 1};
  };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kCrashed);
  EXPECT_THAT(record.reason, HasSubstr("release failed"));
}

TEST(MeasureCase, OtherExceptionsAreCrashes) {
  Bench bench;
  bench.subject.on_launch = [](std::int64_t) { throw std::runtime_error{"an illegal memory access"}; };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kCrashed);
  EXPECT_EQ(record.reason, "an illegal memory access");
  EXPECT_FALSE(record.timing.has_value());

  Bench strange;
  strange.subject.on_build = [] { throw 42; };
  EXPECT_EQ(strange.run_once().status, Status::kCrashed);
}

TEST(MeasureCase, AStopRequestPassesThrough) {
  for (const char* activity : {"building", "verifying", "warming up", "sampling"}) {
    Bench bench;
    bench.stop_at_activity = activity;
    EXPECT_THROW(bench.run(), Interrupted) << activity;
  }
}

TEST(MeasureCase, AStopRequestInTheMemoryPassLosesNothing) {
  Bench bench;
  bench.stop_at_activity = "measuring memory";
  EXPECT_EQ(bench.run_once().status, Status::kOk);
}

TEST(MeasureCase, WrongMarksOnTheRealClockAreACrash) {
  class OneMarkTooMany final : public FakeCase {
   public:
    void launch(PhaseMarker& marker) override {
      marker.mark();
      marker.mark();
    }
  };
  OneMarkTooMany subject;
  SteadyClockTimer timer;
  NoClockMonitor monitor;
  const Instruments instruments{
      .timer = timer, .monitor = monitor, .memory = nullptr, .gpu = std::nullopt, .device_used_bytes = {}};
  const auto records = measure_case(CaseId{"Planted", {}}, subject, std::nullopt, instruments, {}, 1, {}, {});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::kCrashed);
  EXPECT_THAT(records[0].reason, HasSubstr("must mark each phase once"));
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
  subject.own_regime = Regime::kBurst;
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
