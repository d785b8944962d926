#include "html/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace tbench::html {
namespace {

TracedKernel kernel(const std::string& phase, const std::string& kernel_class, double calls, double seconds) {
  return {.phase = phase,
          .kernel_class = kernel_class,
          .name = phase + kernel_class,
          .calls = calls,
          .total = {seconds},
          .min = {seconds},
          .max = {seconds},
          .standard_deviation = {}};
}

TEST(TraceNames, SumByPhaseAndClass) {
  StepTrace trace{.steps = 3,
                  .span = {0.020},
                  .device = {0.016},
                  .host_gaps = {0.003},
                  .device_gaps = {0.0007},
                  .other_gaps = {0.0003},
                  .longest_gap = {0.000250},
                  .launches = 60,
                  .kernels = {kernel("forward", "gemm", 10, 0.004), kernel("forward", "gemm", 5, 0.001),
                              kernel("forward", "memcpy", 1, 0.0005), kernel("backward", "gemm", 20, 0.0105)},
                  .without_launch = 0,
                  .dropped = 0};
  TraceNames names;
  const results::Json json = names.trace(trace);
  EXPECT_EQ(json.at(0).dump(), "[20,16,3,0.7,0.3,250,35,60]") << "35 kernels: a copy is none";
  EXPECT_THAT(names.names(), testing::ElementsAre("forward", "gemm", "memcpy", "backward"));
  EXPECT_EQ(json.at(1).dump(), "[0,1,5,15,0,2,0.5,1,3,1,10.5,20]");
}

TracedRange range(const std::string& path, double seconds) {
  TracedRange range;
  range.path = path;
  range.gpu_sum = {seconds};
  return range;
}

TEST(TraceNames, RangesLieInTheOneAround) {
  StepTrace trace;
  trace.ranges = {range("FORWARD", 0.004),          range("FORWARD/layer.*", 0.003),
                  range("FORWARD/layer.*/idle", 0), range("FORWARD/layer.*/ffn", 0.002),
                  range("FORWARD/loss", 0.0005),    range("BACKWARD/layer.*/ffn", 0.001)};
  TraceNames names;
  EXPECT_EQ(names.trace(trace).at(2).dump(), "[0,-1,4,1,0,3,2,1,2,3,0,0.5,4,-1,1]")
      << "idle has no time, and what is around BACKWARD/layer.*/ffn is not there";
  EXPECT_THAT(names.names(), testing::ElementsAre("FORWARD", "layer.*", "ffn", "loss", "BACKWARD/layer.*/ffn"));
  trace.ranges = {range("FORWARD", 0.004), range("FORWARD/layer.*/ffn", 0.002), range("/odd", 0.001)};
  EXPECT_EQ(names.trace(trace).at(2).dump(), "[0,-1,4,5,0,2,6,-1,1]") << "layer.*/ffn is in FORWARD";
  EXPECT_THAT(names.names(), testing::IsSupersetOf({"layer.*/ffn", "/odd"}));
}

TEST(TraceNames, AreSharedByTraces) {
  StepTrace one;
  one.kernels = {kernel("forward", "gemm", 1, 0.001)};
  StepTrace other;
  other.kernels = {kernel("forward", "norm", 1, 0.001)};
  TraceNames names;
  EXPECT_EQ(names.trace(one).at(1).dump(), "[0,1,1,1]");
  EXPECT_EQ(names.trace(other).at(1).dump(), "[0,2,1,1]");
}

}  // namespace
}  // namespace tbench::html
