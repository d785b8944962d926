#include "tbench/measure/timer.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tbench::measure {
namespace {

void busy_for(const Timer& timer, double seconds) {
  const Seconds end = timer.now() + Seconds{seconds};
  while (timer.now() < end) {
  }
}

TEST(SteadyClockTimer, TimesEachPhaseOfEachStep) {
  SteadyClockTimer timer;
  timer.prepare(3, 2);
  const Chunk chunk = timer.time_steps(3,
                                       [&](PhaseMarker& marker) {
                                         busy_for(timer, 0.002);
                                         marker.mark();
                                         busy_for(timer, 0.004);
                                         marker.mark();
                                       },
                                       {});
  ASSERT_EQ(chunk.phases, 2U);
  ASSERT_EQ(chunk.steps(), 3U);
  double sum = 0.0;
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT_GE(chunk.phase_seconds[step * 2], 0.002);
    EXPECT_GE(chunk.phase_seconds[step * 2 + 1], 0.004);
    EXPECT_DOUBLE_EQ(chunk.step_seconds(step), chunk.phase_seconds[step * 2] + chunk.phase_seconds[step * 2 + 1]);
    sum += chunk.step_seconds(step);
  }
  EXPECT_GE(chunk.wall.value, sum);
  EXPECT_LT(chunk.wall.value - sum, 0.001);
  EXPECT_EQ(chunk.enqueue, Seconds{});
  EXPECT_EQ(chunk.escaped, Seconds{});
  EXPECT_GT(chunk.cpu.value, 0.0);
  EXPECT_THROW(static_cast<void>(chunk.step_seconds(3)), std::out_of_range);
}

TEST(SteadyClockTimer, ReadsClocksOutsideTheTimes) {
  SteadyClockTimer timer;
  timer.prepare(1, 1);
  int reads = 0;
  const Chunk chunk = timer.time_steps(
      1, [](PhaseMarker& marker) { marker.mark(); },
      [&] {
        busy_for(timer, 0.05);
        ++reads;
      });
  EXPECT_EQ(reads, 1);
  EXPECT_LT(chunk.wall.value, 0.05);
}

TEST(SteadyClockTimer, AStepMustMarkEachPhaseOnce) {
  for (const int marks : {0, 1, 3}) {
    SteadyClockTimer timer;
    timer.prepare(2, 2);
    const Step step = [marks](PhaseMarker& marker) {
      for (int i = 0; i < marks; ++i) {
        marker.mark();
      }
    };
    EXPECT_THROW(static_cast<void>(timer.time_steps(2, step, {})), std::logic_error) << marks;
  }
}

TEST(SteadyClockTimer, WaitsAtLeastAsLongAsAsked) {
  SteadyClockTimer timer;
  const Seconds begin = timer.now();
  timer.wait({0.01});
  EXPECT_GE((timer.now() - begin).value, 0.01);
}

TEST(SteadyClockTimer, ABurstIsTheMeanOfItsLaunches) {
  SteadyClockTimer timer;
  EXPECT_FALSE(timer.can_flush_l2());
  timer.begin_bursts({.phases = 2});
  int launches = 0;
  const Chunk chunk = timer.time_bursts(2, 3,
                                        [&](PhaseMarker& marker) {
                                          // 1, 2 and 3 ms in the first burst, and 4, 5 and 6 ms in the second
                                          busy_for(timer, 0.001 * ++launches);
                                          marker.mark();
                                          busy_for(timer, 0.001);
                                          marker.mark();
                                        },
                                        {});
  EXPECT_EQ(launches, 6);
  EXPECT_EQ(chunk.launches, 3U);
  ASSERT_EQ(chunk.steps(), 2U);
  EXPECT_GE(chunk.phase_seconds[0], 0.002);
  EXPECT_GE(chunk.phase_seconds[1], 0.001);
  EXPECT_GE(chunk.phase_seconds[2], 0.005);
  EXPECT_GE(chunk.phase_seconds[3], 0.001);
  EXPECT_FALSE(chunk.exposed);
  // The phases are means, not sums: `wall` includes all three launches of each burst.
  EXPECT_GE(chunk.wall.value, 3 * (chunk.step_seconds(0) + chunk.step_seconds(1)) - 1e-9);
}

TEST(SteadyClockTimer, WhatACheckerDoesIsNotTimed) {
  SteadyClockTimer timer;
  struct SlowChecker final : LaunchChecker {
    explicit SlowChecker(const Timer& by) : timer{by} {}
    void begin() override {}
    void redraw() override { busy_for(timer, 0.01); }
    void perturb() override { busy_for(timer, 0.01); }
    void after() override { busy_for(timer, 0.02); }
    Verification verdict() override { return {}; }
    const Timer& timer;
  } checker{timer};
  timer.begin_bursts({.phases = 2, .checker = &checker});
  const Chunk chunk = timer.time_bursts(2, 1,
                                        [&](PhaseMarker& marker) {
                                          busy_for(timer, 0.001);
                                          marker.mark();
                                          busy_for(timer, 0.002);
                                          marker.mark();
                                        },
                                        {});
  ASSERT_EQ(chunk.steps(), 2U);
  for (std::size_t burst = 0; burst < 2; ++burst) {
    EXPECT_GE(chunk.phase_seconds[2 * burst], 0.001);
    EXPECT_LT(chunk.phase_seconds[2 * burst], 0.02);
    EXPECT_GE(chunk.phase_seconds[2 * burst + 1], 0.002);
    EXPECT_LT(chunk.phase_seconds[2 * burst + 1], 0.02);
  }
  EXPECT_GE(chunk.wall.value, 2 * 0.04);
}

TEST(SteadyClockTimer, BurstsNeedABeginAndCannotFlush) {
  SteadyClockTimer timer;
  const Step launch = [](PhaseMarker& marker) { marker.mark(); };
  EXPECT_THROW(static_cast<void>(timer.time_bursts(1, 1, launch, {})), std::logic_error);
  EXPECT_THROW(timer.begin_bursts({.phases = 1, .flush_l2 = true}), std::logic_error);
  timer.begin_bursts({.phases = 1});
  EXPECT_THROW(static_cast<void>(timer.time_bursts(0, 1, launch, {})), std::logic_error);
  EXPECT_THROW(static_cast<void>(timer.time_bursts(1, 0, launch, {})), std::logic_error);
  EXPECT_EQ(timer.time_bursts(1, 1, launch, {}).steps(), 1U);
  timer.end_bursts();
  EXPECT_THROW(static_cast<void>(timer.time_bursts(1, 1, launch, {})), std::logic_error);
}

}  // namespace
}  // namespace tbench::measure
