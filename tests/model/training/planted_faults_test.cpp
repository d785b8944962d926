// How much the verification of a model step sees: the share of planted_faults.hpp that is found. A fault counts as
// found if the check before the timing or the one after it fails, in every precision given.
#include "tests/model/training/planted_faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <iostream>

#include "model/training/verify_trainer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model::planted {
namespace {

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

/// What a case does: verified, used, verified again on other data.
/// @return  the message of the verification that failed, or "" if none did
std::string message_of(const Fault& fault, Precision precision) {
  state() = {};
  ModelImpl impl = eager_impl();
  if (fault.in_layers != nullptr) fault.in_layers(impl.ops);
  Trainer trainer{config_of(fault, precision), impl};
  if (fault.in_trainer != nullptr) fault.in_trainer(trainer);
  const Verification before = verify_trainer(trainer);
  if (!before.passed) return before.message;
  trainer.step();
  const Verification after = verify_trainer(trainer, trainer.config().seed + 1);
  return after.passed ? "" : after.message;
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
