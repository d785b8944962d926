#include "measure/sampler/memory_classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/allocation_log.hpp"

namespace tbench::measure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::array<std::string_view, 2> kPhases{"forward", "backward"};

/// A log to which a test adds allocations one by one, with marks at the ends of a step's phases.
class Log {
 public:
  explicit Log(std::int64_t before) : live_{before} { log_.allocated_before = before; }

  void begin(std::vector<LiveTensor> held) {
    steps_.push_back({.begin = log_.events.size(), .phase_ends = {}});
    marks_.push_back({.event = log_.events.size(), .tensors = std::move(held)});
  }
  void end_phase(std::vector<LiveTensor> held) {
    steps_.back().phase_ends.push_back(log_.events.size());
    marks_.push_back({.event = log_.events.size(), .tensors = std::move(held)});
  }
  void add(std::uint64_t address, std::int64_t bytes, std::size_t operation = 0) {
    live_ += bytes;
    log_.events.push_back({.address = address, .bytes = bytes, .allocated = live_, .range = 0, .operation = operation});
  }
  [[nodiscard]] std::map<std::string, std::int64_t> behind(std::size_t events) const {
    AllocationLog log = log_;
    log.ranges = {""};
    log.operations = {"", "aten::_to_copy"};
    std::map<std::string, std::int64_t> split = MemoryClasses{log, steps_, kPhases, marks_}.behind(events);
    std::int64_t sum = 0;
    for (const auto& [name, bytes] : split) sum += bytes;
    EXPECT_EQ(sum, events == 0 ? log.allocated_before : log.events[events - 1].allocated);
    std::erase_if(split, [](const auto& part) { return part.second == 0; });
    return split;
  }
  [[nodiscard]] std::size_t size() const { return log_.events.size(); }

 private:
  std::int64_t live_;
  AllocationLog log_;
  std::vector<LoggedStep> steps_;
  std::vector<LiveTensors> marks_;
};

const LiveTensor kWeights{.address = 0x1000, .bytes = 600, .memory_class = "parameters"};
const LiveTensor kGradient{.address = 0x2000, .bytes = 590, .memory_class = "gradients"};

TEST(MemoryClasses, ABlockIsOfTheTensorInItAtTheNextMark) {
  Log log{1'000};
  log.begin({kWeights});
  log.end_phase({kWeights});
  log.add(0x2000, 600);
  const std::size_t peak = log.size();
  log.end_phase({kWeights, kGradient});
  log.begin({kWeights, kGradient});
  log.add(0x2000, -600);  // freed in the second step; the tensor that the first step's end showed in it remains known
  log.end_phase({kWeights});
  log.end_phase({kWeights});
  EXPECT_THAT(log.behind(0), ElementsAre(Pair("other", 400), Pair("parameters", 600)));
  EXPECT_THAT(log.behind(peak), ElementsAre(Pair("gradients", 590), Pair("other", 410), Pair("parameters", 600)));
}

TEST(MemoryClasses, WhatNobodyHoldsIsNamedByItsLife) {
  Log log{1'000};
  log.begin({kWeights});
  log.add(1, 10);     // is freed in its phase
  log.add(2, 20);     // lives until backward
  log.add(3, 40, 1);  // a cast
  log.add(4, 80);     // outlives the step
  log.add(5, 160);    // returned by the step
  const std::size_t peak = log.size();
  log.add(1, -10);
  log.end_phase({kWeights});
  log.add(6, 320);
  const std::size_t in_backward = log.size();
  log.add(6, -320);
  log.add(2, -20);
  log.add(3, -40);
  log.end_phase({kWeights});
  log.add(5, -160);
  log.begin({kWeights});
  log.end_phase({kWeights});
  log.end_phase({kWeights});
  EXPECT_THAT(log.behind(peak), UnorderedElementsAre(Pair("parameters", 600), Pair("other", 400),
                                                     Pair("forward_temporaries", 10), Pair("activations", 20),
                                                     Pair("casts", 40), Pair("workspaces", 80), Pair("results", 160)));
  EXPECT_EQ(log.behind(in_backward).at("backward_temporaries"), 320);
  EXPECT_THAT(log.behind(log.size()),
              UnorderedElementsAre(Pair("parameters", 600), Pair("other", 400), Pair("workspaces", 80)));
}

TEST(MemoryClasses, FreeingAnEarlierTensorReducesItsClass) {
  Log log{2'000};
  log.begin({kWeights, kWeights, kGradient, {.address = 0, .bytes = 7, .memory_class = "casts"}});
  log.end_phase({kWeights});
  log.add(0x2000, -600);  // the gradient's block, ten bytes larger than the tensor
  log.add(0x3000, -5);    // a block that no tensor is known for
  log.end_phase({kWeights});
  EXPECT_EQ(log.behind(0).at("other"), 2'000 - 600 - 590 - 7) << "a storage counts once";
  EXPECT_EQ(log.behind(1).at("other"), 2'000 - 600 - 590 - 7 - 10);
  EXPECT_FALSE(log.behind(1).contains("gradients"));
  EXPECT_EQ(log.behind(2).at("other"), 2'000 - 600 - 590 - 7 - 10 - 5);
}

TEST(MemoryClasses, OfACaseThatTellsNothingThereAreNone) {
  const AllocationLog log{.allocated_before = 1'000, .events = {}, .ranges = {}};
  const std::vector<LoggedStep> steps{{.begin = 0, .phase_ends = {0, 0}}};
  EXPECT_THAT((MemoryClasses{log, steps, kPhases, {}}.behind(0)), IsEmpty());
  const std::vector<LiveTensors> marks(3);
  EXPECT_THAT((MemoryClasses{log, steps, kPhases, marks}.behind(0)), IsEmpty());
}

}  // namespace
}  // namespace tbench::measure
