// Tests attention on a GPU. Every implementation verifies at every shape that it takes. No step waits for the device. A
// backend's refusal is reported. The bytes held between forward and backward are exact.
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <tuple>
#include <vector>

#include "model/attention/runner.hpp"
#include "tbench/core/error.hpp"
#include "tbench/model/attention_case.hpp"
#include "tests/model/attention/attention_support.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::HasSubstr;

AttentionConfig gpu_attention(const std::string& impl, AttentionPass pass, Precision precision,
                              const AttentionShape& shape) {
  return attention_config(DeviceKind::kCuda, impl, pass, precision, shape);
}

/// Odd lengths, every head dimension that our kernels support, and heads of k and v that heads of q share.
const std::vector<AttentionShape> kShapes{
    {.batch = 2, .heads = 3, .seq_q = 1, .seq_kv = 1, .head_dim = 64, .causal = false},
    {.batch = 1, .heads = 2, .seq_q = 2, .seq_kv = 2, .head_dim = 64, .causal = true},
    {.batch = 2, .heads = 2, .seq_q = 63, .seq_kv = 63, .head_dim = 80, .causal = true},
    {.batch = 2, .heads = 2, .seq_q = 65, .seq_kv = 65, .head_dim = 96, .causal = false},
    {.batch = 3, .heads = 1, .seq_q = 127, .seq_kv = 127, .head_dim = 128, .causal = true},
    {.batch = 1, .heads = 5, .seq_q = 129, .seq_kv = 129, .head_dim = 32, .causal = true},
    {.batch = 2, .heads = 1, .seq_q = 256, .seq_kv = 256, .head_dim = 16, .causal = false},
    {.batch = 1, .heads = 2, .seq_q = 256, .seq_kv = 256, .head_dim = 256, .causal = true},
    {.batch = 1, .heads = 2, .seq_q = 77, .seq_kv = 300, .head_dim = 64, .causal = false},
    {.batch = 1, .heads = 2, .seq_q = 300, .seq_kv = 77, .head_dim = 64, .causal = false},
    {.batch = 1, .heads = 1, .seq_q = 1000, .seq_kv = 1000, .head_dim = 64, .causal = true},
    {.batch = 1, .heads = 1, .seq_q = 1000, .seq_kv = 1000, .head_dim = 512, .causal = true},
    {.batch = 1, .heads = 1, .seq_q = 4097, .seq_kv = 4097, .head_dim = 64, .causal = true},
    {.batch = 1, .heads = 1, .seq_q = 4097, .seq_kv = 4097, .head_dim = 128, .causal = false},
    {.batch = 2, .heads = 6, .seq_q = 129, .seq_kv = 129, .head_dim = 128, .causal = true, .kv_heads = 2},
    {.batch = 1, .heads = 8, .seq_q = 300, .seq_kv = 300, .head_dim = 64, .causal = false, .kv_heads = 1},
};

void expect_verified_and_asynchronous(Case& step) {
  step.build();
  const Verification verdict = step.verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  launch(step);  // loads kernels and creates handles
  // LibTorch throws if one of its own operations would synchronise.
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR);
  EXPECT_NO_THROW(launch(step));
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
  c10::cuda::device_synchronize();
}

class EveryAttentionGpuStep : public GpuTest, public testing::WithParamInterface<std::tuple<std::string, Precision>> {};

TEST_P(EveryAttentionGpuStep, VerifiesAndRunsWithoutWaitingForTheDevice) {
  const auto& [impl, precision] = GetParam();
  std::string refused;
  int verified = 0;
  for (const AttentionShape& shape : kShapes) {
    for (const auto pass : {AttentionPass::kForward, AttentionPass::kBackward, AttentionPass::kForwardBackward}) {
      SCOPED_TRACE(fmt::format("{} queries, {} keys, head_dim {}, causal {}, {}", shape.seq_q, shape.seq_kv,
                               shape.head_dim, shape.causal, to_string(pass)));
      const auto step = make_attention_case(gpu_attention(impl, pass, precision, shape));
      if (const auto reason = step->unsupported_reason()) {
        refused = *reason;
        continue;
      }
      expect_verified_and_asynchronous(*step);
      ++verified;
    }
  }
  RecordProperty("verified", verified);
  if (verified == 0) GTEST_SKIP() << refused;
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryAttentionGpuStep,
    testing::Combine(testing::Values("naive", "sdpa_flash", "sdpa_efficient", "sdpa_cudnn", "flash"),
                     testing::ValuesIn(kAllOf<Precision>)),
    [](const auto& run) { return std::get<0>(run.param) + "_" + std::string{to_string(std::get<1>(run.param))}; });

using AttentionGpu = GpuTest;

// The size of every tensor is a multiple of the 512 bytes to which the allocator rounds up.
constexpr AttentionShape kRound{.batch = 2, .heads = 2, .seq_q = 256, .seq_kv = 256, .head_dim = 64, .causal = true};

std::string refusal_on_gpu(const std::string& impl, Precision precision, std::int64_t head_dim) {
  AttentionShape shape = kRound;
  shape.head_dim = head_dim;
  return make_attention_case(gpu_attention(impl, AttentionPass::kForwardBackward, precision, shape))
      ->unsupported_reason()
      .value_or("");
}

TEST_F(AttentionGpu, RefusalsSayWhy) {
  EXPECT_THAT(refusal_on_gpu("sdpa_flash", Precision::kFp32, 64), HasSubstr("dtype"));
  EXPECT_THAT(refusal_on_gpu("sdpa_flash", Precision::kBf16, 512), HasSubstr("256"));
  EXPECT_THAT(refusal_on_gpu("sdpa_flash", Precision::kBf16, 60), HasSubstr("multiple of 8, not 60"));
  EXPECT_THAT(refusal_on_gpu("sdpa_cudnn", Precision::kFp32, 64), HasSubstr("dtype"));
  EXPECT_THAT(refusal_on_gpu("sdpa_cudnn", Precision::kBf16, 512), HasSubstr("head_dim"));
  EXPECT_THAT(refusal_on_gpu("sdpa_efficient", Precision::kTf32, 64), HasSubstr("ignore the TF32 setting"));
  EXPECT_THAT(refusal_on_gpu("sdpa_efficient", Precision::kFp32, 63), HasSubstr("divisible"));
  EXPECT_THAT(refusal_on_gpu("flash", Precision::kBf16, 512), HasSubstr("head_dim 512"));
  EXPECT_EQ(refusal_on_gpu("sdpa_efficient", Precision::kFp32, 512), "");
  EXPECT_EQ(refusal_on_gpu("naive", Precision::kTf32, 512), "");
}

double held_bytes(const std::string& impl, AttentionPass pass) {
  const auto step = make_attention_case(gpu_attention(impl, pass, Precision::kBf16, kRound));
  step->build();
  return step->counters().at("held_bytes");
}

TEST_F(AttentionGpu, WhatIsHeldBetweenForwardAndBackwardIsExact) {
  constexpr double kOutput = 2 * 2 * 256 * 64 * 2, kLse = 2 * 2 * 256 * 4, kProbabilities = 2 * 2 * 256 * 256 * 2;
  for (const auto pass : {AttentionPass::kBackward, AttentionPass::kForwardBackward}) {
    EXPECT_EQ(held_bytes("flash", pass), kOutput + kLse);
    EXPECT_EQ(held_bytes("naive", pass), kOutput + kProbabilities);
  }
}

TEST_F(AttentionGpu, DeterministicGivesTheSameBits) {
  AttentionShape shape = kRound;
  shape.seq_q = shape.seq_kv = 2000;
  for (const auto* impl : {"flash", "sdpa_flash"}) {
    AttentionConfig config = gpu_attention(impl, AttentionPass::kForwardBackward, Precision::kBf16, shape);
    config.deterministic = true;
    ASSERT_EQ(make_attention_case(config)->unsupported_reason().value_or(""), "");
    AttentionRunner runner{config, attention_impls().at(impl)};
    const AttentionOutputs first = runner.outputs();
    for (int run = 0; run < 5; ++run) {
      const AttentionOutputs again = runner.outputs();
      EXPECT_TRUE(again.dq.equal(first.dq)) << impl;
      EXPECT_TRUE(again.dk.equal(first.dk)) << impl;
      EXPECT_TRUE(again.dv.equal(first.dv)) << impl;
    }
  }
}

TEST_F(AttentionGpu, OutOfMemoryTellsTheBytesAndTheNextCaseRuns) {
  AttentionShape shape = kRound;
  shape.causal = false;
  shape.seq_q = shape.seq_kv = 1 << 18;  // scores of 2 * 2 * 2^36 * 2 bytes: 512 GiB
  const auto huge = make_attention_case(gpu_attention("naive", AttentionPass::kForward, Precision::kBf16, shape));
  huge->build();
  try {
    launch(*huge);
    FAIL() << "512 GiB were allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.requested_bytes(), std::int64_t{1} << 39);
  }
  const auto next = make_attention_case(gpu_attention("naive", AttentionPass::kForward, Precision::kBf16, kRound));
  next->build();
  EXPECT_TRUE(next->verify().passed);
}

}  // namespace
}  // namespace tbench::model
