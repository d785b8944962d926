// How much the verification of a model step sees: the share of planted_faults.hpp that is found. A fault counts as
// found if the check before the timing or the one after it fails, in every precision given.
#include "tests/model/training/planted_faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "model/training/verify_trainer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model::planted {
namespace {

using testing::HasSubstr;

void append(std::vector<Fault>& faults, const std::vector<Fault>& more) {
  faults.insert(faults.end(), more.begin(), more.end());
}

std::vector<Fault> all_faults() {
  std::vector<Fault> faults = forward_faults();
  append(faults, attention_faults());
  append(faults, backward_faults());
  append(faults, optimizer_faults());
  return faults;
}

ModelConfig config_of(const Fault& fault, Precision precision) {
  return {.size = fault.size,
          .context = 32,
          .batch = kRows,
          .pass = fault.pass,
          .precision = precision,
          .impl = "eager",
          .device = DeviceKind::kCpu,
          .seed = 7,
          .vocab_size = 500};
}

struct Messages {
  std::string before, after;  // of a verification that failed; "" if it did not
  [[nodiscard]] const std::string& first() const { return before.empty() ? after : before; }
};

/// What a case does: verified, used, verified again on other data.
Messages messages_of(const Fault& fault, Precision precision) {
  state() = {};
  ModelImpl impl = eager_impl();
  if (fault.in_layers != nullptr) fault.in_layers(impl.ops);
  Trainer trainer{config_of(fault, precision), impl};
  if (fault.in_trainer != nullptr) fault.in_trainer(trainer);
  const Verification before = verify_trainer(trainer);
  trainer.step();
  return {.before = before.message, .after = verify_trainer(trainer, trainer.config().seed + 1).message};
}

std::string message_of(const Fault& fault, Precision precision) { return messages_of(fault, precision).first(); }

/// A right model that becomes wrong after its first verification, as the trainer is given to `spoil`.
std::string message_of_spoiled(Pass pass, Precision precision, void (*spoil)(ModelImpl& impl, Trainer& trainer)) {
  state() = {};
  ModelImpl impl = eager_impl();
  Trainer trainer{config_of({.name = "spoiled", .pass = pass}, precision), impl};
  EXPECT_EQ(verify_trainer(trainer).message, "");
  trainer.step();
  spoil(impl, trainer);
  return verify_trainer(trainer, trainer.config().seed + 1).message;
}

// The survivor. RoPE turns q and k by their positions, and scores depend on the difference alone: a shift of all
// positions changes no result.
const std::vector<std::string> kSurvivors{"every position one late"};

TEST(PlantedFaults, AllButTheNamedSurvivorAreFound) {
  const OneThread one_thread;
  std::vector<std::string> survivors;
  const std::vector<Fault> faults = all_faults();
  for (const Fault& fault : faults) {
    bool is_found = true;
    for (const Precision precision : fault.precisions) {
      const std::string message = message_of(fault, precision);
      is_found = is_found && !message.empty();
      std::cout << fmt::format("{} in {}: {}\n", fault.name, to_string(precision),
                               message.empty() ? "NOT FOUND" : message);
    }
    if (!is_found) survivors.push_back(fault.name);
  }
  state() = {};
  std::cout << fmt::format("mutation score: {} of {}; survivors: {}\n", faults.size() - survivors.size(), faults.size(),
                           fmt::join(survivors, ", "));
  EXPECT_GE(faults.size(), 30U);
  EXPECT_EQ(survivors, kSurvivors);
}

// What the second verification does not see by itself, beside that one: the first update has the moments' decay rates
// cancel in it, and moments that were not zero before it are reset with the weights.
const std::vector<std::string> kSurvivorsOfTheSecond{"every position one late", "no bias correction", "another beta1",
                                                     "another beta2"};

TEST(PlantedFaults, TheSecondVerificationFindsThemByItself) {
  const OneThread one_thread;
  std::vector<std::string> survivors;
  for (const Fault& fault : all_faults()) {
    bool is_found = true;
    for (const Precision precision : fault.precisions)
      is_found = is_found && !messages_of(fault, precision).after.empty();
    if (!is_found) survivors.push_back(fault.name);
  }
  state() = {};
  EXPECT_EQ(survivors, kSurvivorsOfTheSecond);
}

TEST(PlantedFaults, WhatBecomesWrongAfterTheFirstVerificationIsFound) {
  const OneThread one_thread;
  const auto reverse_rows = [](ModelImpl& impl, Trainer&) {
    impl.ops.embedding = [](const at::Tensor& weight, const at::Tensor& tokens) {
      return eager_embedding(weight, tokens.flip(0));
    };
  };
  const auto lose_half_of_the_head = [](ModelImpl&, Trainer& trainer) {
    trainer.parameters().leaves().back().register_hook([](const at::Tensor& gradient) {
      const at::Tensor wrong = gradient.clone();
      wrong.narrow(0, 0, wrong.size(0) / 2).zero_();
      return wrong;
    });
  };
  const auto slow_down = [](ModelImpl&, Trainer& trainer) {
    *trainer.optimizer() =
        AdamW{trainer.parameters().leaves(), AdamWVariant::kForeach, AdamWOptions{.learning_rate = 0.99e-3}};
  };
  for (const Precision precision : {Precision::kBf16, Precision::kFp32}) {
    EXPECT_THAT(message_of_spoiled(Pass::kForward, precision, reverse_rows), HasSubstr("logits[0]"));
    EXPECT_THAT(message_of_spoiled(Pass::kForwardBackward, precision, lose_half_of_the_head),
                HasSubstr("lm_head.weight.grad["));
    EXPECT_THAT(message_of_spoiled(Pass::kTrainStep, precision, slow_down), HasSubstr("token_embeddings.weight after"));
  }
}

TEST(PlantedFaults, WithoutAFaultNothingIsFound) {
  const OneThread one_thread;
  const auto message_without = [](const ModelSize& size, Precision precision) {
    return message_of({.name = "none", .pass = Pass::kTrainStep, .size = size}, precision);
  };
  for (const Precision precision : {Precision::kBf16, Precision::kFp32, Precision::kFp16}) {
    EXPECT_EQ(message_without(kShallow, precision), "") << to_string(precision);
  }
  EXPECT_EQ(message_without(kDeep, Precision::kBf16), "");
  EXPECT_EQ(message_without(kDeep, Precision::kFp32), "");
}

}  // namespace
}  // namespace tbench::model::planted
