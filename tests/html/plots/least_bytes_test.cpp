#include "html/plots/least_bytes.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace tbench::html {
namespace {

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
