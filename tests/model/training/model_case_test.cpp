#include "tbench/model/model_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "model/torch/allocation_logger.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/cuda/range.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Pair;

TEST(ModelStep, ImplNames) { EXPECT_THAT(model_impl_names(), IsSupersetOf({"eager", "sdpa", "flash", "compiled"})); }

class EveryStep : public testing::TestWithParam<std::tuple<std::string, Pass, Precision>> {};

TEST_P(EveryStep, VerifiesAndRuns) {
  const OneThread one_thread;
  const auto& [impl, pass, precision] = GetParam();
  const auto step = make_model_case(tiny_step(impl, pass, precision));
  step->build();
  const Verification verdict = step->verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  EXPECT_GT(verdict.worst_error, 0.0);
  EXPECT_THAT(verdict.reference, HasSubstr(precision == Precision::kFp32 ? "float64" : "float32"));
  int phases = launch(*step);
  phases += launch(*step);
  EXPECT_EQ(phases, 2 * (1 + static_cast<int>(pass)));
  const auto again = step->verify_again();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->passed) << again->message;
  launch(*step);
}

/// Counts how often each path of ranges, such as `FORWARD/layer.0/attention/attention.qkv`, is entered.
class CountedRanges final : public cuda::RangeListener {
 public:
  CountedRanges() { cuda::set_range_listener(this); }
  ~CountedRanges() override { cuda::set_range_listener(nullptr); }
  void enter(const char* name) override {
    path_.emplace_back(name);
    ++counts_[join(path_, "/")];
  }
  void leave() override { path_.pop_back(); }
  [[nodiscard]] const std::map<std::string, int>& counts() const { return counts_; }

 private:
  std::vector<std::string> path_;
  std::map<std::string, int> counts_;
};

std::map<std::string, int> ranges_of_step(const std::string& impl, Pass pass) {
  const auto step = make_model_case(tiny_step(impl, pass, Precision::kFp32));
  step->build();
  const CountedRanges ranges;
  launch(*step);
  return ranges.counts();
}

TEST(ModelStep, EveryPartOfAStepHasItsRange) {
  const std::map<std::string, int> eager = ranges_of_step("eager", Pass::kTrainStep);
  EXPECT_EQ(eager.size(), 31U);  // 3 phases, 4 ranges around the layers, and 12 in each of the two layers
  for (const std::string part :
       {"BACKWARD", "OPTIMIZER", "FORWARD/embedding", "FORWARD/norm", "FORWARD/lm_head", "FORWARD/loss",
        "FORWARD/layer.1/ffn", "FORWARD/layer.1/attention", "FORWARD/layer.1/attention/attention.rope_q",
        "FORWARD/layer.1/attention/attention.rope_k", "FORWARD/layer.1/attention/attention.scores/attention.mask",
        "FORWARD/layer.1/attention/attention.softmax", "FORWARD/layer.1/attention/attention.context",
        "FORWARD/layer.1/attention/attention.out_proj"}) {
    EXPECT_THAT(eager, testing::Contains(Pair(part, 1)));
  }
  EXPECT_THAT(eager, testing::Contains(Pair("FORWARD/layer.0/norm", 2)));
  EXPECT_THAT(eager, testing::Contains(Pair("FORWARD/layer.0/attention/attention.qkv", 3)));
  EXPECT_THAT(eager,
              testing::Contains(Pair("FORWARD/layer.0/attention/attention.scores", 2)));  // the product, the mask
  const std::map<std::string, int> sdpa = ranges_of_step("sdpa", Pass::kForward);
  for (const std::string part : {"qkv", "rope", "core", "out_proj"}) {
    EXPECT_THAT(sdpa, testing::Contains(Pair("FORWARD/layer.0/attention/attention." + part, 1)));
  }
}

// fp16 is not a case for a CPU, but loss scaling also runs there.
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
    return make_model_case(tiny_step("sdpa", Pass::kForward, precision))->unsupported_reason();
  };
  EXPECT_FALSE(reason(Precision::kFp32));
  EXPECT_FALSE(reason(Precision::kBf16));
  EXPECT_THAT(reason(Precision::kTf32).value(), HasSubstr("TF32"));
  EXPECT_THAT(reason(Precision::kFp16).value(), HasSubstr("fp16"));
  for (const auto* const impl : {"flash", "fused"}) {
    const auto ours = make_model_case(tiny_step(impl, Pass::kForward, Precision::kFp32));
    EXPECT_THAT(ours->unsupported_reason().value(), HasSubstr("our kernels run on GPUs only"));
  }
}

TEST(ModelStep, ACpuHasNoGraphs) {
  auto config = tiny_step("eager", Pass::kForward, Precision::kFp32);
  config.exec = Execution::kGraph;
  EXPECT_THAT(make_model_case(config)->unsupported_reason().value(), HasSubstr("exec:graph"));
  config.exec = Execution::kStream;
  EXPECT_FALSE(make_model_case(config)->discard_recording());
}

TEST(ModelStep, ConfigurationsThatMakeNoSenseAreUsageErrors) {
  auto config = tiny_step("egaer", Pass::kForward, Precision::kFp32);
  try {
    static_cast<void>(make_model_case(config));
    FAIL() << "an unknown impl was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("egaer"));
    EXPECT_THAT(error.what(), HasSubstr("eager, sdpa"));
  }
  config.impl = "eager";
  config.size.num_heads = 5;
  EXPECT_THROW(static_cast<void>(make_model_case(config)), UsageError);
  config.size.num_heads = 64;  // head_dim 1
  EXPECT_THROW(static_cast<void>(make_model_case(config)), UsageError);
  config.size.num_heads = 4;
  config.batch = 0;
  EXPECT_THROW(static_cast<void>(make_model_case(config)), UsageError);
}

TEST(ModelStep, BuildComesFirst) {
  const auto step = make_model_case(tiny_step("eager", Pass::kForward, Precision::kFp32));
  EXPECT_THROW(launch(*step), std::logic_error);
}

TEST(ModelStep, CountersOfLossScalingInFp16TrainingAlone) {
  const auto fp16 = make_model_case(tiny_step("eager", Pass::kTrainStep, Precision::kFp16));
  fp16->build();
  EXPECT_THAT(fp16->counters(), ElementsAre(Pair("loss_scale", 65536.0), Pair("skipped_steps", 0.0)));
  const auto bf16 = make_model_case(tiny_step("eager", Pass::kTrainStep, Precision::kBf16));
  bf16->build();
  EXPECT_TRUE(bf16->counters().empty());
}

TEST(ModelStep, AModelThatDoesNotFitIsOutOfMemoryWithItsBytes) {
  auto config = tiny_step("eager", Pass::kForward, Precision::kFp32);
  config.size.d_model = std::int64_t{1} << 24;
  config.size.vocab_size = 1 << 20;  // 64 TiB of embeddings
  const auto step = make_model_case(config);
  try {
    step->build();
    FAIL() << "64 TiB were allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.requested_bytes(), (std::int64_t{4} << 24) * (1 << 20));
  }
}

}  // namespace
}  // namespace tbench::model
