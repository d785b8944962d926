#include "tbench/model/attention_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "tbench/core/error.hpp"
#include "tests/model/attention/attention_support.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

AttentionConfig cpu_attention(const std::string& impl, AttentionPass pass, Precision precision) {
  return attention_config(DeviceKind::kCpu, impl, pass, precision,
                          {.batch = 2, .heads = 2, .seq_q = 48, .seq_kv = 48, .head_dim = 16, .causal = true});
}

void expect_verified(const AttentionConfig& config) {
  const auto step = make_attention_case(config);
  ASSERT_FALSE(step->unsupported_reason());
  step->build();
  const Verification verdict = step->verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  EXPECT_THAT(verdict.reference, HasSubstr("float64"));
  int phases = launch(*step);
  phases += launch(*step);
  EXPECT_EQ(phases, config.pass == AttentionPass::kForwardBackward ? 4 : 2);
  const auto again = step->verify_again();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->passed) << again->message;
  launch(*step);
}

class EveryAttentionStep : public testing::TestWithParam<std::tuple<std::string, AttentionPass, Precision>> {};

TEST_P(EveryAttentionStep, VerifiesAndRuns) {
  const auto& [impl, pass, precision] = GetParam();
  AttentionConfig config = cpu_attention(impl, pass, precision);
  for (const std::int64_t seq : {1, 2, 3, 63, 65, 200}) {
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(std::to_string(seq) + (causal ? " causal" : ""));
      config.shape.seq_q = config.shape.seq_kv = seq;
      config.shape.causal = causal;
      expect_verified(config);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryAttentionStep,
                         testing::Combine(testing::Values("naive", "sdpa_flash"),
                                          testing::Values(AttentionPass::kForward, AttentionPass::kBackward,
                                                          AttentionPass::kForwardBackward),
                                          testing::Values(Precision::kFp32, Precision::kBf16)),
                         [](const auto& run) {
                           return std::get<0>(run.param) + "_" + std::string{to_string(std::get<1>(run.param))} + "_" +
                                  std::string{to_string(std::get<2>(run.param))};
                         });

TEST(AttentionStep, KeysMayOutnumberQueriesWithoutAMask) {
  for (const auto* impl : {"naive", "sdpa_flash"}) {
    AttentionConfig config = cpu_attention(impl, AttentionPass::kForwardBackward, Precision::kFp32);
    config.shape.causal = false;
    config.shape.seq_q = 5;
    const auto step = make_attention_case(config);
    step->build();
    const Verification verdict = step->verify();
    EXPECT_TRUE(verdict.passed) << verdict.message;
  }
}

std::string refusal(const AttentionConfig& config) {
  return make_attention_case(config)->unsupported_reason().value_or("");
}

TEST(AttentionStep, WhatACpuCannotRun) {
  const auto on_cpu = [](const std::string& impl, Precision precision) {
    return refusal(cpu_attention(impl, AttentionPass::kForward, precision));
  };
  EXPECT_EQ(on_cpu("naive", Precision::kFp32), "");
  EXPECT_THAT(on_cpu("naive", Precision::kTf32), HasSubstr("TF32"));
  EXPECT_THAT(on_cpu("sdpa_flash", Precision::kFp16), HasSubstr("fp16"));
  EXPECT_THAT(on_cpu("sdpa_efficient", Precision::kFp32), HasSubstr("no CPU kernel"));
  EXPECT_THAT(on_cpu("sdpa_cudnn", Precision::kBf16), HasSubstr("no CPU kernel"));
}

TEST(AttentionStep, DeterministicOnlyWhereThereIsSuchAMode) {
  AttentionConfig config = cpu_attention("naive", AttentionPass::kBackward, Precision::kFp32);
  config.deterministic = true;
  EXPECT_THAT(refusal(config), HasSubstr("naive has no deterministic mode"));
  config.impl = "sdpa_flash";
  const auto step = make_attention_case(config);
  EXPECT_FALSE(step->unsupported_reason());
  step->build();
  EXPECT_TRUE(step->verify().passed);
}

TEST(AttentionStep, ConfigurationsThatMakeNoSenseAreUsageErrors) {
  AttentionConfig config = cpu_attention("navie", AttentionPass::kForward, Precision::kFp32);
  try {
    static_cast<void>(make_attention_case(config));
    FAIL() << "an unknown impl was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("navie"));
    EXPECT_THAT(error.what(), HasSubstr("naive, compiled, sdpa_flash"));
  }
  config.impl = "naive";
  config.shape.seq_kv = 49;  // with a causal mask
  EXPECT_THROW(static_cast<void>(make_attention_case(config)), UsageError);
  config.shape.seq_kv = config.shape.seq_q = 0;
  EXPECT_THROW(static_cast<void>(make_attention_case(config)), UsageError);
}

TEST(AttentionStep, BuildComesFirst) {
  const auto step = make_attention_case(cpu_attention("naive", AttentionPass::kForward, Precision::kFp32));
  EXPECT_THROW(launch(*step), std::logic_error);
}

TEST(AttentionStep, MinBytesHoldTheScoresOfWhoeverKeepsThem) {
  // q, k, v, o: 4 * 2 * 2 * 48 * 16 * 4 bytes = 49,152; scores 2 * 2 * 48 * 48 * 4 bytes = 36,864, two of them
  EXPECT_EQ(make_attention_case(cpu_attention("sdpa_flash", AttentionPass::kForward, Precision::kFp32))->min_bytes(),
            49'152);
  EXPECT_EQ(make_attention_case(cpu_attention("naive", AttentionPass::kForward, Precision::kFp32))->min_bytes(),
            49'152 + 2 * 36'864);
  EXPECT_EQ(make_attention_case(cpu_attention("sdpa_flash", AttentionPass::kBackward, Precision::kBf16))->min_bytes(),
            49'152);
}

TEST(AttentionStep, HoldsItsInputsBetweenSteps) {
  const auto step = make_attention_case(cpu_attention("naive", AttentionPass::kForwardBackward, Precision::kFp32));
  step->build();
  // q, k, v, grad_o: 49,152 bytes; mask 48 * 48; minus infinity 4
  constexpr std::int64_t kInputs = 49'152 + 48 * 48 + 4;
  std::map<std::string_view, std::int64_t> held;
  for (const LiveTensor& tensor : step->live_tensors()) held[tensor.memory_class] += tensor.bytes;
  EXPECT_THAT(held, ElementsAre(Pair("inputs", kInputs)));
  EXPECT_TRUE(step->counters().empty());  // a CPU's allocator does not count
}

TEST(AttentionStep, ScoresThatDoNotFitAreOutOfMemoryWithTheirBytes) {
  AttentionConfig config = cpu_attention("naive", AttentionPass::kForward, Precision::kFp32);
  config.shape = {.batch = 1,
                  .heads = 1,
                  .seq_q = std::int64_t{1} << 21,
                  .seq_kv = std::int64_t{1} << 21,
                  .head_dim = 1,
                  .causal = false};
  const auto step = make_attention_case(config);
  step->build();
  try {
    launch(*step);
    FAIL() << "16 TiB were allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.requested_bytes(), std::int64_t{1} << 44);
  }
}

}  // namespace
}  // namespace tbench::model
