// Tests how the sampler uses the polled clock, on a simulated clock.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>

#include "fakes.hpp"
#include "tbench/measure/sampler.hpp"

namespace tbench::measure {
namespace {

constexpr double kStep = 1.0 / 64.0;  // a regular chunk is 0.25 s = 16 steps, and the warm-up has 65

struct Bench {
  SampleResult run() { return sample(subject, timer, monitor, {}, {}, {}); }

  FakeCase subject;
  FakeTimer timer{[](std::int64_t) { return kStep; }};
  FakeMonitor monitor{timer, [](std::int64_t) {
                        ClockReading reading;
                        reading.sm_clock = Hertz{1.5e9};
                        return reading;
                      }};
};

/// Returns 1.9 GHz and 100 W, but 1.2 GHz and 700 W within the first step of every chunk of 16. That step gives no
/// sample.
PolledClock slow_in_dropped_steps(Seconds at) {
  const double sampling_begin = 65 * kStep;
  const double in_chunk = std::fmod(at.value - sampling_begin, 16 * kStep);
  const bool is_dropped = in_chunk < kStep;
  return {.at = at, .sm_clock = {is_dropped ? 1.2e9 : 1.9e9}, .power = Watts{is_dropped ? 700.0 : 100.0}};
}

TEST(ClockPolling, APolledClockIsThatOfTheSamplesAlone) {
  Bench bench;
  bench.monitor.polled = &slow_in_dropped_steps;
  const SampleResult result = bench.run();
  EXPECT_EQ(bench.monitor.polling_since, Seconds{65 * kStep});  // the clock during the warm-up does not count
  EXPECT_EQ(bench.monitor.polls_begun, 1);
  EXPECT_EQ(bench.monitor.polls_ended, 1);
  EXPECT_EQ(result.device.clock_source, ClockSource::kPolled);
  EXPECT_EQ(result.device.sm_clock_p5, Hertz{1.9e9});
  EXPECT_EQ(result.device.sm_clock_p50, Hertz{1.9e9});
  EXPECT_DOUBLE_EQ(result.device.sm_clock_mean.value().value, 1.9e9);
  EXPECT_DOUBLE_EQ(result.device.power.value().value, 100);
}

TEST(ClockPolling, CountedCyclesAreOfAllChunks) {
  Bench bench;
  bench.timer.clock_of_chunk = [](std::int64_t chunk) { return chunk % 2 == 0 ? 1.4e9 : 1.6e9; };
  const SampleResult result = bench.run();
  // After the warm-up, the numbers of chunks at the two clocks differ by at most one.
  EXPECT_NEAR(result.device.sm_clock_counted.value().value, 1.5e9, 0.02e9);
  EXPECT_EQ(result.device.mean_sm_clock(), result.device.sm_clock_counted);
  bench.timer.clock_of_chunk = {};
  const SampleResult uncounted = bench.run();
  EXPECT_FALSE(uncounted.device.sm_clock_counted.has_value());
  EXPECT_EQ(uncounted.device.mean_sm_clock(), uncounted.device.sm_clock_p50);
}

TEST(ClockPolling, SamplesBetweenTwoPollsLeaveTheReadingsOfChunks) {
  Bench bench;
  bench.monitor.polled = [](Seconds at) {
    return PolledClock{.at = at + Seconds{10}, .sm_clock = {1.9e9}, .power = {}};
  };
  const SampleResult result = bench.run();
  EXPECT_EQ(result.device.clock_source, ClockSource::kChunk);
  EXPECT_EQ(result.device.sm_clock_p50, Hertz{1.5e9});
  EXPECT_FALSE(result.device.sm_clock_mean.has_value());
}

TEST(ClockPolling, PollingEndsWithAnExceptionToo) {
  Bench bench;
  bench.subject.on_launch = [](std::int64_t launch) {
    if (launch == 70) throw std::runtime_error{"lost the device"};
  };
  EXPECT_THROW(bench.run(), std::runtime_error);
  EXPECT_EQ(bench.monitor.polls_begun, 1);
  EXPECT_EQ(bench.monitor.polls_ended, 1);
}

}  // namespace
}  // namespace tbench::measure
