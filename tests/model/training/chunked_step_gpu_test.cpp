// Tests a train step of impl:fused whose LM head runs in chunks, on a GPU. It verifies in every precision, also as CUDA
// graphs, waits for nothing, needs less memory, and updates the head's weight like an optimizer behind the step.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "model/fused/chunked_head.hpp"
#include "model/training/trainer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

/// Returns a step of 8,192 tokens with a vocabulary for which chunks save 389 MB in bf16.
ModelConfig chunked(Pass pass, Precision precision) {
  ModelConfig config = gpu_step("fused", pass, precision);
  config.context = 2048;
  config.batch = 4;
  config.size.vocab_size = 32'000;
  return config;
}

class ChunkedStepGpu : public GpuTest, public testing::WithParamInterface<std::tuple<Pass, Precision, Execution>> {};

TEST_P(ChunkedStepGpu, VerifiesAndRunsWithoutWaitingForTheDevice) {
  const auto& [pass, precision, exec] = GetParam();
  ModelConfig config = chunked(pass, precision);
  config.exec = exec;
  ASSERT_TRUE(step_divides_head({.tokens = config.batch * config.context,
                                 .d_model = config.size.d_model,
                                 .vocab_size = config.size.vocab_size,
                                 .precision = precision}));
  const auto step = make_model_case(config);
  if (const auto reason = step->unsupported_reason()) GTEST_SKIP() << *reason;
  step->build();
  const Verification verdict = step->verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  RecordProperty("worst_error", fmt::format("{:.3g} at {}", verdict.worst_error, verdict.worst_where));
  launch(*step);  // loads kernels and creates handles
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR);
  EXPECT_NO_THROW(launch(*step));
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
  c10::cuda::device_synchronize();
  const auto again = step->verify_again();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->passed) << again->message;
}

std::string name_of_step(const testing::TestParamInfo<std::tuple<Pass, Precision, Execution>>& run) {
  return fmt::format("{}_{}_{}", to_string(std::get<0>(run.param)), to_string(std::get<1>(run.param)),
                     to_string(std::get<2>(run.param)));
}

INSTANTIATE_TEST_SUITE_P(All, ChunkedStepGpu,
                         testing::Combine(testing::Values(Pass::kForward, Pass::kForwardBackward, Pass::kTrainStep),
                                          testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16),
                                          testing::ValuesIn(kAllOf<Execution>)),
                         name_of_step);

using ChunkedTrainerGpu = GpuTest;

TEST_F(ChunkedTrainerGpu, TiedTablesVerify) {
  for (const Execution exec : kAllOf<Execution>) {
    ModelConfig config = chunked(Pass::kTrainStep, Precision::kBf16);
    config.size.tied = true;
    config.exec = exec;
    const auto step = make_model_case(config);
    ASSERT_EQ(step->unsupported_reason().value_or(""), "");
    step->build();
    const Verification verdict = step->verify();
    EXPECT_TRUE(verdict.passed) << to_string(exec) << ": " << verdict.message;
    const auto again = step->verify_again();
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->passed) << to_string(exec) << ": " << again->message;
  }
}

TEST_F(ChunkedTrainerGpu, TheUpdateInBackwardLeavesTheBitsOfTheOptimizerBehindIt) {
  const ModelConfig config = chunked(Pass::kTrainStep, Precision::kBf16);
  Trainer beside{config, model_impls().at("fused")}, behind{config, model_impls().at("fused")};
  const std::vector<at::Tensor>& leaves = beside.parameters().leaves();
  for (int step = 0; step < 2; ++step) {
    beside.step();
    EXPECT_EQ(leaves.back().grad().scalar_type(), at::kFloat);
    EXPECT_EQ(leaves[2].grad().scalar_type(), at::kBFloat16);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      behind.parameters().leaves()[i].mutable_grad() = leaves[i].grad().clone();
    }
    behind.optimize();
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      EXPECT_TRUE(leaves[i].equal(behind.parameters().leaves()[i])) << "leaf " << i << ", step " << step;
    }
  }
}

TEST_F(ChunkedTrainerGpu, LossesAndLseAreReturnedInsteadOfLogits) {
  Trainer trainer{chunked(Pass::kForwardBackward, Precision::kBf16), model_impls().at("fused")};
  StepOutputs outputs;
  trainer.step(nullptr, &outputs);
  EXPECT_FALSE(outputs.logits.defined());
  EXPECT_EQ(outputs.losses.sizes(), (std::vector<std::int64_t>{8192}));
  EXPECT_EQ(outputs.lse.sizes(), (std::vector<std::int64_t>{8192}));
  EXPECT_THROW(static_cast<void>(trainer.logits(trainer.tokens())), std::logic_error);
}

TEST_F(ChunkedTrainerGpu, NoBufferHoldsAllLogits) {
  const ModelConfig config = chunked(Pass::kTrainStep, Precision::kBf16);
  const Trainer trainer{config, model_impls().at("fused")};
  const std::int64_t all_logits = config.batch * config.context * config.size.vocab_size * 2;
  EXPECT_LT(trainer.planned_bytes().value().activations, all_logits);
}

}  // namespace
}  // namespace tbench::model
