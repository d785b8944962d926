// The whole model against PyTorch: every tensor of the reference file, both implementations, every precision of a CPU.
#include "tbench/model/trainer.hpp"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model_reference.hpp"

namespace tbench::model {
namespace {

struct ReferenceRun {
  std::string impl;
  std::string label;  // of the reference's results
  Precision precision{};
  at::ScalarType dtype{};
  double error{};         // of logits, loss and gradients, as norms: a few unit round-offs (2^-53, 2^-24, 2^-8)
  double update_error{};  // of the parameters' change in three steps
};

constexpr double kLearningRate = 1e-3;
constexpr int kSteps = 3;

class TrainerReference : public testing::TestWithParam<ReferenceRun> {
 protected:
  TrainerReference()
      : trainer_{reference_config(GetParam().impl, Pass::kTrainStep, GetParam().precision),
                 *find_model_impl(GetParam().impl), GetParam().dtype} {
    load_initial_values(trainer_.parameters());
  }

  [[nodiscard]] at::Tensor expected(const std::string& name) const {
    return reference_tensor(GetParam().label + "/" + name);
  }

  Trainer trainer_;
  at::Tensor tokens_{reference_tensor("tokens")};
  at::Tensor targets_{reference_tensor("targets")};
};

TEST_P(TrainerReference, Logits) {
  const at::NoGradGuard no_grad;
  EXPECT_LT(relative_error(trainer_.logits(tokens_), expected("logits")), GetParam().error);
}

TEST_P(TrainerReference, LossAndEveryGradient) {
  const at::Tensor loss = trainer_.loss(tokens_, targets_);
  trainer_.backward(loss);
  EXPECT_LT(relative_error(loss, expected("loss")), GetParam().error);
  for (std::size_t i = 0; i < trainer_.parameters().named().size(); ++i) {
    const std::string& name = trainer_.parameters().named()[i].name;
    EXPECT_LT(relative_error(trainer_.parameters().gradient(i), expected("grad/" + name)), GetParam().error) << name;
  }
}

TEST_P(TrainerReference, EveryParameterAfterThreeSteps) {
  for (int step = 0; step < kSteps; ++step) {
    trainer_.parameters().clear_gradients();
    trainer_.backward(trainer_.loss(tokens_, targets_));
    trainer_.optimize();
  }
  for (const auto& parameter : trainer_.parameters().named()) {
    const at::Tensor initial = reference_tensor("initial/" + parameter.name).to(at::kDouble);
    const at::Tensor after = expected("after/" + parameter.name).to(at::kDouble);
    const at::Tensor actual = parameter.value.to(at::kDouble);
    EXPECT_LT(relative_error(actual.sub(initial), after.sub(initial)), GetParam().update_error) << parameter.name;
    // The sign of a gradient near zero decides over an update of the learning rate.
    EXPECT_LE(actual.sub(after).abs().max().item<double>(), 2.01 * kSteps * kLearningRate) << parameter.name;
  }
}

std::vector<ReferenceRun> reference_runs() {
  std::vector<ReferenceRun> runs;
  for (const auto* impl : {"eager", "sdpa"}) {
    // The fused AdamW takes 1 - beta2 in the parameters' dtype; in bfloat16, gradients of a few per cent of error turn
    // some signs.
    runs.push_back({impl, "float64", Precision::kFp32, at::kDouble, 1e-13, 1e-9});
    runs.push_back({impl, "fp32", Precision::kFp32, at::kFloat, 4e-6, 1e-3});
    runs.push_back({impl, "bf16", Precision::kBf16, at::kFloat, 4e-2, 0.25});
  }
  return runs;
}

INSTANTIATE_TEST_SUITE_P(All, TrainerReference, testing::ValuesIn(reference_runs()),
                         [](const auto& run) { return fmt::format("{}_{}", run.param.impl, run.param.label); });

TEST(Trainer, TargetsAreTheTokensShiftedByOneAndDependOnTheSeed) {
  auto config = reference_config("eager", Pass::kForward, Precision::kFp32);
  const Trainer a{config, *find_model_impl("eager")};
  const Trainer same{config, *find_model_impl("sdpa")};
  config.seed = 2;
  const Trainer other{config, *find_model_impl("eager")};
  const auto context = config.context;
  EXPECT_TRUE(a.tokens().narrow(1, 1, context - 1).equal(a.targets().narrow(1, 0, context - 1)));
  EXPECT_TRUE(a.tokens().equal(same.tokens()));
  EXPECT_FALSE(a.tokens().equal(other.tokens()));
  EXPECT_GE(a.tokens().min().item<std::int64_t>(), 0);
  EXPECT_LT(a.tokens().max().item<std::int64_t>(), config.vocab_size);
}

TEST(Trainer, PhasesEndInOrderAsFarAsThePassGoes) {
  struct Expected {
    Pass pass;
    std::vector<bool> has_gradients;  // at the end of each phase
    std::vector<bool> has_changed;    // whether the parameters did
  };
  const std::vector<Expected> table{{Pass::kForward, {false}, {false}},
                                    {Pass::kForwardBackward, {false, true}, {false, false}},
                                    {Pass::kTrainStep, {false, true, true}, {false, false, true}}};
  for (const auto& row : table) {
    Trainer trainer{reference_config("eager", row.pass, Precision::kFp32), *find_model_impl("eager")};
    const at::Tensor before = trainer.parameters().named().front().value.clone();
    std::vector<bool> has_gradients, has_changed;
    trainer.step([&] {
      has_gradients.push_back(trainer.parameters().gradient(0).defined());
      has_changed.push_back(!before.equal(trainer.parameters().named().front().value));
    });
    EXPECT_EQ(has_gradients, row.has_gradients);
    EXPECT_EQ(has_changed, row.has_changed);
  }
}

TEST(Trainer, GradientsDoNotAddUpOverSteps) {
  Trainer trainer{reference_config("sdpa", Pass::kForwardBackward, Precision::kFp32), *find_model_impl("sdpa")};
  trainer.step({});
  const at::Tensor once = trainer.parameters().gradient(3).clone();
  trainer.step({});
  EXPECT_TRUE(once.equal(trainer.parameters().gradient(3)));
}

}  // namespace
}  // namespace tbench::model
