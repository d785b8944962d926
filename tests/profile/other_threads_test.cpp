#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/device_time.hpp"
#include "profile/ranges.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::ElementsAre;

RangeTree placed(const Trace& trace) {
  RangeTree tree = range_tree(trace);
  place_by_time(trace, launching_calls(trace), tree);
  return tree;
}

/// Thread 0 launches in FORWARD and waits in BACKWARD. There, thread 1 makes `count` launches from 110 on.
TraceWriter with_backward(std::uint32_t count) {
  TraceWriter writer;
  writer.range(0, 100, "FORWARD").range(100, 200, "BACKWARD").call(10, 11, 1).kernel(12, 20, 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int64_t at = 110 + std::int64_t{10} * i;
    writer.call(at, at + 1, 2 + i, 1).kernel(at + 2, at + 8, 2 + i);
  }
  return writer;
}

TEST(PlaceByTime, LaunchesOfAnotherThreadAreOfTheRangeThatWasOpen) {
  const RangeTree tree = placed(with_backward(2).take());
  EXPECT_THAT(tree.range_of_call, ElementsAre(0, 1, 1));
  EXPECT_THAT(tree.is_by_time, ElementsAre(false, true, true));
}

TEST(PlaceByTime, OutsideOfAnyRangeThereIsNone) {
  const RangeTree tree = placed(with_backward(1).call(195, 205, 9, 1).kernel(206, 207, 9).take());
  EXPECT_THAT(tree.range_of_call, ElementsAre(0, 1, kNone));
}

TEST(PlaceByTime, AnotherProcessHasItsOwnTime) {
  Trace trace = with_backward(1).take();
  trace.threads[1].process = 1;
  for (Operation& operation : trace.operations) operation.process = operation.correlation == 1 ? 0 : 1;
  const RangeTree tree = placed(trace);
  EXPECT_THAT(tree.range_of_call, ElementsAre(0, kNone));
}

TEST(PlaceByTime, OnlyLaunchesArePlaced) {
  const RangeTree tree = placed(with_backward(1).call(150, 151, 9, 1).take());
  EXPECT_THAT(tree.range_of_call, ElementsAre(0, 1, kNone));
}

/// torch.autograd.profiler.emit_nvtx makes such ranges.
TEST(PlaceByTime, TheRangesOfTheOtherThreadAreInsideOfIt) {
  const Trace trace = with_backward(1).range(105, 180, "AddmmBackward", 1).range(109, 115, "aten::mm", 1).take();
  const RangeTree tree = placed(trace);
  EXPECT_THAT(tree.parent_of_range, ElementsAre(kNone, kNone, 1, 2));
  EXPECT_THAT(tree.range_of_call, ElementsAre(0, 3));
  EXPECT_THAT(tree.is_by_time, ElementsAre(false, true));
}

TEST(PlaceByTime, APhaseOfBothThreadsIsNotInsideOfItself) {
  const RangeTree tree = placed(with_backward(1).range(105, 180, "BACKWARD", 1).take());
  EXPECT_THAT(tree.parent_of_range, ElementsAre(kNone, kNone, kNone));
  EXPECT_THAT(tree.is_by_time, ElementsAre(false, false));
}

TEST(PlaceByTime, EqualRangesOfTwoThreadsAreNotAroundEachOther) {
  const RangeTree tree = placed(TraceWriter{}
                                    .range(0, 9, "a", 0)
                                    .range(0, 9, "b", 1)
                                    .call(1, 2, 1, 0)
                                    .kernel(3, 4, 1)
                                    .call(5, 6, 2, 1)
                                    .kernel(7, 8, 2)
                                    .take());
  EXPECT_THAT(tree.parent_of_range, ElementsAre(kNone, 0));
}

/// A thread that fetches data copies between the launches of FORWARD.
TraceWriter at_the_same_time(bool is_of_process) {
  TraceWriter writer;
  writer.range(0, 100, "FORWARD");
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::int64_t at = std::int64_t{20} * i;
    writer.call(at, at + 1, 2 * i, 0).kernel(at + 2, at + 8, 2 * i);
    writer.call(at + 10, at + 11, 2 * i + 1, 1).kernel(at + 12, at + 18, 2 * i + 1);
  }
  if (is_of_process) writer.start_range(0, 100, "step");
  return writer;
}

TEST(PlaceByTime, AThreadThatLaunchesMeanwhileDoesNotWait) {
  EXPECT_THAT(placed(at_the_same_time(false).take()).is_by_time, testing::Each(false));
}

TEST(PlaceByTime, ARangeWithAStartAndAnEndIsAroundEveryThread) {
  Trace trace = at_the_same_time(true).take();
  std::swap(trace.ranges[0], trace.ranges[1]);  // `step` encloses FORWARD
  const RangeTree tree = placed(trace);
  EXPECT_THAT(tree.parent_of_range, ElementsAre(kNone, 0));
  EXPECT_THAT(tree.range_of_call, ElementsAre(1, 0, 1, 0, 1, 0, 1, 0));
}

TEST(PlaceByTime, OfTwoThreadsTheOneThatLaunchesCounts) {
  Trace trace = with_backward(2).range(105, 190, "load", 2).take();
  trace.threads.push_back({.process = 0, .id = 102});
  EXPECT_THAT(placed(trace).range_of_call, ElementsAre(0, 1, 1));
}

TEST(PlaceByTime, OfTwoThatOverlapNobodyCanTell) {
  Trace trace = with_backward(2).range(90, 160, "other", 2).call(95, 96, 8, 2).kernel(97, 98, 8).take();
  trace.threads.push_back({.process = 0, .id = 102});
  EXPECT_THAT(placed(trace).range_of_call, ElementsAre(0, kNone, kNone, 2));
}

TEST(PlaceByTime, ItIsCountedAndSaid) {
  const Profile profile = analyse(with_backward(3).take(), KernelRules::built_in());
  ASSERT_EQ(profile.phases.size(), 2U);
  EXPECT_EQ(profile.phases[1].name, "BACKWARD");
  EXPECT_EQ(profile.phases[1].kernels, 3);
  EXPECT_EQ(profile.phases[1].operations_by_time, 3);
  EXPECT_EQ(profile.phases[0].operations_by_time, 0);
  EXPECT_EQ(profile.phases[1].span_ns, 26);
  EXPECT_EQ(profile.operations_by_time, 3);
  EXPECT_EQ(profile.operations_by_time_ns, 18);
  EXPECT_EQ(profile.operations_without_range, 0);
}

}  // namespace
}  // namespace tbench::profile
