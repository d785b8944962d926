// Tests cases that cannot run, are wrong, run out of memory or crash. Each has a status, a reason and no time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "measure_case_bench.hpp"
#include "tbench/core/error.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Verification wrong_output() {
  return {.passed = false,
          .reference = "float64",
          .worst_error = 7.0,
          .worst_where = "logits[3]",
          .message = "logits[3] is 1.5, expected 1.0"};
}

TEST(MeasureCase, AnUnsupportedCaseIsNotBuilt) {
  Bench bench;
  bench.subject.unsupported = "needs tensor cores";
  bench.subject.on_build = [] { FAIL() << "built"; };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kUnsupported);
  EXPECT_EQ(record.reason, "needs tensor cores");
  EXPECT_FALSE(record.timing.has_value());
}

TEST(MeasureCase, WhatBuildingShowsToBeUnsupportedIsNoCrash) {
  Bench bench;
  bench.subject.on_build = [] { throw Unsupported{"the step waits for the device"}; };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kUnsupported);
  EXPECT_EQ(record.reason, "the step waits for the device");
  EXPECT_FALSE(record.timing.has_value());
}

TEST(MeasureCase, AWrongOutputHasNoTime) {
  Bench bench;
  bench.subject.verification = wrong_output();
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kIncorrect);
  EXPECT_EQ(record.reason, "logits[3] is 1.5, expected 1.0");
  EXPECT_FALSE(record.timing.has_value());
  EXPECT_FALSE(record.memory.has_value());
  EXPECT_EQ(record.verification->worst_where, "logits[3]");
  EXPECT_EQ(bench.timer.steps, 0);
}

TEST(MeasureCase, AnOutputFoundWrongAfterwardsHasNoTimeEither) {
  Bench bench;
  bench.subject.checked_last = true;
  bench.subject.own_counters = {{"skipped_steps", 2.0}};
  bench.subject.verification = wrong_output();
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kIncorrect);
  EXPECT_EQ(record.reason, "logits[3] is 1.5, expected 1.0");
  EXPECT_FALSE(record.timing.has_value());
  EXPECT_FALSE(record.memory.has_value());
  EXPECT_TRUE(record.counters.empty());
  EXPECT_GT(bench.timer.steps, 0);
}

TEST(MeasureCase, AnOutputFoundWrongAfterTheTimingHasNoTimeAndSaysSo) {
  Bench bench;
  bench.subject.own_counters = {{"skipped_steps", 2.0}};
  bench.subject.second_verification = wrong_output();
  const std::vector<Record> records = bench.run(3);
  ASSERT_EQ(records.size(), 1U);  // the other repetitions would fail, too
  const Record& record = records.front();
  EXPECT_EQ(record.status, Status::kIncorrect);
  EXPECT_EQ(record.reason, "found after the timing, on other data: logits[3] is 1.5, expected 1.0");
  EXPECT_FALSE(record.timing.has_value());
  EXPECT_FALSE(record.memory.has_value());
  EXPECT_TRUE(record.counters.empty());
  EXPECT_FALSE(record.verification->passed);
  EXPECT_GT(bench.timer.steps, 0);
}

TEST(MeasureCase, EscapedWorkHasNoTime) {
  Bench bench;
  bench.timer.escaped = [](std::int64_t) { return Seconds{1.0}; };
  const std::vector<Record> records = bench.run(3);
  ASSERT_EQ(records.size(), 1U);  // the other repetitions would fail, too
  EXPECT_EQ(records[0].status, Status::kIncorrect);
  EXPECT_THAT(records[0].reason, HasSubstr("the timed region does not contain the work"));
  EXPECT_FALSE(records[0].timing.has_value());
}

TEST(MeasureCase, OutOfMemoryWhileBuildingIsAResult) {
  Bench bench;
  bench.subject.on_build = [] { throw OutOfMemory{"no room for the weights", 123456}; };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kOom);
  EXPECT_EQ(record.reason, "no room for the weights");
  EXPECT_EQ(record.requested_bytes, 123456);
  EXPECT_FALSE(record.timing.has_value());
  EXPECT_EQ(bench.probe.releases, 2);  // before the case and after the failure
  EXPECT_EQ(bench.timer.steps, 0);
}

TEST(MeasureCase, OutOfMemoryInAStepIsAResult) {
  Bench bench;
  bench.subject.on_launch = [](std::int64_t launch) {
    if (launch == 70) {
      throw OutOfMemory{"fragmented", std::nullopt};
    }
  };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kOom);
  EXPECT_FALSE(record.requested_bytes.has_value());
  EXPECT_FALSE(record.timing.has_value());
  EXPECT_TRUE(record.verification->passed);
}

TEST(MeasureCase, OutOfMemoryKeepsTheCountersThatBuildingHasSettled) {
  Bench bench;
  bench.subject.own_counters = {{"held_bytes", 8.0}, {"skipped_steps", 2.0}};
  bench.subject.own_build_counters = {{"held_bytes", 8.0}, {"broken", std::numeric_limits<double>::quiet_NaN()}};
  bench.subject.on_launch = [](std::int64_t) { throw OutOfMemory{"no room for the gradients", 5}; };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kOom);
  EXPECT_THAT(record.counters, ElementsAre(Pair("held_bytes", 8.0)));

  bench.subject.on_build = [] { throw OutOfMemory{"no room for the inputs", 5}; };
  EXPECT_TRUE(bench.run_once().counters.empty());
}

TEST(MeasureCase, NoOtherFailureKeepsCounters) {
  Bench crashed;
  crashed.subject.own_build_counters = {{"held_bytes", 8.0}};
  crashed.subject.on_launch = [](std::int64_t) { throw std::runtime_error{"an illegal memory access"}; };
  EXPECT_TRUE(crashed.run_once().counters.empty());
  Bench wrong;
  wrong.subject.own_build_counters = {{"held_bytes", 8.0}};
  wrong.subject.verification.passed = false;
  EXPECT_TRUE(wrong.run_once().counters.empty());
}

TEST(MeasureCase, ATraceOfAnotherStepThanTheNameSaysIsIncorrect) {
  Bench bench;
  bench.traces = true;
  std::int64_t checked_steps = 0;
  bench.trace_check = [&](const StepTrace& trace) -> std::optional<std::string> {
    checked_steps = trace.steps;
    return "precision:tf32: no product in TF32";
  };
  const std::vector<Record> records = bench.run(2);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_GT(checked_steps, 0);
  EXPECT_EQ(records[0].status, Status::kIncorrect);
  EXPECT_EQ(records[0].reason, "precision:tf32: no product in TF32");
  EXPECT_FALSE(records[0].timing.has_value());
  EXPECT_FALSE(records[0].trace.has_value());
  EXPECT_FALSE(records[0].memory.has_value());

  bench.trace_check = [](const StepTrace&) { return std::nullopt; };
  EXPECT_EQ(bench.run_once().status, Status::kOk);
  bench.tracer.refusal = "a profiler is attached";
  bench.trace_check = [](const StepTrace&) { return std::optional<std::string>{"never asked"}; };
  EXPECT_EQ(bench.run_once().status, Status::kOk) << "without a trace there is nothing to check";
}

TEST(MeasureCase, OutOfMemoryInTheMemoryPassLeavesNoTime) {
  Bench bench;
  bench.subject.on_launch = [&bench](std::int64_t) {
    if (!bench.activities.empty() && bench.activities.back() == "measuring memory") {
      throw OutOfMemory{"too little", 1};
    }
  };
  const std::vector<Record> records = bench.run(2);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::kOom);
  EXPECT_FALSE(records[0].timing.has_value());
}

TEST(MeasureCase, ADeviceThatCannotBeClearedAfterOutOfMemoryIsACrash) {
  Bench bench;
  bench.subject.on_build = [&bench] {
    bench.probe.fail_release = true;
    throw OutOfMemory{"no room", 1};
  };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kCrashed);
  EXPECT_THAT(record.reason, HasSubstr("release failed"));
}

TEST(MeasureCase, OtherExceptionsAreCrashes) {
  Bench bench;
  bench.subject.on_launch = [](std::int64_t) { throw std::runtime_error{"an illegal memory access"}; };
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kCrashed);
  EXPECT_EQ(record.reason, "an illegal memory access");
  EXPECT_FALSE(record.timing.has_value());

  Bench strange;
  strange.subject.on_build = [] { throw 42; };
  EXPECT_EQ(strange.run_once().status, Status::kCrashed);
}

TEST(MeasureCase, WrongMarksOnTheRealClockAreACrash) {
  class OneMarkTooMany final : public FakeCase {
   public:
    void launch(PhaseMarker& marker) override {
      marker.mark();
      marker.mark();
    }
  };
  OneMarkTooMany subject;
  SteadyClockTimer timer;
  NoClockMonitor monitor;
  const Instruments instruments{
      .timer = timer, .monitor = monitor, .memory = nullptr, .gpu = std::nullopt, .device_used_bytes = {}};
  const auto records = measure_case(CaseId{"Planted", {}}, subject, std::nullopt, instruments, {}, 1, {}, {});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::kCrashed);
  EXPECT_THAT(records[0].reason, HasSubstr("must mark each phase once"));
}

}  // namespace
}  // namespace tbench::measure
