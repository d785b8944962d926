#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tbench/profile/step_summary.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the entries as `kind depth name start..end`, with times in ns.
std::vector<std::string> entries_of(const StepTimeline& timeline) {
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < timeline.kind.size(); ++i) {
    const auto ns = [](double seconds) { return std::to_string(std::lround(seconds * 1e9)); };
    entries.push_back(std::to_string(timeline.kind[i]) + " " + std::to_string(timeline.depth[i]) + " " +
                      timeline.names.at(static_cast<std::size_t>(timeline.name[i])).substr(0, 16) + " " +
                      ns(timeline.start_s[i]) + ".." + ns(timeline.end_s[i]));
  }
  return entries;
}

TEST(StepTimeline, HasTheRangesTheCallsAndTheirOperations) {
  const std::optional<StepTimeline> timeline = layer_timeline(one_step());
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->range, "FORWARD/layer.1");  // the middle one of two
  EXPECT_THAT(entries_of(*timeline),
              ElementsAre("0 0 layer.1 0..40", "1 0 cudaLaunchKernel 5..10", "2 0 nvjet_a 50..90"));
  EXPECT_EQ(timeline->left_out, 0);
}

TEST(StepTimeline, NestsTheRanges) {
  const std::optional<StepTimeline> timeline = layer_timeline(one_layer());
  ASSERT_TRUE(timeline);
  const std::vector<std::string> entries = entries_of(*timeline);
  EXPECT_EQ(entries.front(), "0 0 layer.0 0..140");
  EXPECT_THAT(entries, Contains("0 1 attention 10..90"));
  EXPECT_THAT(entries, Contains("0 2 attention.qkv 12..20"));
  EXPECT_THAT(entries, Contains("2 0 nvjet_a 100..140"));
  EXPECT_THAT(entries, Not(Contains(HasSubstr("BACKWARD"))));
}

TEST(StepTimeline, LeavesOutDeepRangesAndInnerCalls) {
  const Trace trace = TraceWriter{}
                          .range(0, 110, "FORWARD")
                          .range(0, 100, "layer.0")
                          .range(10, 90, "a")
                          .range(20, 80, "b")
                          .range(30, 70, "c")
                          .call(40, 60, 1)
                          .call(45, 55, 2, 0, "cuLaunchKernel")
                          .take();
  EXPECT_THAT(entries_of(layer_timeline(trace).value()),
              ElementsAre("0 0 layer.0 0..100", "0 1 a 10..90", "0 2 b 20..80", "1 0 cudaLaunchKernel 40..60"));
}

TEST(StepTimeline, HasAtMostSoManyEntries) {
  TraceWriter writer;
  writer.range(0, 10'001, "FORWARD").range(0, 10'000, "layer.0");
  for (std::uint32_t i = 0; i < 400; ++i) writer.call(10 * i + 1, 10 * i + 2, i + 1);
  const std::optional<StepTimeline> timeline = layer_timeline(writer.take());
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->kind.size(), kMaxTimelineEntries);
  EXPECT_EQ(timeline->left_out, 401 - 320);
}

TEST(StepTimeline, NeedsAForwardWithLayers) {
  EXPECT_FALSE(layer_timeline(TraceWriter{}.range(0, 10, "FORWARD").take()));
  EXPECT_FALSE(layer_timeline(TraceWriter{}.range(0, 10, "layer.0").take()));
}

}  // namespace
}  // namespace tbench::profile
