#include "measure/sampler/memory_pass.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "fakes.hpp"
#include "measure_case_bench.hpp"
#include "support/memory_log.hpp"

namespace tbench::measure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::array<std::string_view, 2> kPhases{"forward", "backward"};

TEST(MemoryLog, PhasesHaveTheirPeakAndWhatTheyLeave) {
  const support::LoggedSteps logged;
  MemoryUse use;
  add_log(use, logged.log, logged.steps, kPhases, {});
  EXPECT_THAT(use.phases, ElementsAre(PhaseMemory{.phase = "forward", .allocated_peak = 1'300, .held = 1'300},
                                      PhaseMemory{.phase = "backward", .allocated_peak = 1'340, .held = 1'040}));
}

TEST(MemoryLog, ThePeakIsTheLastOfThoseAsHigh) {
  const support::LoggedSteps logged;
  MemoryUse use;
  EXPECT_EQ(add_log(use, logged.log, logged.steps, kPhases, {}), 1'340);
  EXPECT_THAT(use.split, IsEmpty()) << "nothing was told of what is held";
}

TEST(MemoryLog, WhatIsLiveAtThePeakByRange) {
  const support::LoggedSteps logged;
  MemoryUse use;
  add_log(use, logged.log, logged.steps, kPhases, {});
  EXPECT_THAT(use.peak_ranges, ElementsAre(RangeMemory{.range = "FORWARD/layer.*", .bytes = 300, .allocations = 2},
                                           RangeMemory{.range = "BACKWARD/layer.*", .bytes = 40, .allocations = 1}));
  EXPECT_THAT(use.largest, ElementsAre(Allocation{.range = "FORWARD/layer.1", .bytes = 200},
                                       Allocation{.range = "FORWARD/layer.0", .bytes = 100},
                                       Allocation{.range = "BACKWARD/layer.1", .bytes = 40}));
}

TEST(MemoryLog, NamesAtMostTenAllocations) {
  AllocationLog log{.allocated_before = 0, .events = {}, .ranges = {"FORWARD"}};
  for (int i = 1; i <= 12; ++i) {
    log.events.push_back(
        {.address = static_cast<std::uint64_t>(i), .bytes = i, .allocated = i * (i + 1) / 2, .range = 0});
  }
  MemoryUse use;
  add_log(use, log, {}, kPhases, {});
  ASSERT_EQ(use.largest.size(), 10U);
  EXPECT_EQ(use.largest.front().bytes, 12);
  EXPECT_EQ(use.largest.back().bytes, 3);
  EXPECT_EQ(use.peak_ranges.at(0).allocations, 12);
}

TEST(MemoryLog, AStepThatAllocatesNothingPeaksWhereItBegins) {
  const AllocationLog log{.allocated_before = 700, .events = {}, .ranges = {}};
  MemoryUse use;
  const std::vector<LoggedStep> steps{{.begin = 0, .phase_ends = {0, 0}}};
  EXPECT_EQ(add_log(use, log, steps, kPhases, {}), 700);
  EXPECT_THAT(use.phases, ElementsAre(PhaseMemory{.phase = "forward", .allocated_peak = 700, .held = 700},
                                      PhaseMemory{.phase = "backward", .allocated_peak = 700, .held = 700}));
}

TEST(MemoryPass, OfACase) {
  Bench bench;
  bench.timer.prepare(2, 1);
  std::size_t logged = 0;
  const MemoryUse use = measure_memory(bench.subject, bench.timer, bench.probe,
                                       [&](const AllocationLog& log, std::span<const LoggedStep> steps) {
                                         logged = log.events.size();
                                         EXPECT_EQ(steps.size(), 2U);
                                       });
  EXPECT_EQ(use.allocated_peak, 1'000);
  EXPECT_EQ(use.unlogged, std::nullopt);
  EXPECT_THAT(use.split, ElementsAre(Pair("other", 200), Pair("parameters", 100), Pair("step_temporaries", 700)));
  EXPECT_THAT(
      use.phases,
      ElementsAre(PhaseMemory{
          .phase = "step", .allocated_peak = 1'000, .held = 300, .held_split = {{"other", 200}, {"parameters", 100}}}));
  EXPECT_THAT(use.largest, ElementsAre(Allocation{.range = "FORWARD/layer.3", .bytes = 700}));
  EXPECT_EQ(logged, 4U);
  EXPECT_EQ(bench.probe.logs, 0);
}

TEST(MemoryPass, SeesTheStepThatRecordsAndNoReplay) {
  Bench bench;
  bench.timer.prepare(2, 1);
  bench.subject.records = true;
  std::size_t steps_seen = 0;
  static_cast<void>(
      measure_memory(bench.subject, bench.timer, bench.probe,
                     [&](const AllocationLog&, std::span<const LoggedStep> steps) { steps_seen = steps.size(); }));
  EXPECT_EQ(steps_seen, 1U);
  EXPECT_EQ(bench.subject.launches, 1);
  EXPECT_THAT(bench.subject.launches_before_recording, ElementsAre(0));
}

TEST(MemoryPass, SaysWhatTheLogDoesNotHave) {
  Bench bench;
  bench.timer.prepare(2, 1);
  bench.probe.logged_bytes = 600;
  const MemoryUse use = measure_memory(bench.subject, bench.timer, bench.probe, {});
  EXPECT_EQ(use.unlogged, 100);
  EXPECT_EQ(use.split.at("other"), 300) << "they add up to the allocator's own peak";
}

TEST(MemoryPass, AStepThatThrowsEndsTheLog) {
  Bench bench;
  bench.timer.prepare(2, 1);
  bench.subject.on_launch = [](std::int64_t) { throw std::runtime_error{"no more"}; };
  EXPECT_THROW(static_cast<void>(measure_memory(bench.subject, bench.timer, bench.probe, {})), std::runtime_error);
  EXPECT_EQ(bench.probe.logs, 0);
}

}  // namespace
}  // namespace tbench::measure
