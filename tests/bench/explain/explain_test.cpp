// Tests explanations of cases without a GPU.
#include "bench/explain/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/families/family.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string explained(const std::string& name, std::string_view device) {
  return explanation_of(CaseId::parse(name), explained_device(device), known_model_sizes({}));
}

TEST(Explain, PrintsWhatTheModelsForwardPassRunsOnAnH100) {
  const std::string name =
      "Attention/batch:4/heads:12/d_model:768/seq_len:512/causal:1/pass:forward/precision:bf16/impl:flash";
  const std::string text = explained(name, "h100");
  if (text.find("sm90") == std::string::npos) GTEST_SKIP() << "a build without Hopper's kernels";
  EXPECT_EQ(text, name +
                      "\n"
                      "  device     H100 (9.0, 132 SMs)\n"
                      "  kernel     attention_fwd_sm90_kernel<bf16, 64, FwdM128N64x2>\n"
                      "  launch     132 CTAs x 640 threads, 199,680 B shared memory, programmatic dependent launch\n"
                      "  schedule   static persistent, snake order: 192 work tiles for 264 consumer groups\n"
                      "  workspace  0 B\n"
                      "  rule       sm90_fwd[head_dim 64] #3: causal, seq_kv < 4,096\n"
                      "  measured   7.2 us; FwdM64N128x2 9, FwdM128N128 9.3, FwdM192N128 9.7, sm80 14.7 (H100, warm "
                      "L2;\n"
                      "             heuristics/sm90_fwd.csv)\n");
}

TEST(Explain, HasBothPassesOfACaseThatRunsBoth) {
  const std::string text = explained(
      "Attention/batch:8/heads:1/d_model:64/seq_len:1024/causal:1/pass:forward_backward/precision:fp32/impl:flash",
      "a100");
  EXPECT_THAT(text, HasSubstr("  device     A100 (8.0, 108 SMs)\n  pass       forward\n  kernel     "
                              "attention_fwd_sm80_fp32_kernel<fp32, 64, "));
  EXPECT_THAT(text, HasSubstr("  measured   not measured\n  pass       backward\n  kernel     "
                              "attention_bwd_sm80_preprocess_fp32_kernel<fp32, 64>\n"));
}

TEST(Explain, KnowsTheAttentionOfAModel) {
  const std::string text = explained("Model/size:small/ctx:512/batch:4/pass:forward/precision:bf16/impl:fused", "a100");
  EXPECT_THAT(text, HasSubstr("  kernel     attention_fwd_sm80_16bit_kernel<bf16, 64, "));
}

TEST(Explain, KnowsGroupedQueries) {
  for (const char* const name : {"Model/size:llama3.2-1B/ctx:2048/batch:1/pass:forward/precision:bf16/impl:flash",
                                 "Attention/batch:1/heads:32/d_model:2048/seq_len:2048/causal:1/pass:forward/"
                                 "precision:bf16/impl:flash/kv_heads:8"}) {
    EXPECT_THAT(explained(name, "h100"), HasSubstr("attention_fwd_sm90_gqa_kernel<bf16, 64, "));
  }
}

TEST(Explain, SaysWhatHasNoPlan) {
  const std::string aten =
      "Attention/batch:4/heads:12/d_model:768/seq_len:512/causal:1/pass:forward/precision:bf16/impl:naive";
  EXPECT_EQ(explained(aten, "h100"), aten + "\n  no plan: ATen\n");
  EXPECT_EQ(explained("Ceiling/what:copy/regime:burst", "h100"), "Ceiling/what:copy/regime:burst\n  no plan: ATen\n");
  EXPECT_THAT(
      explained("Attention/batch:8/heads:1/d_model:512/seq_len:64/causal:1/pass:forward/precision:bf16/impl:flash",
                "h100"),
      HasSubstr("  no plan:   head_dim 512 has no kernel in bf16"));
}

TEST(Explain, KeepsLinesTo100Columns) {
  for (const char* device : {"a100", "h100", "h200"}) {
    for (const char* name :
         {"Attention/batch:1/heads:1/d_model:64/seq_len:4096/causal:0/pass:forward/precision:bf16/impl:flash",
          "Attention/batch:8/heads:1/d_model:128/seq_len:256/causal:1/pass:backward/precision:tf32/impl:flash",
          "Attention/batch:4/heads:25/d_model:1600/seq_len:512/causal:1/pass:backward/precision:bf16/impl:flash"}) {
      for (const std::string& line : split(explained(name, device), '\n')) EXPECT_LE(line.size(), 100U) << line;
    }
  }
}

TEST(ExplainedDevice, RefusesAnUnknownOneAndNamesThoseThatExist) {
  EXPECT_THAT([] { static_cast<void>(explained_device("v100")); },
              ThrowsMessage<UsageError>("--tb_explain: 'v100' is not a device (devices: here, a100, h100, h200)"));
  EXPECT_THAT([] { static_cast<void>(explained_device("H100")); },
              ThrowsMessage<UsageError>("--tb_explain: 'H100' is not a device; did you mean 'h100'?"));
  EXPECT_EQ(explained_device("h200").name, "H200");
  EXPECT_EQ(explained_device("a100").limits.compute_capability_major, 8);
}

}  // namespace
}  // namespace tbench::bench
