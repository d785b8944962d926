// Tests which share of the faults in planted_faults.hpp the verification of a model step finds. A fault is found if the
// check before or the check after the timing fails in every precision of the fault.
#include "tests/model/training/planted_faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "model/training/verify_trainer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model::planted {
namespace {

using testing::HasSubstr;

/// A group of faults, with the ones that neither verification finds and the ones that the second alone does not find.
struct Part {
  std::string name;
  std::vector<std::vector<Fault> (*)()> faults;
  std::vector<std::string> survivors;
  std::vector<std::string> survivors_of_the_second;
};

std::vector<Fault> faults_of(const Part& part) {
  std::vector<Fault> faults;
  for (const auto list : part.faults) {
    const std::vector<Fault> more = list();
    faults.insert(faults.end(), more.begin(), more.end());
  }
  return faults;
}

/// One fault survives both verifications: RoPE rotates q and k by their positions, and scores depend only on the
/// difference of positions, so a shift of all positions changes no result. The second verification alone misses two
/// more faults. The moments' decay rates cancel in the first update. Moments that were not zero before it are reset
/// together with the weights.
const std::vector<Part> kParts{{.name = "Forward",
                                .faults = {forward_faults, attention_faults},
                                .survivors = {"every position one late"},
                                .survivors_of_the_second = {"every position one late"}},
                               {.name = "Backward",
                                .faults = {backward_faults, optimizer_faults},
                                .survivors = {},
                                .survivors_of_the_second = {"no bias correction", "another beta1", "another beta2"}}};

ModelConfig config_of(const Fault& fault, Precision precision) {
  ModelSize size = fault.size;
  size.vocab_size = 500;
  return {.size = size,
          .context = 32,
          .batch = kRows,
          .pass = fault.pass,
          .precision = precision,
          .impl = "eager",
          .device = DeviceKind::kCpu,
          .seed = 7};
}

struct Messages {
  std::string before, after;  // messages of the verifications; empty if they passed
  [[nodiscard]] const std::string& first() const { return before.empty() ? after : before; }
};

/// Does what a case does: verifies, runs, and verifies again on other data.
Messages messages_of(const Fault& fault, Precision precision) {
  state() = {};
  ModelImpl impl = model_impls().at("eager");
  if (fault.in_layers != nullptr) fault.in_layers(impl.ops);
  Trainer trainer{config_of(fault, precision), impl};
  if (fault.in_trainer != nullptr) fault.in_trainer(trainer);
  const Verification before = verify_trainer(trainer);
  trainer.step();
  return {.before = before.message, .after = verify_trainer(trainer, trainer.config().seed + 1).message};
}

std::string message_of(const Fault& fault, Precision precision) { return messages_of(fault, precision).first(); }

struct Judged {
  Fault fault;
  std::vector<Messages> messages;  // in the order of fault.precisions
};

/// Returns each fault of a part with its messages. Each is verified once, for both tests.
const std::vector<Judged>& judged_faults(const Part& part) {
  static std::map<std::string, std::vector<Judged>> known;
  std::vector<Judged>& judged = known[part.name];
  if (!judged.empty()) return judged;
  const OneThread one_thread;
  for (const Fault& fault : faults_of(part)) {
    judged.push_back({.fault = fault, .messages = {}});
    for (const Precision precision : fault.precisions) {
      judged.back().messages.push_back(messages_of(fault, precision));
    }
  }
  state() = {};
  return judged;
}

/// Returns the message for a correct model that `spoil` makes wrong after its first verification.
std::string message_of_spoiled(Pass pass, Precision precision, void (*spoil)(ModelImpl& impl, Trainer& trainer)) {
  state() = {};
  ModelImpl impl = model_impls().at("eager");
  Trainer trainer{config_of({.name = "spoiled", .pass = pass}, precision), impl};
  EXPECT_EQ(verify_trainer(trainer).message, "");
  trainer.step();
  spoil(impl, trainer);
  return verify_trainer(trainer, trainer.config().seed + 1).message;
}

TEST(PlantedFaultsOfAStep, AreThirtyAndMore) {
  std::size_t count = 0;
  for (const Part& part : kParts) count += faults_of(part).size();
  EXPECT_GE(count, 30U);
}

class PlantedFaults : public ::testing::TestWithParam<Part> {};
INSTANTIATE_TEST_SUITE_P(Forward, PlantedFaults, ::testing::Values(kParts[0]));
INSTANTIATE_TEST_SUITE_P(Backward, PlantedFaults, ::testing::Values(kParts[1]));

TEST_P(PlantedFaults, AllButTheNamedSurvivorsAreFound) {
  std::vector<std::string> survivors;
  for (const auto& [fault, messages] : judged_faults(GetParam())) {
    bool is_found = true;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::string& message = messages[i].first();
      is_found = is_found && !message.empty();
      std::cout << fmt::format("{} in {}: {}\n", fault.name, to_string(fault.precisions[i]),
                               message.empty() ? "NOT FOUND" : message);
    }
    if (!is_found) survivors.push_back(fault.name);
  }
  const std::size_t faults = judged_faults(GetParam()).size();
  std::cout << fmt::format("mutation score: {} of {}; survivors: {}\n", faults - survivors.size(), faults,
                           fmt::join(survivors, ", "));
  EXPECT_EQ(survivors, GetParam().survivors);
}

TEST_P(PlantedFaults, TheSecondVerificationFindsThemByItself) {
  std::vector<std::string> survivors;
  for (const auto& [fault, messages] : judged_faults(GetParam())) {
    const auto is_found = [](const Messages& one) { return !one.after.empty(); };
    if (!std::ranges::all_of(messages, is_found)) survivors.push_back(fault.name);
  }
  EXPECT_EQ(survivors, GetParam().survivors_of_the_second);
}

TEST(PlantedFaultsOfAStep, WhatBecomesWrongAfterTheFirstVerificationIsFound) {
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

TEST(PlantedFaultsOfAStep, WithoutAFaultNothingIsFound) {
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
