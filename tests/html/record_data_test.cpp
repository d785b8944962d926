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

std::optional<double> of_case(const std::string& name) {
  Record record;
  record.id = CaseId::parse(name);
  record.work = Work{.flop = {1e9}, .tokens = 0};
  return least_bytes(record);
}

TEST(LeastBytes, AreThoseThatAFamilyCounts) {
  Record record;
  record.id = CaseId::parse("Kernel/op:rmsnorm/precision:bf16/impl:aten");
  EXPECT_EQ(least_bytes(record), std::nullopt);
  record.work = Work{.flop = {1e9}, .tokens = 0, .bytes = 12'345};
  EXPECT_EQ(least_bytes(record), 12'345);
}

TEST(LeastBytes, OfMatrixProductsAreOperandsAndResult) {
  // There are (2 * 4 + 4 * 3) elements of input and 2 * 3 elements of output.
  EXPECT_EQ(of_case("Gemm/m:2/n:3/k:4/precision:bf16/impl:aten"), 20 * 2 + 6 * 2);
  EXPECT_EQ(of_case("Gemm/m:2/n:3/k:4/precision:tf32/impl:aten"), 20 * 4 + 6 * 4);
  EXPECT_EQ(of_case("Gemm/m:2/n:3/k:4/precision:fp8_e4m3/impl:aten"), 20 * 1 + 6 * 2);
}

TEST(LeastBytes, OfAttentionAreItsTensors) {
  const std::string shape = "Attention/batch:8/heads:2/d_model:64/seq_len:128/causal:1";
  const double tensor = 8.0 * 128 * 64 * 2;  // bytes of q, k, v and the output each; and gradients in backward
  EXPECT_EQ(of_case(shape + "/pass:forward/precision:bf16/impl:flash"), 4 * tensor);
  EXPECT_EQ(of_case(shape + "/pass:backward/precision:bf16/impl:flash"), 8 * tensor);
  EXPECT_EQ(of_case(shape + "/pass:backward/precision:fp32/impl:flash"), 2 * 8 * tensor);
  EXPECT_EQ(of_case(shape + "/pass:forward_backward/precision:bf16/impl:flash"), std::nullopt);
}

TEST(LeastBytes, AreUnknownWhereTheNameDoesNotTell) {
  for (const char* name :
       {"Gemm/m:2/n:3/precision:bf16/impl:aten", "Gemm/m:2/n:3/k:0/precision:bf16/impl:aten",
        "Gemm/m:2/n:3/k:x/precision:bf16/impl:aten", "Gemm/m:2/n:3/k:4/precision:int3/impl:aten",
        "Gemm/m:2/n:3/k:4/impl:aten", "Gemm/m:9223372036854775807/n:3/k:4/precision:bf16",
        "Attention/batch:1000000/heads:1/d_model:1000000/seq_len:1000000/pass:forward/precision:bf16",
        "Attention/batch:8/seq_len:64/pass:forward/precision:bf16",
        "Model/size:small/ctx:512/precision:bf16/impl:sdpa"}) {
    EXPECT_EQ(of_case(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace tbench::html
