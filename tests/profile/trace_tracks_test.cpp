#include "profile/files/trace_tracks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint32_t> lanes_of(const std::vector<HostEvent>& events) {
  std::vector<std::uint32_t> lanes;
  for (const HostEvent& event : events) lanes.push_back(event.lane);
  return lanes;
}

TEST(HostEvents, ThatNestAreOneLaneAndComeOuterFirst) {
  const Trace trace = TraceWriter{}.range(4, 9, "in").call(4, 9, 1).range(0, 20, "out").call(9, 12, 2).take();
  const std::vector<HostEvent> events = host_events(trace);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].index, 1U);
  EXPECT_FALSE(events[1].is_call);
  EXPECT_TRUE(events[2].is_call);
  EXPECT_EQ(events[3].start_ns, 9);
  EXPECT_THAT(lanes_of(events), ElementsAre(0, 0, 0, 0));
}

TEST(HostEvents, ThatCutIntoOneAnotherAreApart) {
  const Trace trace = TraceWriter{}
                          .range(0, 10, "a")
                          .range(5, 15, "b")
                          .range(7, 20, "c")
                          .range(10, 12, "d")
                          .range(5, 15, "on another thread", 1)
                          .take();
  EXPECT_THAT(lanes_of(host_events(trace)), ElementsAre(0, 1, 0, 2, 0));
}

TEST(OperationLanes, OfAStreamThatDoesOneThingAtATimeAreOne) {
  const Trace trace = TraceWriter{}.kernel(0, 5, 1).kernel(5, 9, 2).kernel(2, 8, 3, "k", 8).take();
  EXPECT_THAT(operation_lanes(trace), ElementsAre(0, 0, 0));
}

TEST(OperationLanes, OfKernelsThatOverlapAreApart) {
  // The second operation begins before the first has ended, and another one lies inside the third. A track may not nest
  // operations.
  const Trace trace =
      TraceWriter{}.kernel(0, 10, 1).kernel(8, 20, 2).kernel(10, 15, 3).kernel(11, 12, 4).kernel(20, 30, 5).take();
  EXPECT_THAT(operation_lanes(trace), ElementsAre(0, 1, 0, 2, 0));
}

TEST(OperationLanes, TellDevicesAndProcessesApart) {
  Trace trace = TraceWriter{}.kernel(0, 10, 1).kernel(1, 10, 2, "k", 7, 1).kernel(2, 10, 3).take();
  trace.operations[2].process = 1;
  EXPECT_THAT(operation_lanes(trace), ElementsAre(0, 0, 0));
}

}  // namespace
}  // namespace tbench::profile
