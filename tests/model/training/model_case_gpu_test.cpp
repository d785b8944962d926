// Tests the model on a GPU: every case verifies, no step waits for the device, fp16 skips steps on the device, and a
// run continues after running out of memory.
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/training/optimizer.hpp"
#include "model/training/trainer.hpp"
#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

class EveryGpuStep : public GpuTest, public testing::WithParamInterface<std::tuple<std::string, Pass, Precision>> {};

TEST_P(EveryGpuStep, VerifiesAndRunsWithoutWaitingForTheDevice) {
  const auto& [impl, pass, precision] = GetParam();
  const auto step = make_model_case(gpu_step(impl, pass, precision));
  if (const auto reason = step->unsupported_reason()) GTEST_SKIP() << *reason;
  step->build();
  const Verification verdict = step->verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  RecordProperty("worst_error", fmt::format("{:.3g} at {}", verdict.worst_error, verdict.worst_where));
  launch(*step);  // loads kernels and creates handles
  // LibTorch throws if one of its own operations would synchronise.
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR);
  EXPECT_NO_THROW(launch(*step));
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
  c10::cuda::device_synchronize();
  const auto again = step->verify_again();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->passed) << again->message;
}

INSTANTIATE_TEST_SUITE_P(All, EveryGpuStep,
                         testing::Combine(testing::Values("eager", "sdpa", "flash", "fused"),
                                          testing::Values(Pass::kForward, Pass::kForwardBackward, Pass::kTrainStep),
                                          testing::ValuesIn(kAllOf<Precision>)),
                         [](const auto& run) {
                           return std::get<0>(run.param) + "_" + std::string{to_string(std::get<1>(run.param))} + "_" +
                                  std::string{to_string(std::get<2>(run.param))};
                         });

using ModelStepGpu = GpuTest;

TEST_F(ModelStepGpu, FlashNamesTheHeadDimItCannotTake) {
  auto config = gpu_step("sdpa", Pass::kForward, Precision::kBf16);
  config.size.num_heads = 16;  // head_dim 4
  const auto reason = make_model_case(config)->unsupported_reason();
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("not 4"), std::string::npos) << *reason;
}

TEST_F(ModelStepGpu, OurKernelsNameTheHeadDimTheyCannotTake) {
  auto config = gpu_step("flash", Pass::kForward, Precision::kBf16);
  config.size.num_heads = 8;  // head_dim 8
  const auto reason = make_model_case(config)->unsupported_reason();
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("head_dim 8"), std::string::npos) << *reason;
}

TEST_F(ModelStepGpu, Fp16SkipsAStepWithNonFiniteGradients) {
  for (const auto* impl : {"eager", "sdpa", "fused"}) {
    Trainer trainer{gpu_step(impl, Pass::kTrainStep, Precision::kFp16), model_impls().at(impl)};
    const at::Tensor& weight = trainer.parameters().named()[2].value;
    const at::Tensor& other = trainer.parameters().named().back().value;
    weight[0][0].fill_(std::numeric_limits<float>::infinity());
    trainer.parameters_changed();
    const at::Tensor before = other.clone();
    trainer.step({});
    EXPECT_EQ(trainer.scaler()->skipped_steps(), 1.0) << impl;
    EXPECT_EQ(trainer.scaler()->scale(), 32768.0) << impl;
    EXPECT_TRUE(other.equal(before)) << impl;
    weight[0][0].fill_(0.01);
    trainer.parameters_changed();
    trainer.step({});
    EXPECT_EQ(trainer.scaler()->skipped_steps(), 1.0) << impl;
    EXPECT_FALSE(other.equal(before)) << impl;
  }
}

bool are_equal(const std::vector<at::Tensor>& left, const std::vector<at::Tensor>& right) {
  return std::ranges::equal(left, right, [](const at::Tensor& a, const at::Tensor& b) { return a.equal(b); });
}

std::vector<at::Tensor> moments_of(const AdamW& optimizer, std::size_t count) {
  std::vector<at::Tensor> moments;
  for (std::size_t i = 0; i < count; ++i) {
    moments.push_back(optimizer.first_moment(i));
    moments.push_back(optimizer.second_moment(i));
  }
  return moments;
}

TEST_F(ModelStepGpu, UpdatesBesideBackwardLeaveTheBitsOfTheOptimizerBehindIt) {
  for (const auto& [precision, other_form] :
       {std::pair{Precision::kBf16, false}, std::pair{Precision::kTf32, false}, std::pair{Precision::kFp32, false},
        std::pair{Precision::kBf16, true}, std::pair{Precision::kFp32, true}}) {
    SCOPED_TRACE(fmt::format("{}, tied and with qk_norm: {}", to_string(precision), other_form));
    ModelConfig config = gpu_step("fused", Pass::kTrainStep, precision);
    config.size.num_layers = 3;
    config.size.tied = config.size.qk_norm = other_form;
    Trainer beside{config, model_impls().at("fused")}, behind{config, model_impls().at("fused")};
    const std::vector<at::Tensor>& leaves = beside.parameters().leaves();
    for (int step = 0; step < 3; ++step) {
      beside.step();
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        behind.parameters().leaves()[i].mutable_grad() = leaves[i].grad().clone();
      }
      behind.optimize();
      EXPECT_TRUE(are_equal(leaves, behind.parameters().leaves())) << "parameters, step " << step;
      EXPECT_TRUE(
          are_equal(moments_of(*beside.optimizer(), leaves.size()), moments_of(*behind.optimizer(), leaves.size())))
          << "moments, step " << step;
    }
    const at::NoGradGuard no_grad;
    const at::Tensor by_copies_of_the_optimizer = beside.logits(beside.tokens()).clone();
    beside.parameters_changed();
    EXPECT_TRUE(beside.logits(beside.tokens()).equal(by_copies_of_the_optimizer));
  }
}

TEST_F(ModelStepGpu, BackwardOutsideAStepUpdatesNothing) {
  for (const Pass pass : {Pass::kForwardBackward, Pass::kTrainStep}) {
    Trainer trainer{gpu_step("fused", pass, Precision::kBf16), model_impls().at("fused")};
    std::vector<at::Tensor> before;
    for (const at::Tensor& leaf : trainer.parameters().leaves()) before.push_back(leaf.detach().clone());
    trainer.backward(trainer.loss(trainer.tokens(), trainer.targets()));
    if (pass == Pass::kForwardBackward) trainer.step();
    EXPECT_TRUE(are_equal(trainer.parameters().leaves(), before)) << to_string(pass);
  }
}

TEST_F(ModelStepGpu, Fp16FindsAScaleThatFits) {
  Trainer trainer{gpu_step("sdpa", Pass::kTrainStep, Precision::kFp16), model_impls().at("sdpa")};
  trainer.scaler()->reset(0x1p40);
  const at::Tensor& weight = trainer.parameters().named().back().value;
  const at::Tensor before = weight.clone();
  trainer.step({});
  EXPECT_EQ(trainer.scaler()->skipped_steps(), 1.0);
  EXPECT_TRUE(weight.equal(before));
  for (int step = 0; step < 40; ++step) trainer.step({});
  EXPECT_FALSE(weight.equal(before));
  EXPECT_LT(trainer.scaler()->skipped_steps(), 40.0);
}

TEST_F(ModelStepGpu, OutOfMemoryTellsTheBytesAndTheNextCaseRuns) {
  auto config = gpu_step("eager", Pass::kForward, Precision::kFp32);
  config.context = 16384;
  config.batch = 512;  // scores of 512 * 4 * 16384^2 * 4 bytes: 2 TiB
  const auto huge = make_model_case(config);
  try {
    huge->build();
    launch(*huge);
    FAIL() << "2 TiB were allocated";
  } catch (const OutOfMemory& error) {
    ASSERT_TRUE(error.requested_bytes());
    EXPECT_GT(*error.requested_bytes(), std::int64_t{1} << 30);
  }
  const auto next = make_model_case(gpu_step("eager", Pass::kTrainStep, Precision::kFp32));
  next->build();
  const Verification verdict = next->verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
}

}  // namespace
}  // namespace tbench::model
