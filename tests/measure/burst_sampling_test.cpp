// Tests the sampler's bursts on a simulated clock. Launches take multiples of 2^-20 s (about 1 us), so sums are exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "fakes.hpp"
#include "tbench/measure/sampler.hpp"

namespace tbench::measure {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kTick = 1.0 / (1 << 20);  // 0.95 us

struct Bench {
  explicit Bench(std::function<double(std::int64_t)> duration)
      : timer{std::move(duration)}, monitor{timer, [](std::int64_t) { return ClockReading{}; }} {
    timer.overhead = {64 * kTick};
  }

  SampleResult run() { return sample(subject, timer, monitor, options, {}, {}); }

  FakeCase subject;
  FakeTimer timer;
  FakeMonitor monitor;
  SamplerOptions options{burst_options()};
};

TEST(BurstSampling, ShortLaunchesShareASampleOfFiftyMicroseconds) {
  Bench bench{[](std::int64_t) { return 4 * kTick; }};
  const SampleResult result = bench.run();
  EXPECT_EQ(result.status, Status::kOk);
  EXPECT_EQ(result.timing.regime, Regime::kBurst);
  // A sample of 50 us plus a tenth has 57.7 ticks. One launch takes 4 ticks: 14.4 launches, rounded up to 15.
  EXPECT_EQ(result.timing.launches_per_sample, 15);
  EXPECT_GE(15 * 4 * kTick, 50e-6);
  EXPECT_THAT(result.timing.samples_s, Each(4 * kTick));
  EXPECT_GE(result.timing.samples_s.size(), 30U);
  EXPECT_EQ(result.timing.median, Seconds{4 * kTick});
  EXPECT_TRUE(result.timing.resolution_limited);
  EXPECT_FALSE(result.timing.host_bound);
}

TEST(BurstSampling, LongLaunchesAreAloneInASample) {
  Bench bench{[](std::int64_t) { return 1024 * kTick; }};
  const SampleResult result = bench.run();
  EXPECT_EQ(result.timing.launches_per_sample, 1);
  EXPECT_THAT(bench.timer.burst_launches, Each(1));
  EXPECT_FALSE(result.timing.resolution_limited);
  EXPECT_EQ(result.timing.stop_reason, StopReason::kPrecise);
}

TEST(BurstSampling, DutyIsTheShareInWhichLaunchesRan) {
  Bench bench{[](std::int64_t) { return 192 * kTick; }};
  bench.monitor.polled = [](Seconds at) { return PolledClock{.at = at, .sm_clock = {1.9e9}, .power = {}}; };
  const SampleResult result = bench.run();
  EXPECT_DOUBLE_EQ(result.timing.duty.value(), 192.0 / (192 + 64));  // the other 64 ticks are each burst's overhead
  EXPECT_EQ(bench.monitor.polls_begun, 0);                           // between bursts the device idles at a lower clock
}

TEST(BurstSampling, TenMicrosecondsAreTheResolution) {
  Bench below{[](std::int64_t) { return 10 * kTick; }};  // 9.54 us
  EXPECT_TRUE(below.run().timing.resolution_limited);
  Bench above{[](std::int64_t) { return 11 * kTick; }};  // 10.5 us
  EXPECT_FALSE(above.run().timing.resolution_limited);
}

TEST(BurstSampling, ModelStepsAreNeverResolutionLimited) {
  Bench bench{[](std::int64_t) { return kTick; }};
  bench.options = {};
  bench.options.warm_up_limit = {0.001};
  bench.options.sample_limit = {0.001};
  const Timing timing = bench.run().timing;
  EXPECT_EQ(timing.regime, Regime::kSustained);
  EXPECT_FALSE(timing.resolution_limited);
  EXPECT_EQ(timing.launches_per_sample, 1);
  EXPECT_FALSE(timing.l2.has_value());
  EXPECT_TRUE(timing.wall.has_value());
  EXPECT_THAT(bench.timer.bursts_begun, IsEmpty());
}

TEST(BurstSampling, CountsFollowWhatTheLaunchSettlesAt) {
  // The first 100 launches take twelve times as long as later ones. If a sample's size were chosen for them, later
  // samples would be too short.
  Bench bench{[](std::int64_t step) { return (step < 100 ? 24 : 2) * kTick; }};
  const SampleResult result = bench.run();
  EXPECT_EQ(bench.timer.burst_launches.front(), 3);  // 57.7 / 24 is 2.4
  EXPECT_EQ(result.timing.launches_per_sample, 29);  // 57.7 / 2 is 28.8
  EXPECT_EQ(result.timing.median, Seconds{2 * kTick});
}

TEST(BurstSampling, WarmsUpForATenthOfASecondAndSamplesForATenth) {
  Bench bench{[](std::int64_t) { return 512 * kTick; }};
  const SampleResult result = bench.run();
  EXPECT_TRUE(result.timing.warm_up.steady);
  EXPECT_EQ(result.timing.warm_up.first, Seconds{512 * kTick});
  // Warm-up and sampling may each exceed 0.1 s by one chunk, which has 0.02 s of launches and an eighth of overhead.
  EXPECT_GE(result.elapsed.value, 0.2);
  EXPECT_LE(result.elapsed.value, 0.2 + 2 * 0.0225);
  EXPECT_EQ(result.timing.warm_up.steps + std::ssize(result.timing.samples_s), bench.timer.steps);
}

TEST(BurstSampling, TheFirstLaunchesAreChainedToShowWhatEscapes) {
  Bench bench{[](std::int64_t) { return 512 * kTick; }};
  static_cast<void>(bench.run());
  const std::vector<std::int64_t>& sizes = bench.timer.chunk_sizes;
  ASSERT_GT(sizes.size(), bench.timer.burst_launches.size());
  // The chunks have one launch, three launches, and then 40, because 0.02 s hold 40.96.
  EXPECT_EQ(sizes.size() - bench.timer.burst_launches.size(), 3U);
  EXPECT_THAT(std::vector(sizes.begin(), sizes.begin() + 3), ElementsAre(1, 3, 40));
}

TEST(BurstSampling, WorkThatEscapesIsIncorrect) {
  Bench bench{[](std::int64_t) { return 16 * kTick; }};
  bench.timer.escaped = [](std::int64_t) { return Seconds{0.0011}; };
  const SampleResult chained = bench.run();
  EXPECT_EQ(chained.status, Status::kIncorrect);
  EXPECT_THAT(chained.reason, HasSubstr("after the last event (chunk of"));

  Bench later{[](std::int64_t) { return 16 * kTick; }};
  later.timer.escaped = [](std::int64_t chunk) { return Seconds{chunk > 5 ? 0.0011 : 0.0}; };
  const SampleResult burst = later.run();
  EXPECT_EQ(burst.status, Status::kIncorrect);
  // 57.7 / 16 is 3.6, so a burst has 4 launches: 64 ticks.
  EXPECT_THAT(burst.reason, HasSubstr("after the last event (burst of 0.061 ms)"));
  EXPECT_EQ(later.timer.bursts_ended, 1);
}

TEST(BurstSampling, ColdBurstsFlushAndWarmOnesDoNot) {
  for (const L2State l2 : {L2State::kCold, L2State::kWarm}) {
    Bench bench{[](std::int64_t) { return 64 * kTick; }};
    bench.options.l2 = l2;
    const SampleResult result = bench.run();
    EXPECT_EQ(result.timing.l2, l2);
    ASSERT_THAT(bench.timer.bursts_begun, SizeIs(1));
    EXPECT_EQ(bench.timer.bursts_begun[0].flush_l2, l2 == L2State::kCold);
    EXPECT_EQ(bench.timer.bursts_begun[0].phases, 1U);
    EXPECT_EQ(bench.timer.bursts_ended, 1);
  }
}

TEST(BurstSampling, WithoutAFlushTheCacheIsNotSpokenOf) {
  Bench bench{[](std::int64_t) { return 64 * kTick; }};
  bench.timer.flushes = false;
  const SampleResult result = bench.run();
  EXPECT_FALSE(result.timing.l2.has_value());
  ASSERT_THAT(bench.timer.bursts_begun, SizeIs(1));
  EXPECT_FALSE(bench.timer.bursts_begun[0].flush_l2);
}

TEST(BurstSampling, MemoryIsGivenBackAfterAnExceptionToo) {
  Bench bench{[](std::int64_t) { return 64 * kTick; }};
  bench.subject.on_launch = [](std::int64_t launch) {
    if (launch == 100) {
      throw std::runtime_error{"planted"};
    }
  };
  EXPECT_THROW(static_cast<void>(bench.run()), std::runtime_error);
  EXPECT_EQ(bench.timer.bursts_ended, 1);
}

TEST(BurstSampling, FixedCountsAreLaunchesOfWarmUpAndSamples) {
  for (const std::int64_t warm_up : {1, 2, 7, 30, 200}) {
    Bench bench{[](std::int64_t) { return 8 * kTick; }};
    bench.options.fixed_warm_up = warm_up;
    bench.options.fixed_samples = 9;
    const SampleResult result = bench.run();
    EXPECT_EQ(result.timing.warm_up.steps, warm_up);
    EXPECT_EQ(result.timing.launches_per_sample, 8);  // 57.7 / 8 is 7.2
    EXPECT_EQ(result.timing.samples_s.size(), 9U);
    EXPECT_EQ(bench.timer.steps, warm_up + std::int64_t{9} * 8);
    EXPECT_EQ(result.timing.stop_reason, StopReason::kFixedCount);
  }
}

TEST(BurstSampling, NoWarmUpAtAllLeavesOneLaunchASample) {
  Bench bench{[](std::int64_t) { return 8 * kTick; }};
  bench.options.fixed_warm_up = 0;
  bench.options.fixed_samples = 3;
  const SampleResult result = bench.run();
  EXPECT_EQ(result.timing.warm_up, (WarmUp{.steps = 0, .first = std::nullopt, .steady = false}));
  EXPECT_EQ(result.timing.launches_per_sample, 1);  // without a warm-up, the launch's duration is not known
  EXPECT_EQ(bench.timer.steps, 3);
}

TEST(BurstSampling, NeverMoreThanTwoThousandSamples) {
  Bench bench{[](std::int64_t step) { return (step % 2 == 0 ? 64 : 512) * kTick; }};
  bench.options.precise_half_width = 0.0;
  bench.options.sample_time = {10.0};  // too long for the spread to stop the sampling
  const SampleResult result = bench.run();
  EXPECT_EQ(result.timing.stop_reason, StopReason::kSampleLimit);
  EXPECT_EQ(result.timing.samples_s.size(), 2000U);
}

TEST(BurstSampling, WhatTheSpinCouldNotHideIsHostBound) {
  Bench bench{[](std::int64_t) { return 64 * kTick; }};
  bench.timer.exposed = true;
  EXPECT_TRUE(bench.run().timing.host_bound);
}

TEST(BurstSampling, HostTimesOfFlushesAndSpinsAreNotTold) {
  Bench bench{[](std::int64_t) { return 4 * kTick; }};
  bench.monitor.watts = 500.0;
  const SampleResult result = bench.run();
  EXPECT_FALSE(result.timing.wall.has_value());
  EXPECT_FALSE(result.timing.drain.has_value());
  EXPECT_FALSE(result.device.energy_per_step.has_value());
  EXPECT_DOUBLE_EQ(result.timing.cpu.value, 8 * kTick);  // CPU time per launch: in the fake, twice its time
}

TEST(BurstSampling, PhasesAddUpToTheLaunch) {
  Bench bench{[](std::int64_t) { return 12 * kTick; }};
  bench.subject.phase_names = {"forward", "backward"};
  const SampleResult result = bench.run();
  EXPECT_EQ(result.timing.launches_per_sample, 5);  // 57.7 / 12 is 4.8
  ASSERT_EQ(result.timing.phases.size(), 2U);
  EXPECT_DOUBLE_EQ(result.timing.phases[0].median.value, 4 * kTick);
  EXPECT_DOUBLE_EQ(result.timing.phases[1].median.value, 8 * kTick);
  EXPECT_EQ(bench.timer.bursts_begun.at(0).phases, 2U);
}

}  // namespace
}  // namespace tbench::measure
