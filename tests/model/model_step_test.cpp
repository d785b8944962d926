#include "tbench/model/model_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Pair;

ModelStepConfig tiny_step(const std::string& impl, Pass pass, Precision precision) {
  return {.size = {.name = "tiny", .d_model = 64, .d_ff = 256, .num_layers = 2, .num_heads = 4},
          .context = 32,
          .batch = 2,
          .pass = pass,
          .precision = precision,
          .impl = impl,
          .device = DeviceKind::kCpu,
          .seed = 1,
          .vocab_size = 500};
}

TEST(ModelStep, ImplNames) { EXPECT_THAT(model_impl_names(), IsSupersetOf({"eager", "sdpa", "flash"})); }

class EveryStep : public testing::TestWithParam<std::tuple<std::string, Pass, Precision>> {};

TEST_P(EveryStep, VerifiesAndRuns) {
  const auto& [impl, pass, precision] = GetParam();
  ModelStep step{tiny_step(impl, pass, precision)};
  step.build();
  const Verification verdict = step.verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  EXPECT_GT(verdict.worst_error, 0.0);
  EXPECT_THAT(verdict.reference, HasSubstr(precision == Precision::kFp32 ? "float64" : "float32"));
  int phases = 0;
  step.launch([&] { ++phases; });
  step.launch([&] { ++phases; });
  EXPECT_EQ(phases, 2 * (1 + static_cast<int>(pass)));
  step.launch({});
}

// fp16 is no case of a CPU, but the loss scaling runs there too.
INSTANTIATE_TEST_SUITE_P(All, EveryStep,
                         testing::Combine(testing::Values("eager", "sdpa"),
                                          testing::Values(Pass::kForward, Pass::kForwardBackward, Pass::kTrainStep),
                                          testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16)),
                         [](const auto& run) {
                           return std::get<0>(run.param) + "_" + std::string{to_string(std::get<1>(run.param))} + "_" +
                                  std::string{to_string(std::get<2>(run.param))};
                         });

TEST(ModelStep, WhatACpuCannotRun) {
  const auto reason = [](Precision precision) {
    return ModelStep{tiny_step("sdpa", Pass::kForward, precision)}.unsupported_reason();
  };
  EXPECT_FALSE(reason(Precision::kFp32));
  EXPECT_FALSE(reason(Precision::kBf16));
  EXPECT_THAT(reason(Precision::kTf32).value(), HasSubstr("TF32"));
  EXPECT_THAT(reason(Precision::kFp16).value(), HasSubstr("fp16"));
  const ModelStep flash{tiny_step("flash", Pass::kForward, Precision::kFp32)};
  EXPECT_THAT(flash.unsupported_reason().value(), HasSubstr("GPU"));
}

TEST(ModelStep, ConfigurationsThatMakeNoSenseAreUsageErrors) {
  auto config = tiny_step("egaer", Pass::kForward, Precision::kFp32);
  try {
    ModelStep{config};
    FAIL() << "an unknown impl was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("egaer"));
    EXPECT_THAT(error.what(), HasSubstr("eager, sdpa"));
  }
  config.impl = "eager";
  config.size.num_heads = 5;
  EXPECT_THROW(ModelStep{config}, UsageError);
  config.size.num_heads = 64;  // head_dim 1
  EXPECT_THROW(ModelStep{config}, UsageError);
  config.size.num_heads = 4;
  config.batch = 0;
  EXPECT_THROW(ModelStep{config}, UsageError);
}

TEST(ModelStep, BuildComesFirst) {
  ModelStep step{tiny_step("eager", Pass::kForward, Precision::kFp32)};
  EXPECT_THROW(step.launch({}), std::logic_error);
}

TEST(ModelStep, MemorySplitAddsUpToThePeak) {
  // 2 * 500 * 64 + 2 * (4 * 64^2 + 3 * 64 * 256 + 2 * 64) + 64 = 195,392 parameters of 4 bytes
  constexpr std::int64_t kBytes = 4 * 195'392;
  constexpr std::int64_t kPeak = 10'000'000;
  const auto split = [](const std::string& impl, Pass pass) {
    ModelStep step{tiny_step(impl, pass, Precision::kFp32)};
    step.build();
    return step.memory_split(kPeak);
  };
  EXPECT_THAT(split("eager", Pass::kForward),
              ElementsAre(Pair("activations", kPeak - kBytes), Pair("parameters", kBytes)));
  EXPECT_THAT(
      split("eager", Pass::kForwardBackward),
      ElementsAre(Pair("activations", kPeak - 2 * kBytes), Pair("gradients", kBytes), Pair("parameters", kBytes)));
  EXPECT_THAT(split("eager", Pass::kTrainStep),
              ElementsAre(Pair("activations", kPeak - 4 * kBytes), Pair("gradients", kBytes),
                          Pair("optimizer_state", 2 * kBytes), Pair("parameters", kBytes)));
  EXPECT_EQ(split("sdpa", Pass::kTrainStep).at("optimizer_state"), 2 * kBytes + 4);
}

TEST(ModelStep, CountersOfLossScalingInFp16TrainingAlone) {
  ModelStep fp16{tiny_step("eager", Pass::kTrainStep, Precision::kFp16)};
  fp16.build();
  EXPECT_THAT(fp16.counters(), ElementsAre(Pair("loss_scale", 65536.0), Pair("skipped_steps", 0.0)));
  ModelStep bf16{tiny_step("eager", Pass::kTrainStep, Precision::kBf16)};
  bf16.build();
  EXPECT_TRUE(bf16.counters().empty());
}

TEST(ModelStep, AModelThatDoesNotFitIsOutOfMemoryWithItsBytes) {
  auto config = tiny_step("eager", Pass::kForward, Precision::kFp32);
  config.size.d_model = std::int64_t{1} << 24;
  config.vocab_size = 1 << 20;  // 64 TiB of embeddings
  ModelStep step{config};
  try {
    step.build();
    FAIL() << "64 TiB were allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.requested_bytes(), (std::int64_t{4} << 24) * (1 << 20));
  }
}

}  // namespace
}  // namespace tbench::model
