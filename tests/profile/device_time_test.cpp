#include "profile/device_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::ElementsAre;

TEST(LaunchingCalls, AreThoseWithTheOperationsCorrelation) {
  const Trace trace = TraceWriter{}
                          .call(10, 12, 5)
                          .call(0, 2, 3)
                          .kernel(20, 21, 3)
                          .kernel(30, 31, 5)
                          .kernel(40, 41, 4)
                          .kernel(50, 51, 3)
                          .kernel(60, 61, 9)
                          .kernel(70, 71, 0)
                          .take();
  EXPECT_THAT(launching_calls(trace), ElementsAre(1, 0, kNone, 1, kNone, kNone));
}

TEST(LaunchingCalls, AreTheOutermostAndOfTheSameProcess) {
  Trace trace = TraceWriter{}
                    .call(11, 12, 5, 0, "cuLaunchKernel")
                    .call(10, 13, 5, 0, "cudaLaunchKernel")
                    .call(9, 14, 5, 1)
                    .kernel(20, 21, 5)
                    .kernel(30, 31, 5)
                    .take();
  trace.threads[1].process = 1;
  trace.operations[1].process = 1;
  EXPECT_THAT(launching_calls(trace), ElementsAre(1, 2));
}

/// The search starts where the last one ended. This order has every distance in both directions.
TEST(LaunchingCalls, AreFoundInAnyOrder) {
  TraceWriter writer;
  constexpr std::uint32_t kCount = 101;
  for (std::uint32_t i = 0; i < kCount; ++i) writer.call(i, i + 1, 2 * i);
  for (std::uint32_t i = 0; i < kCount; ++i) writer.kernel(1000 + i, 1001 + i, i * 37 % kCount * 2);
  const auto calls = launching_calls(writer.take());
  for (std::uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(calls[i], i * 37 % kCount);
}

TEST(LaunchingCalls, OfAnEmptyTrace) { EXPECT_THAT(launching_calls(Trace{}), ElementsAre()); }

DeviceTime time_of(const Trace& trace, Window window) {
  return device_time(trace, launching_calls(trace), 0, 0, window);
}

TEST(BusyTime, IsTheLengthOfAUnion) {
  BusyTime busy;
  busy.add(0, 10);
  busy.add(5, 8);    // inside an earlier interval
  busy.add(8, 12);   // 2 ns more
  busy.add(12, 14);  // 2 ns more
  busy.add(20, 25);  // 5 ns more
  busy.add(20, 20);
  EXPECT_EQ(busy.total_ns(), 10 + 2 + 2 + 5);
}

/// Busy from 20 to 220: 20..60, 62..82, 100..140, 150..180, 200..210, 215..220. This is 40 + 20 + 40 + 30 + 10 + 5 =
/// 145 of 200.
TEST(DeviceTime, OfAStep) {
  const Trace trace = one_step();
  const DeviceTime time = time_of(trace, {20, 220});
  EXPECT_EQ(time.span_ns, 200);
  EXPECT_EQ(time.busy_ns, 145);
  // The gaps 60..62, 82..100, 140..150 and 180..200 come before calls that began earlier: call 3 at 35, call 4 at 55,
  // call 5 at 115, and call 7 at 160. None of these gaps waited for the host.
  EXPECT_EQ(time.gaps.host_ns, 0);
  EXPECT_EQ(time.gaps.device_ns, 2 + 18 + 10 + 20);
  EXPECT_EQ(time.gaps.other_ns, 5);  // 210..215: the launch of the next operation is not known
  EXPECT_EQ(time.gaps.longest_ns, 20);
  EXPECT_EQ(time.gaps.count, 5);
  EXPECT_EQ(time.busy_ns + time.gaps.total_ns(), time.span_ns);
  EXPECT_EQ(time.kernels, 7);
  EXPECT_EQ(time.launches, 6);
  EXPECT_FALSE(time.host_bound());
  EXPECT_DOUBLE_EQ(time.idle_share(), 55.0 / 200);
}

/// The queue is empty if the next call begins after the previous operation has ended.
TEST(DeviceTime, AGapIsTheHostsWhereTheQueueWasEmpty) {
  const Trace trace = TraceWriter{}
                          .call(0, 5, 1)
                          .call(50, 55, 2)    // exactly at the end of kernel 1: the queue was not yet empty
                          .call(101, 105, 3)  // 1 ns after the end of kernel 2
                          .kernel(10, 50, 1)
                          .kernel(60, 100, 2)
                          .kernel(110, 150, 3)
                          .take();
  const DeviceTime time = time_of(trace, {10, 150});
  EXPECT_EQ(time.gaps.device_ns, 10);
  EXPECT_EQ(time.gaps.host_ns, 10);
  EXPECT_TRUE(time.host_bound());                        // 10 > 5 % of 140 = 7
  EXPECT_FALSE(time_of(trace, {10, 300}).host_bound());  // 10 < 5 % of 290 = 14.5
}

TEST(DeviceTime, HostBoundIsOverFivePercent) {
  DeviceTime time{.span_ns = 1000, .gaps = {.host_ns = 50}};
  EXPECT_FALSE(time.host_bound());
  time.gaps.host_ns = 51;
  EXPECT_TRUE(time.host_bound());
  EXPECT_FALSE(DeviceTime{}.host_bound());
  EXPECT_EQ(DeviceTime{}.idle_share(), 0);
}

TEST(DeviceTime, TheReplayOfAGraphIsOneLaunch) {
  const Trace trace = TraceWriter{}
                          .call(0, 5, 1, 0, "cudaGraphLaunch")
                          .call(60, 65, 2, 0, "cudaGraphLaunch")
                          .kernel(10, 20, 1)
                          .kernel(21, 30, 1)
                          .kernel(32, 40, 1)
                          .kernel(70, 80, 2)
                          .kernel(81, 90, 2)
                          .take();
  const DeviceTime time = time_of(trace, {10, 90});
  EXPECT_EQ(time.kernels, 5);
  EXPECT_EQ(time.launches, 2);
  EXPECT_EQ(time.gaps.device_ns, 1 + 2 + 1);
  EXPECT_EQ(time.gaps.host_ns, 30);
}

TEST(DeviceTime, AWindowCutsWhatReachesOverItsEnds) {
  const Trace trace = one_step();
  const DeviceTime time = time_of(trace, {55, 160});  // 62..82, 100..140, 150..160
  EXPECT_EQ(time.busy_ns, 20 + 40 + 10);
  EXPECT_EQ(time.gaps.device_ns, 7 + 18 + 10);  // 55..62: call 3 began at 35
  EXPECT_EQ(time.gaps.total_ns(), 105 - 70);
  EXPECT_EQ(time.kernels, 3);
  const DeviceTime after = time_of(trace, {300, 400});
  EXPECT_EQ(after.busy_ns, 0);
  EXPECT_EQ(after.gaps.other_ns, 100);
}

TEST(DeviceTimes, AreEachDevicesOwn) {
  const Trace trace = TraceWriter{}.kernel(10, 50, 1, "k", 7, 1).kernel(20, 30, 2).kernel(40, 60, 3).take();
  const auto times = device_times(trace, launching_calls(trace));
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].device, 0);
  EXPECT_EQ(times[0].span_ns, 40);
  EXPECT_EQ(times[0].busy_ns, 30);
  EXPECT_EQ(times[1].device, 1);
  EXPECT_EQ(times[1].span_ns, 40);
  EXPECT_EQ(times[1].busy_ns, 40);
  EXPECT_TRUE(device_times(Trace{}, {}).empty());
}

}  // namespace

}  // namespace tbench::profile
