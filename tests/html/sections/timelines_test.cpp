#include "html/sections/timelines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A layer of 100 us on the host with a range inside, a call, and a kernel of 40 us that begins `lag_s` after the
/// layer.
studies::LayerFigure layer(double lag_s) {
  StepTimeline timeline{.range = "FORWARD/layer.6",
                        .names = {"layer.6", "attention", "cudaLaunchKernel", "void cutlass::Kernel<a & b>(int)"},
                        .kind = {0, 0, 1, 2},
                        .name = {0, 1, 2, 3},
                        .depth = {0, 1, 0, 0},
                        .start_s = {0, 20e-6, 30e-6, lag_s},
                        .end_s = {100e-6, 60e-6, 35e-6, lag_s + 40e-6}};
  return {.timeline = timeline, .shown = {"layer.6", "attention", "cudaLaunchKernel", "Kernel"}};
}

TEST(LayerChart, HasARowForEachDepthTheCallsAndTheGpu) {
  const std::string chart = layer_chart(layer(50e-6), "small");
  EXPECT_THAT(chart, HasSubstr("<figcaption>small: FORWARD/layer.6, host and GPU, 100.0 us</figcaption>"));
  // The width of 1,050 units is 100 us.
  EXPECT_THAT(chart, HasSubstr("x=\"130.00\" y=\"0\" width=\"1050.00\""));
  EXPECT_THAT(chart, HasSubstr("x=\"340.00\" y=\"24\" width=\"420.00\""));
  EXPECT_THAT(chart, HasSubstr("<title>cudaLaunchKernel: 5.000 us, from 30.00 us on</title>"));
  EXPECT_THAT(chart, HasSubstr("x=\"655.00\" y=\"72\" width=\"420.00\""));
  EXPECT_THAT(chart, AllOf(HasSubstr("Kernel&lt;a &amp; b&gt;"), HasSubstr(">GPU</text>"), Not(HasSubstr("GPU, +"))));
}

/// A GPU that begins later is drawn from its first operation on.
TEST(LayerChart, ShiftsAGpuThatLagsBehind) {
  const std::string chart = layer_chart(layer(3e-3), "small");
  EXPECT_THAT(chart, HasSubstr("GPU, +3000 us"));
  EXPECT_THAT(chart, HasSubstr("x=\"130.00\" y=\"72\" width=\"420.00\""));
  EXPECT_THAT(chart, HasSubstr("40.00 us, from 3000 us on"));
}

TEST(LayerChart, NeedsAnEntry) { EXPECT_THROW(static_cast<void>(layer_chart({}, "small")), std::invalid_argument); }

TEST(MemoryChart, HasAnAreaPerBandAndItsPeak) {
  constexpr std::int64_t kMebi = 1 << 20;
  MemoryTimeline timeline{.step = 2,
                          .events = {1, 5},
                          .bands = {{.range = "before the step", .bytes = {kMebi, kMebi}},
                                    {.range = "FORWARD/ffn", .bytes = {0, 2 * kMebi}}},
                          .phases = {{.name = "forward", .point = 0}},
                          .peak = 1};
  EXPECT_TRUE(has_bytes(timeline));
  EXPECT_THAT(memory_chart(timeline, "small"), HasSubstr("small: memory by range over step 2: up to 3.000 MiB"));
  EXPECT_THAT(memory_chart(timeline, ""), HasSubstr("Memory by range over step 2"));
  for (MemoryBand& band : timeline.bands) band.bytes = {0, 0};
  EXPECT_FALSE(has_bytes(timeline));
  timeline.events = {1};
  EXPECT_FALSE(has_bytes(timeline));
}

}  // namespace
}  // namespace tbench::html
