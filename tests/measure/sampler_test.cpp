// Tests the sampler on a simulated clock. Step times are multiples of 1/64 s, so sums are exact. A regular chunk of
// such steps takes 0.25 s = 16 steps.
#include "tbench/measure/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fakes.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::measure {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;

constexpr double kStep = 1.0 / 64.0;

struct Bench {
  explicit Bench(std::function<double(std::int64_t)> duration)
      : timer{std::move(duration)}, monitor{timer, [](std::int64_t) { return ClockReading{}; }} {}

  SampleResult run() {
    return sample(
        subject, timer, monitor, options, [this](std::string_view activity) { activities.emplace_back(activity); },
        [this] { return stop_after && static_cast<std::int64_t>(timer.chunk_sizes.size()) >= *stop_after; });
  }

  FakeCase subject;
  FakeTimer timer;
  FakeMonitor monitor;
  SamplerOptions options;
  std::vector<std::string> activities;
  std::optional<std::int64_t> stop_after;  // number of chunks
};

ClockReading at_clock(double ghz) {
  ClockReading reading;
  reading.sm_clock = Hertz{ghz * 1e9};
  return reading;
}

TEST(Sampler, SteadyStepsStopAtTheMinimumTimes) {
  Bench bench{[](std::int64_t) { return kStep; }};
  const SampleResult result = bench.run();

  EXPECT_EQ(result.status, Status::kOk);
  EXPECT_EQ(result.reason, "");
  // 1 + 4 * 16 steps are 65/64 s, the first sum of chunks that is at least 1 s.
  EXPECT_EQ(result.timing.warm_up, (WarmUp{.steps = 65, .first = Seconds{kStep}, .steady = true}));
  // Two chunks of 0.25 s take 0.5 s and give 2 * 15 samples.
  EXPECT_THAT(bench.timer.chunk_sizes, ElementsAre(1, 16, 16, 16, 16, 16, 16));
  EXPECT_EQ(result.timing.samples_s, std::vector<double>(30, kStep));
  EXPECT_EQ(result.timing.stop_reason, StopReason::kPrecise);
  EXPECT_EQ(result.timing.median, Seconds{kStep});
  EXPECT_EQ(result.timing.standard_deviation, Seconds{0.0});
  EXPECT_EQ(result.timing.relative_half_width, 0.0);
  EXPECT_THAT(result.timing.phases, IsEmpty());
  EXPECT_EQ(result.elapsed, (Seconds{65.0 / 64.0 + 0.5}));
  EXPECT_THAT(bench.activities, ElementsAre("warming up", "warming up", "warming up", "warming up", "warming up",
                                            "sampling", "sampling"));
  EXPECT_EQ(result.device, DeviceState{});
}

TEST(Sampler, TheFirstStepOfAChunkGivesNoSample) {
  // Sampling begins at step 65; every chunk has 16 steps.
  Bench bench{[](std::int64_t step) { return step >= 65 && (step - 65) % 16 == 0 ? 4 * kStep : kStep; }};
  EXPECT_THAT(bench.run().timing.samples_s, Each(kStep));
}

TEST(Sampler, DriftingStepsWarmUpUntilTheyHaveSettled) {
  // Steps are 50 % slower at first and settle with a time constant of 100 steps.
  Bench bench{[](std::int64_t step) { return kStep * (1.0 + 0.5 * std::exp(-static_cast<double>(step) / 100.0)); }};
  const SampleResult result = bench.run();
  EXPECT_EQ(result.status, Status::kOk);
  EXPECT_TRUE(result.timing.warm_up.steady);
  // At the middle m of the last ten steps let e = exp(-m / 100). The drift over five steps is 0.5 * e * 5 / 100. It is
  // at most 0.5 % of 1 + 0.5 * e if e <= 0.222, that is m >= 151. The last step is five later, and a chunk has about 13
  // steps.
  EXPECT_GE(result.timing.warm_up.steps, 151 + 5);
  EXPECT_LE(result.timing.warm_up.steps, 151 + 5 + 16);
  EXPECT_EQ(result.timing.warm_up.first, Seconds{1.5 * kStep});
  EXPECT_LT(result.timing.median.value, 1.1 * kStep);
}

TEST(Sampler, NoiseWithoutATrendEndsTheWarmUpInTime) {
  // Step times cycle through 0.96 to 1.05 of kStep: q90 - q10 is 7 %, but every ten steps have the same median.
  Bench bench{[](std::int64_t step) { return kStep * (0.96 + 0.01 * static_cast<double>(step % 10)); }};
  const SampleResult result = bench.run();
  EXPECT_TRUE(result.timing.warm_up.steady);
  const double warm_up_s = static_cast<double>(result.timing.warm_up.steps) * kStep;
  EXPECT_GE(warm_up_s, 0.95);
  EXPECT_LE(warm_up_s, 1.3);
  EXPECT_EQ(result.status, Status::kOk);
}

TEST(Sampler, StepsThatNeverSettleHitTheLimitsAndAreUnstable) {
  Bench bench{[](std::int64_t step) { return kStep * std::pow(1.01, static_cast<double>(step)); }};
  const SampleResult result = bench.run();
  EXPECT_FALSE(result.timing.warm_up.steady);
  EXPECT_EQ(result.status, Status::kUnstable);
  EXPECT_THAT(result.reason, HasSubstr("time limit"));
  EXPECT_EQ(result.timing.stop_reason, StopReason::kTimeLimit);
  EXPECT_GT(*result.timing.relative_half_width, 0.05);
  EXPECT_FALSE(result.timing.samples_s.empty());
  EXPECT_LE(result.elapsed.value, 15.0 + 8.0 + 5.0);
}

TEST(Sampler, BimodalStepsStopWhenTheSpreadHasSettled) {
  Bench bench{[](std::int64_t step) { return step % 2 == 0 ? kStep : 1.25 * kStep; }};
  const SampleResult result = bench.run();
  EXPECT_EQ(result.timing.stop_reason, StopReason::kSpreadSettled);
  EXPECT_EQ(result.status, Status::kOk);
  EXPECT_GT(*result.timing.relative_half_width, 0.05);
  EXPECT_EQ(*result.timing.relative_iqr * result.timing.median.value, 0.25 * kStep);
}

TEST(Sampler, TheSampleLimitEndsWhatNeitherSettlesNorRepeats) {
  // Step times swing by 40 % with an ever longer period, so neither the median nor the spread settles.
  Bench bench{
      [](std::int64_t step) { return kStep * (1.0 + 0.4 * std::sin(std::sqrt(static_cast<double>(step)) * 2.0)); }};
  bench.options.warm_up_limit = {2.0};
  bench.options.max_samples = 64;
  const SampleResult result = bench.run();
  EXPECT_EQ(result.timing.stop_reason, StopReason::kSampleLimit);
  EXPECT_EQ(result.timing.samples_s.size(), 64U);
  EXPECT_EQ(result.status, Status::kUnstable);
  EXPECT_THAT(result.reason, HasSubstr("sample limit"));
}

TEST(Sampler, LongStepsGiveEightSamplesInOneChunk) {
  Bench bench{[](std::int64_t) { return 2.0; }};
  const SampleResult result = bench.run();
  EXPECT_THAT(bench.timer.chunk_sizes, ElementsAre(1, 1, 1, 1, 1, 9));
  EXPECT_EQ(result.timing.warm_up, (WarmUp{.steps = 5, .first = Seconds{2.0}, .steady = true}));
  EXPECT_EQ(result.timing.samples_s, std::vector<double>(8, 2.0));
  EXPECT_EQ(result.timing.stop_reason, StopReason::kPrecise);
}

TEST(Sampler, VeryLongStepsStopAtTheLimitWithFewSamples) {
  Bench bench{[](std::int64_t) { return 20.0; }};
  const SampleResult result = bench.run();
  // The limit of 60 s allows three steps of 20 s. The first step is dropped, and one more is allowed for.
  EXPECT_THAT(bench.timer.chunk_sizes, ElementsAre(1, 5));
  EXPECT_FALSE(result.timing.warm_up.steady);  // a single step exceeded the limit of 15 s
  EXPECT_EQ(result.timing.samples_s.size(), 4U);
  EXPECT_EQ(result.timing.stop_reason, StopReason::kTimeLimit);
  EXPECT_FALSE(result.timing.relative_half_width.has_value());
  EXPECT_EQ(result.status, Status::kOk);  // all four samples are equal
}

TEST(Sampler, FixedCountsAreExact) {
  Bench bench{[](std::int64_t step) { return step < 3 ? 8 * kStep : kStep; }};
  bench.options.fixed_warm_up = 7;
  bench.options.fixed_samples = 37;
  const SampleResult result = bench.run();
  EXPECT_EQ(result.timing.warm_up, (WarmUp{.steps = 7, .first = Seconds{8 * kStep}, .steady = false}));
  EXPECT_EQ(result.timing.samples_s.size(), 37U);
  EXPECT_EQ(bench.timer.steps, 7 + 37);
  EXPECT_EQ(result.timing.stop_reason, StopReason::kFixedCount);
  EXPECT_EQ(result.status, Status::kOk);
}

TEST(Sampler, NoWarmUpAtAllKeepsTheVeryFirstSteps) {
  Bench bench{[](std::int64_t step) { return step == 0 ? 1.0 : kStep; }};
  bench.options.fixed_warm_up = 0;
  bench.options.fixed_samples = 5;
  const SampleResult result = bench.run();
  EXPECT_EQ(result.timing.warm_up, (WarmUp{.steps = 0, .first = std::nullopt, .steady = false}));
  EXPECT_THAT(result.timing.samples_s, ElementsAre(1.0, kStep, kStep, kStep, kStep));
  EXPECT_EQ(bench.timer.steps, 5);
}

TEST(Sampler, OneFixedSampleHasNoSpread) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.options.fixed_samples = 1;
  const SampleResult result = bench.run();
  EXPECT_EQ(result.timing.median, Seconds{kStep});
  EXPECT_FALSE(result.timing.standard_deviation.has_value());
  EXPECT_FALSE(result.timing.relative_iqr.has_value());
}

TEST(Sampler, PhasesAddUpToTheStep) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.subject.phase_names = {"forward", "backward", "optimizer"};
  const SampleResult result = bench.run();
  ASSERT_EQ(result.timing.phases.size(), 3U);
  EXPECT_EQ(result.timing.phases[0].name, "forward");
  EXPECT_DOUBLE_EQ(result.timing.phases[0].median.value, kStep / 6.0);
  EXPECT_EQ(result.timing.phases[1].name, "backward");
  EXPECT_DOUBLE_EQ(result.timing.phases[1].median.value, kStep / 3.0);
  EXPECT_EQ(result.timing.phases[2].name, "optimizer");
  EXPECT_DOUBLE_EQ(result.timing.phases[2].median.value, kStep / 2.0);
  EXPECT_DOUBLE_EQ(result.timing.median.value, kStep);
}

TEST(Sampler, HostTimesArePerStepOverAllSteps) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.timer.drain = Seconds{kStep * 4.0};
  const SampleResult result = bench.run();
  EXPECT_DOUBLE_EQ(result.timing.wall->value, kStep);
  EXPECT_DOUBLE_EQ(result.timing.drain->value, kStep * 4.0 / 16.0);
  EXPECT_DOUBLE_EQ(result.timing.enqueue.value, kStep * 12.0 / 16.0);
  EXPECT_DOUBLE_EQ(result.timing.cpu.value, kStep * 2.0);
  EXPECT_FALSE(result.timing.host_bound);
}

TEST(Sampler, AChunkThatEndsWithItsLastEnqueueIsHostBound) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.timer.drain = Seconds{kStep * 0.049};
  EXPECT_TRUE(bench.run().timing.host_bound);
  Bench other{[](std::int64_t) { return kStep; }};
  other.timer.drain = Seconds{kStep * 0.051};
  EXPECT_FALSE(other.run().timing.host_bound);
}

TEST(Sampler, DeviceStateComesFromTheReadings) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.monitor.watts = 640.0;
  bench.monitor.reading = [](std::int64_t read) {
    ClockReading reading = at_clock(read == 0 ? 1.98 : 1.96);
    reading.temperature_c = read == 0 ? 61.0 : 55.0;
    reading.power = Watts{read == 0 ? 500.0 : 700.0};
    reading.throttle_reasons = {"sw_power_cap"};
    return reading;
  };
  const SampleResult result = bench.run();
  EXPECT_EQ(bench.monitor.reads, 2);  // once per chunk of sampling, never in the warm-up
  EXPECT_EQ(result.device.clock_source, ClockSource::kChunk);
  EXPECT_DOUBLE_EQ(result.device.sm_clock_p50->value, 1.97e9);
  EXPECT_DOUBLE_EQ(result.device.sm_clock_p95->value, 1.979e9);
  EXPECT_DOUBLE_EQ(result.device.sm_clock_p5->value, 1.961e9);
  EXPECT_EQ(result.device.temperature_c, 61.0);
  EXPECT_EQ(result.device.power, Watts{600.0});
  EXPECT_FALSE(result.device.energy_per_step.has_value());  // half a second is too short for NVML's counter
  EXPECT_THAT(result.device.throttle_reasons, ElementsAre("sw_power_cap"));
  EXPECT_EQ(result.status, Status::kOk);  // a power cap is normal for a GPU under load
}

TEST(Sampler, EnergyIsOfAllStepsOfALongSampling) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.monitor.watts = 640.0;
  bench.options.sample_time = Seconds{2.0};
  bench.options.sample_limit = Seconds{4.0};
  bench.options.max_samples = 1 << 20;
  EXPECT_DOUBLE_EQ(bench.run().device.energy_per_step->value, 640.0 * kStep);  // dropped steps count too
}

TEST(Sampler, AFewSlowSamplesAreFlaggedAndKept) {
  Bench bench{[](std::int64_t step) { return step % 2 == 0 ? kStep : 1.25 * kStep; }};
  bench.monitor.reading = [](std::int64_t read) { return at_clock(read == 2 ? 1.70 : 1.98); };
  const SampleResult result = bench.run();
  EXPECT_EQ(result.status, Status::kOk);
  ASSERT_FALSE(result.timing.flagged_samples.empty());
  const std::size_t n = result.timing.samples_s.size();
  EXPECT_LE(result.timing.flagged_samples.size() * 5, n);
  // Only the samples of the third chunk are flagged.
  const std::size_t first = result.timing.flagged_samples.front();
  EXPECT_EQ(result.timing.flagged_samples.back() - first + 1, result.timing.flagged_samples.size());
  EXPECT_GT(first, 0U);
  EXPECT_THAT(bench.timer.waits, IsEmpty());
}

TEST(Sampler, SlowClocksThatStayAreThrottledAfterThreeTries) {
  Bench bench{[](std::int64_t step) { return step % 2 == 0 ? kStep : 1.25 * kStep; }};
  bench.monitor.reading = [](std::int64_t read) { return at_clock(read % 3 == 0 ? 1.50 : 1.98); };
  const SampleResult result = bench.run();
  EXPECT_EQ(result.status, Status::kThrottled);
  EXPECT_THAT(result.reason, HasSubstr("0.97 of the median SM clock"));
  EXPECT_FALSE(result.timing.samples_s.empty());
  EXPECT_THAT(bench.timer.waits, ElementsAre(0.05, 0.1, 0.2));
  EXPECT_THAT(bench.activities, Contains("cooling down"));
}

TEST(Sampler, HeatThatStaysIsThrottledAfterWaitsThatDoubleToTwoSeconds) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.monitor.reading = [](std::int64_t) {
    ClockReading reading = at_clock(1.98);
    reading.throttle_reasons = {"hw_thermal_slowdown"};
    reading.invalidates = true;
    return reading;
  };
  const SampleResult result = bench.run();
  EXPECT_EQ(result.status, Status::kThrottled);
  EXPECT_THAT(result.reason, HasSubstr("heat"));
  EXPECT_THAT(result.device.throttle_reasons, ElementsAre("hw_thermal_slowdown"));
  ASSERT_EQ(bench.timer.waits.size(), 18U);  // three attempts with six waits each
  EXPECT_DOUBLE_EQ(bench.timer.waits[0], 0.05);
  EXPECT_DOUBLE_EQ(bench.timer.waits[5], 1.6);
  EXPECT_DOUBLE_EQ(bench.timer.waits[6], 2.0);
  EXPECT_THAT(bench.timer.waits, Each(Le(2.0)));
}

TEST(Sampler, ADeviceThatCoolsDownIsSampledAgain) {
  Bench bench{[&bench](std::int64_t) { return bench.timer.waits.empty() ? 2 * kStep : kStep; }};
  bench.monitor.reading = [&bench](std::int64_t) {
    ClockReading reading = at_clock(1.98);
    reading.invalidates = bench.timer.waits.size() < 2;
    return reading;
  };
  const SampleResult result = bench.run();
  EXPECT_EQ(result.status, Status::kOk);
  EXPECT_THAT(bench.timer.waits, ElementsAre(0.05, 0.1));
  EXPECT_THAT(result.timing.samples_s, Each(kStep));  // no sample of the hot attempt remains
}

TEST(Sampler, AFixedCountIsNotSampledAgain) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.options.fixed_warm_up = 0;
  bench.options.fixed_samples = 10;
  bench.monitor.reading = [](std::int64_t) {
    ClockReading reading = at_clock(1.98);
    reading.invalidates = true;
    return reading;
  };
  const SampleResult result = bench.run();
  EXPECT_EQ(result.status, Status::kThrottled);
  EXPECT_EQ(bench.timer.steps, 10);
}

TEST(Sampler, WorkThatEscapesTheRegionIsIncorrect) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.timer.escaped = [](std::int64_t) { return Seconds{0.1}; };
  const SampleResult result = bench.run();
  EXPECT_EQ(result.status, Status::kIncorrect);
  EXPECT_EQ(result.reason,
            "the timed region does not contain the work: the device went on for 100 ms after the last event (chunk of "
            "15.6 ms)");
  EXPECT_THAT(result.timing.samples_s, IsEmpty());
  EXPECT_EQ(bench.timer.steps, 2);  // the first step, and one more as a confirmation
}

TEST(Sampler, EscapedWorkIsFoundWhileSamplingToo) {
  Bench bench{[](std::int64_t) { return kStep; }};
  // Chunks 0 to 4 are the warm-up. Work may continue for 12.5 ms after a chunk of 250 ms, for 1 ms after a single step.
  bench.timer.escaped = [](std::int64_t chunk) { return Seconds{chunk >= 5 ? 0.013 : chunk == 0 ? 0.0009 : 0.012}; };
  const SampleResult result = bench.run();
  EXPECT_EQ(result.status, Status::kIncorrect);
  EXPECT_THAT(result.reason, HasSubstr("13 ms after the last event (chunk of 250 ms)"));
}

TEST(Sampler, OneLateWakeUpOfTheHostIsForgiven) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.timer.escaped = [](std::int64_t chunk) { return Seconds{chunk == 2 || chunk == 7 ? 0.1 : 0.0005}; };
  const SampleResult result = bench.run();
  EXPECT_EQ(result.status, Status::kOk);
}

TEST(Sampler, TimesThatAreNoTimesAreIncorrect) {
  for (const double broken :
       {0.0, -kStep, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Bench bench{[broken](std::int64_t step) { return step == 90 ? broken : kStep; }};
    const SampleResult result = bench.run();
    EXPECT_EQ(result.status, Status::kIncorrect) << broken;
    EXPECT_THAT(result.reason, HasSubstr("positive and finite"));
  }
}

TEST(Sampler, AStopRequestInterruptsBetweenChunks) {
  for (const std::int64_t chunks : {0, 1, 3, 6}) {
    Bench bench{[](std::int64_t) { return kStep; }};
    bench.stop_after = chunks;
    EXPECT_THROW(bench.run(), Interrupted);
    EXPECT_EQ(static_cast<std::int64_t>(bench.timer.chunk_sizes.size()), chunks);
  }
}

TEST(Sampler, ACaseWithoutPhasesIsRefused) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.subject.phase_names = {};
  EXPECT_THROW(bench.run(), std::logic_error);
}

TEST(Sampler, WhatLaunchThrowsPassesThrough) {
  Bench bench{[](std::int64_t) { return kStep; }};
  bench.subject.on_launch = [](std::int64_t launch) {
    if (launch == 3) {
      throw std::runtime_error{"planted"};
    }
  };
  EXPECT_THROW(bench.run(), std::runtime_error);
}

}  // namespace
}  // namespace tbench::measure
