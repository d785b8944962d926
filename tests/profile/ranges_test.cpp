#include "profile/ranges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profile/device_time.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::ElementsAre;

TEST(RangeTree, OfAStep) {
  const RangeTree tree = range_tree(one_step());
  EXPECT_THAT(tree.parent_of_range, ElementsAre(kNone, 0, 1, 0, kNone));
  EXPECT_THAT(tree.range_of_call, ElementsAre(2, 2, 1, 3, 4, 4, kNone));
}

TEST(RangeTree, ACallBelongsToTheInnermostRangeThatHoldsItWhole) {
  const RangeTree tree = range_tree(TraceWriter{}
                                        .range(0, 100, "outer")
                                        .range(10, 20, "inner")
                                        .call(10, 20, 1)   // as long as the range
                                        .call(15, 21, 2)   // extends beyond its end
                                        .call(90, 101, 3)  // extends beyond both
                                        .call(200, 201, 4)
                                        .take());
  EXPECT_THAT(tree.range_of_call, ElementsAre(1, 0, kNone, kNone));
}

TEST(RangeTree, AThreadHasItsOwnRanges) {
  const RangeTree tree = range_tree(TraceWriter{}
                                        .range(0, 100, "a", 0)
                                        .range(10, 90, "b", 1)
                                        .call(20, 21, 1, 0)
                                        .call(22, 23, 2, 1)
                                        .call(5, 6, 3, 1)
                                        .take());
  EXPECT_THAT(tree.parent_of_range, ElementsAre(kNone, kNone));
  EXPECT_THAT(tree.range_of_call, ElementsAre(0, 1, kNone));
}

/// Ranges that have a start and an end may overlap.
TEST(RangeTree, RangesMayOverlap) {
  const RangeTree tree = range_tree(TraceWriter{}
                                        .range(0, 50, "a")
                                        .range(10, 80, "b")
                                        .call(20, 21, 1)
                                        .call(60, 61, 2)
                                        .call(40, 55, 3)
                                        .range(60, 70, "c")
                                        .take());
  EXPECT_THAT(tree.parent_of_range, ElementsAre(kNone, kNone, 1));
  EXPECT_THAT(tree.range_of_call, ElementsAre(1, 2, 1));
}

TEST(RangeTree, AnEarlierOneHoldsAnEqualOne) {
  const RangeTree tree = range_tree(TraceWriter{}.range(0, 9, "a").range(0, 9, "b").call(0, 9, 1).take());
  EXPECT_THAT(tree.parent_of_range, ElementsAre(kNone, 0));
  EXPECT_THAT(tree.range_of_call, ElementsAre(1));
}

/// A program nests ranges this deeply if it starts one in each step and never ends it.
TEST(RangeTree, IsOfALimitedDepth) {
  TraceWriter writer;
  constexpr std::int64_t kCount = 1000;
  for (std::int64_t i = 0; i < kCount; ++i) {
    writer.range(10 * i, 10 * kCount, "step").call(10 * i + 1, 10 * i + 2, static_cast<std::uint32_t>(i));
  }
  const RangeTree tree = range_tree(writer.take());
  std::size_t deepest = 0;
  for (Index range = 0; range < kCount; ++range) {
    std::size_t depth = 0;
    for (Index outer = range; outer != kNone; outer = tree.parent_of_range[outer]) ++depth;
    deepest = std::max(deepest, depth);
    EXPECT_EQ(tree.range_of_call[range], range);
  }
  EXPECT_EQ(deepest, 64U);
  EXPECT_EQ(tree.parent_of_range[kCount - 1], 62U);
}

std::vector<RangeTime> times_of(const Trace& trace) {
  return range_rows(trace, range_tree(trace), launching_calls(trace)).rows;
}

TEST(RangeTimes, OfAStep) {
  const auto rows = times_of(one_step());
  ASSERT_EQ(rows.size(), 4U);

  const RangeTime& forward = rows[0];
  EXPECT_EQ(forward.label, "FORWARD");
  EXPECT_EQ(forward.depth, 0U);
  EXPECT_EQ(forward.host.count(), 1);
  EXPECT_EQ(forward.host.total_ns(), 100);
  EXPECT_EQ(forward.host_exclusive_ns, 100 - 40 - 40);
  EXPECT_EQ(forward.operations, 4);
  EXPECT_EQ(forward.launches, 4);
  EXPECT_EQ(forward.gpu_span_ns, 140 - 20);
  EXPECT_EQ(forward.gpu_sum_ns, 30 + 10 + 20 + 40);
  EXPECT_EQ(forward.gpu_busy.total_ns(), 100);
  EXPECT_EQ(forward.gpu_exclusive_ns, 0);

  const RangeTime& layers = rows[1];  // layer.0: kernels 1 to 3, 20..82; layer.1: kernel 4, 100..140
  EXPECT_EQ(layers.label, "layer.*");
  EXPECT_EQ(layers.depth, 1U);
  EXPECT_EQ(layers.parent, 0U);
  EXPECT_EQ(layers.host.count(), 2);
  EXPECT_EQ(layers.host.total_ns(), 80);
  EXPECT_EQ(layers.host_exclusive_ns, 80 - 20);
  EXPECT_EQ(layers.gpu_span_ns, 62 + 40);
  EXPECT_EQ(layers.gpu_sum_ns, 60 + 40);
  EXPECT_EQ(layers.gpu_busy.total_ns(), 60 + 40);
  EXPECT_EQ(layers.gpu_exclusive_ns, 20 + 40);

  const RangeTime& attention = rows[2];
  EXPECT_EQ(attention.label, "attention");
  EXPECT_EQ(attention.depth, 2U);
  EXPECT_EQ(attention.parent, 1U);
  EXPECT_EQ(attention.operations, 2);
  EXPECT_EQ(attention.gpu_span_ns, 60 - 20);
  EXPECT_EQ(attention.gpu_exclusive_ns, 40);

  const RangeTime& optimizer = rows[3];  // the update 150..170 and the copy 160..180
  EXPECT_EQ(optimizer.label, "OPTIMIZER");
  EXPECT_EQ(optimizer.operations, 2);
  EXPECT_EQ(optimizer.launches, 1);
  EXPECT_EQ(optimizer.gpu_span_ns, 30);
  EXPECT_EQ(optimizer.gpu_sum_ns, 40);
  EXPECT_EQ(optimizer.gpu_busy.total_ns(), 30);
  EXPECT_EQ(optimizer.gpu_exclusive_ns, 40);
}

/// A label that occurs in two places has two rows, each below its own parent.
TEST(RangeTimes, AreInTheOrderOfTheTree) {
  const auto rows = times_of(TraceWriter{}
                                 .range(0, 10, "a")
                                 .range(1, 9, "x")
                                 .range(20, 30, "b")
                                 .range(21, 29, "x")
                                 .range(40, 50, "a")
                                 .range(41, 42, "y")
                                 .range(43, 44, "x")
                                 .take());
  ASSERT_EQ(rows.size(), 5U);
  const char* const labels[] = {"a", "x", "y", "b", "x"};
  const std::size_t depths[] = {0, 1, 1, 0, 1};
  const std::size_t parents[] = {0, 0, 0, 0, 3};
  const std::int64_t counts[] = {2, 2, 1, 1, 1};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].label, labels[i]);
    EXPECT_EQ(rows[i].depth, depths[i]);
    EXPECT_EQ(rows[i].parent, parents[i]);
    EXPECT_EQ(rows[i].host.count(), counts[i]);
    EXPECT_EQ(rows[i].gpu_span_ns, 0);
  }
}

TEST(RangeTimes, TheReplayOfAGraphIsOneLaunch) {
  const auto rows = times_of(TraceWriter{}.range(0, 10, "a").call(1, 2, 1).kernel(5, 6, 1).kernel(7, 9, 1).take());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].operations, 2);
  EXPECT_EQ(rows[0].launches, 1);
}

}  // namespace

}  // namespace tbench::profile
