#include "model/training/trainer_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "measure/sampler/memory_pass.hpp"
#include "measure/sampler/step_marks.hpp"
#include "model/torch/allocation_logger.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;

// The model has 2 * 500 * 64 + 2 * (4 * 64^2 + 3 * 64 * 256 + 2 * 64) + 64 = 195,392 parameters of 4 bytes.
constexpr std::int64_t kTinyBytes = 4 * 195'392;

/// Returns the bytes that the CPU's allocator counts as live since this process began.
std::int64_t allocated_now() {
  AllocationLogger logger{c10::Device{c10::kCPU}, 0};
  const c10::DataPtr block = c10::GetAllocator(c10::kCPU)->allocate(64);
  const AllocationEvent event = logger.take().events.at(0);
  return event.allocated - event.bytes;
}

/// Runs the memory pass of the first two steps on the CPU. Its allocator does not report blocks that were not logged.
MemoryUse memory_of(const std::string& impl, Pass pass, Precision precision = Precision::kFp32) {
  const OneThread one_thread;
  const auto subject = make_model_case(tiny_step(impl, pass, precision));
  subject->build();
  const std::int64_t before = allocated_now();
  AllocationLogger logger{c10::Device{c10::kCPU}, before};
  std::vector<LiveTensors> held;
  const auto look = [&] {
    held.push_back({.event = logger.events(), .tensors = subject->live_tensors()});
    return held.back().event;
  };
  auto marks = measure::step_marks<LoggedStep>(look);
  for (int step = 0; step < 2; ++step) {
    CountedPhases phases;
    marks.launch(*subject, phases);
  }
  look();
  MemoryUse use;
  use.allocated_peak = measure::add_log(use, logger.take(), marks.steps(), subject->phases(), held);
  return use;
}

std::int64_t sum_of(const std::map<std::string, std::int64_t>& split) {
  std::int64_t sum = 0;
  for (const auto& [name, bytes] : split) sum += bytes;
  return sum;
}

TEST(TrainerMemory, ClassesAddUpToThePeakAndToWhatPhasesHold) {
  for (const std::string impl : {"eager", "sdpa"}) {
    for (const Pass pass : {Pass::kForward, Pass::kForwardBackward, Pass::kTrainStep}) {
      const MemoryUse use = memory_of(impl, pass, Precision::kBf16);
      EXPECT_EQ(sum_of(use.split), use.allocated_peak) << impl << " " << to_string(pass);
      for (const PhaseMemory& phase : use.phases) EXPECT_EQ(sum_of(phase.held_split), phase.held) << phase.phase;
    }
  }
}

TEST(TrainerMemory, GradientsAtTheEndOfBackwardAreTheirCount) {
  for (const std::string impl : {"eager", "sdpa"}) {
    for (const Pass pass : {Pass::kForwardBackward, Pass::kTrainStep}) {
      const MemoryUse use = memory_of(impl, pass);
      EXPECT_EQ(use.phases.at(1).held_split.at("gradients"), kTinyBytes) << impl << " " << to_string(pass);
      EXPECT_THAT(use.phases.at(0).held_split, Not(Contains(Key("gradients")))) << "none are left of the step before";
    }
  }
}

TEST(TrainerMemory, WhatATrainStepEndsWith) {
  const std::map<std::string, std::int64_t> held = memory_of("eager", Pass::kTrainStep).phases.at(2).held_split;
  EXPECT_EQ(held.at("parameters"), kTinyBytes);
  EXPECT_EQ(held.at("optimizer_state"), 2 * kTinyBytes);
  EXPECT_EQ(held.at("gradients"), kTinyBytes);
  EXPECT_THAT(held, Not(Contains(Key("activations"))));
  EXPECT_THAT(held, Not(Contains(Key("optimizer_temporaries"))));
}

TEST(TrainerMemory, WhatForwardLeavesIsActivationsAndCasts) {
  const MemoryUse fp32 = memory_of("sdpa", Pass::kForwardBackward);
  EXPECT_GT(fp32.phases.at(0).held_split.at("activations"), kTinyBytes / 10);
  EXPECT_THAT(fp32.phases.at(0).held_split, Not(Contains(Key("casts"))));
  const MemoryUse bf16 = memory_of("sdpa", Pass::kForwardBackward, Precision::kBf16);
  EXPECT_GT(bf16.phases.at(0).held_split.at("casts"), kTinyBytes / 4) << "of every weight in a product, half its bytes";
}

}  // namespace
}  // namespace tbench::model
