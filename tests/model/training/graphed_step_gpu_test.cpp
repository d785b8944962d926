// Tests steps as CUDA graphs on a GPU. Every case verifies and replays without waiting, the steps equal the trainer's
// own steps, and errors of a capture are found.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "model/layers/layers.hpp"
#include "model/training/graphed_step.hpp"
#include "model/training/trainer.hpp"
#include "model/training/verify_replays.hpp"
#include "model/training/verify_trainer.hpp"
#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using ::testing::HasSubstr;

ModelConfig graphed(const std::string& impl, Pass pass, Precision precision) {
  ModelConfig config = gpu_step(impl, pass, precision);
  config.exec = Execution::kGraph;
  return config;
}

class EveryGraphedStep : public GpuTest,
                         public testing::WithParamInterface<std::tuple<std::string, Pass, Precision>> {};

TEST_P(EveryGraphedStep, VerifiesAndReplaysWithoutWaitingForTheDevice) {
  const auto& [impl, pass, precision] = GetParam();
  const auto step = make_model_case(graphed(impl, pass, precision));
  if (const auto reason = step->unsupported_reason()) GTEST_SKIP() << *reason;
  step->build();
  const Verification verdict = step->verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  RecordProperty("worst_error", fmt::format("{:.3g} at {}", verdict.worst_error, verdict.worst_where));
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR);
  EXPECT_EQ(launch(*step), static_cast<int>(pass) + 1);
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
  EXPECT_GT(step->counters().at("capture_ms"), 0.0);
  EXPECT_TRUE(step->discard_recording());
  EXPECT_EQ(launch(*step), static_cast<int>(pass) + 1) << "of the step that records";
  const auto again = step->verify_again();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->passed) << again->message;
}

INSTANTIATE_TEST_SUITE_P(All, EveryGraphedStep,
                         testing::Combine(testing::Values("eager", "sdpa", "flash", "fused"),
                                          testing::Values(Pass::kForward, Pass::kForwardBackward, Pass::kTrainStep),
                                          testing::ValuesIn(kAllOf<Precision>)),
                         [](const auto& run) {
                           return std::get<0>(run.param) + "_" + std::string{to_string(std::get<1>(run.param))} + "_" +
                                  std::string{to_string(std::get<2>(run.param))};
                         });

using GraphedStepGpu = GpuTest;

Verification verify_graphed(ModelConfig config, const ModelImpl& impl) {
  Trainer trainer{config, impl};
  GraphedStep step{trainer};
  if (Verification replays = verify_replays(trainer, step); !replays.passed) return replays;
  return verify_trainer(trainer, config.seed, [&](StepOutputs& outputs) { step.run(outputs); });
}

TEST_F(GraphedStepGpu, ABiasCorrectionThatTheCaptureFreezesIsFound) {
  ModelConfig config = graphed("eager", Pass::kTrainStep, Precision::kFp32);
  EXPECT_TRUE(verify_graphed(config, model_impls().at("eager")).passed);
  config.exec = Execution::kStream;  // its optimizer counts its steps on the host
  const Verification verdict = verify_graphed(config, model_impls().at("eager"));
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, HasSubstr("update by replays"));
}

/// Computes the loss on another stream. Without capture this is correct, because the streams wait for each other. In a
/// capture, targets can be read before they are written.
at::Tensor loss_on_another_stream(const at::Tensor& logits, const at::Tensor& targets) {
  const bool is_captured = c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
  if (!is_captured) c10::cuda::device_synchronize();
  const c10::cuda::CUDAStreamGuard guard{c10::cuda::getStreamFromPool(/*isHighPriority=*/true)};
  const at::Tensor loss = fused_cross_entropy(logits, targets);
  if (!is_captured) c10::cuda::device_synchronize();
  return loss;
}

TEST_F(GraphedStepGpu, WorkThatIsNotOnTheCapturedStreamIsFound) {
  ModelImpl impl = model_impls().at("sdpa");
  impl.ops.cross_entropy = &loss_on_another_stream;
  try {
    EXPECT_FALSE(verify_graphed(graphed("sdpa", Pass::kForwardBackward, Precision::kFp32), impl).passed);
  } catch (const Unsupported& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("cannot be captured"));
  }
}

at::Tensor feed_forward_that_waits(const at::Tensor& x, const FeedForwardWeights& weights) {
  return fused_swiglu(x, weights).mul(x.detach().isfinite().all().item<bool>() ? 1.0 : 0.0);
}

TEST_F(GraphedStepGpu, AStepThatWaitsForTheDeviceIsUnsupportedAndTheNextOneRuns) {
  ModelImpl impl = model_impls().at("sdpa");
  impl.ops.feed_forward = &feed_forward_that_waits;
  const ModelConfig config = graphed("sdpa", Pass::kTrainStep, Precision::kBf16);
  try {
    static_cast<void>(verify_graphed(config, impl));
    FAIL() << "captured";
  } catch (const Unsupported& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("cannot be captured"));
  }
  const Verification next = verify_graphed(config, model_impls().at("sdpa"));
  EXPECT_TRUE(next.passed) << next.message;
}

TEST_F(GraphedStepGpu, MemoryGoesWithTheGraphs) {
  const auto probe = make_cuda_memory_probe();
  const auto reserved = [&] {
    probe->release_cached();
    return c10::cuda::CUDACachingAllocator::getDeviceStats(0).reserved_bytes[0].current;
  };
  const ModelConfig config = graphed("sdpa", Pass::kTrainStep, Precision::kBf16);
  Trainer trainer{config, model_impls().at("sdpa")};
  trainer.step();
  trainer.parameters().clear_gradients();
  const auto before = reserved();
  GraphedStep step{trainer};
  step.launch(nullptr);
  EXPECT_GT(reserved(), before);
  step.discard();
  EXPECT_EQ(reserved(), before);
}

/// Returns the peak of the bytes that are live at once in a step, whichever thread enqueues it.
std::int64_t peak_of(ModelConfig config) {
  const auto step = make_model_case(std::move(config));
  step->build();
  EXPECT_TRUE(step->verify().passed);
  const auto probe = make_cuda_memory_probe();
  static_cast<void>(step->discard_recording());
  probe->release_cached();
  probe->reset_peaks();
  launch(*step);
  c10::cuda::device_synchronize();
  return probe->peaks().requested;
}

TEST_F(GraphedStepGpu, TheStepThatRecordsNeedsWhatAPlainOneNeeds) {
  for (const auto* const impl : {"eager", "sdpa", "flash", "fused"}) {
    const ModelConfig plain = gpu_step(impl, Pass::kTrainStep, Precision::kBf16);
    const auto expected = static_cast<double>(peak_of(plain));
    const auto graph = static_cast<double>(peak_of(graphed(impl, Pass::kTrainStep, Precision::kBf16)));
    EXPECT_NEAR(graph / expected, 1.0, 0.02) << impl;
  }
}

}  // namespace
}  // namespace tbench::model
