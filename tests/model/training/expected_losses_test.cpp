// Tests the check of a step that never has all logits: every token's lse and the logit of its target stand in for them.
// Right steps pass in every precision and with tiles of tokens, and errors of a single token are found.
#include "model/training/expected_losses.hpp"

#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>

#include "model/training/verify_trainer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::HasSubstr;

/// Replaces a step's logits by every token's lse and loss.
void leave_losses(const Trainer& trainer, StepOutputs& outputs) {
  const at::Tensor logits = outputs.logits.flatten(0, 1).to(at::kFloat);
  outputs.lse = logits.logsumexp(-1);
  outputs.losses = outputs.lse.sub(logits.gather(1, trainer.targets().flatten().unsqueeze(1)).squeeze(1));
  outputs.logits.reset();
}

/// Verifies a step without logits, whose outputs `change` may change.
Verification verdict_of(Trainer& trainer, std::uint64_t seed, const std::function<void(StepOutputs&)>& change) {
  return verify_trainer(trainer, seed, [&](StepOutputs& outputs) {
    make_checked_step(trainer, outputs);
    leave_losses(trainer, outputs);
    change(outputs);
  });
}

TEST(ExpectedLosses, RightStepsPassInEveryPrecision) {
  const OneThread one_thread;
  constexpr std::uint64_t kSeeds = 10;
  double worst = 0;
  for (const char* const impl : {"eager", "sdpa"}) {
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      ModelConfig config = tiny_step(impl, Pass::kForwardBackward, precision);
      Trainer trainer{config, model_impls().at(impl)};
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const Verification verdict = verdict_of(trainer, seed, [](StepOutputs&) {});
        EXPECT_TRUE(verdict.passed) << impl << ' ' << to_string(precision) << ": " << verdict.message;
        worst = std::max(worst, verdict.worst_error);
      }
    }
  }
  std::cout << fmt::format("the largest error is {:.2f} of its tolerance\n", worst);
}

TEST(ExpectedLosses, ErrorsOfOneTokenAreFound) {
  const OneThread one_thread;
  constexpr std::int64_t kToken = 40;
  Trainer trainer{tiny_step("sdpa", Pass::kForwardBackward, Precision::kBf16), model_impls().at("sdpa")};
  const auto message_of = [&](const std::function<void(StepOutputs&)>& change) {
    const Verification verdict = verdict_of(trainer, trainer.config().seed, change);
    return verdict.passed ? "" : verdict.message;
  };
  EXPECT_EQ(message_of([](StepOutputs&) {}), "");
  EXPECT_THAT(message_of([](StepOutputs& outputs) { outputs.lse[kToken].add_(0.5); }), HasSubstr("lse[1, 0:]"));
  EXPECT_THAT(message_of([](StepOutputs& outputs) { outputs.losses[kToken].copy_(outputs.losses[kToken + 1]); }),
              HasSubstr("logits of targets[1, 0:]"));
  EXPECT_THAT(message_of([](StepOutputs& outputs) { outputs.losses.slice(0, 32).zero_(); }),
              HasSubstr("logits of targets[1, 0:]"));
  EXPECT_THAT(message_of([](StepOutputs& outputs) { outputs.lse[kToken].fill_(std::nan("")); }), HasSubstr("nan"));
}

TEST(ExpectedLosses, TilesOfTokensAreComparedOneByOne) {
  const OneThread one_thread;
  ModelConfig config = tiny_step("sdpa", Pass::kForward, Precision::kFp32);
  config.context = 2048;
  config.batch = 1;
  config.size.num_layers = 1;
  Trainer trainer{config, model_impls().at("sdpa")};
  EXPECT_TRUE(verdict_of(trainer, 1, [](StepOutputs&) {}).passed);
  const Verification verdict = verdict_of(trainer, 1, [](StepOutputs& outputs) { outputs.lse[1500].add_(0.01); });
  EXPECT_THAT(verdict.message, HasSubstr("lse[0, 1024:]"));
}

TEST(ExpectedLosses, NoErrorIsLargerThanThatOfALogit) {
  const ModelConfig config = tiny_step("sdpa", Pass::kForward, Precision::kBf16);
  const at::Tensor logits = at::randn({8, 500}, at::kDouble);
  const ExpectedLosses expected =
      expected_losses(config, logits, at::randint(500, {8}, at::kLong), ReferenceProducts::kItsOwnType);
  const Tolerance of_logits = rounding_tolerance(config, Quantity::kLogits, 32 * 500);
  EXPECT_LT(expected.lse_allowance.max().item<double>(), 2 * (of_logits.of_rms + of_logits.relative));
  EXPECT_LT(expected.target_allowance.max().item<double>(), 2 * of_logits.of_rms);
  EXPECT_EQ(expected.target_relative, of_logits.relative);
}

}  // namespace
}  // namespace tbench::model
