// Tests the traced steps of a case with a fake tracer.
#include "tbench/measure/step_tracer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "measure_case_bench.hpp"

namespace tbench::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(TraceSteps, LongStepsAreTracedFewerTimes) {
  const auto traced = [](double step_s, Regime regime) {
    FakeCase subject;
    FakeTimer timer{[&](std::int64_t) { return step_s; }};
    FakeTracer tracer{Seconds{step_s}};
    return trace_steps(subject, timer, tracer, {.regime = regime}, {step_s}).steps;
  };
  EXPECT_EQ(traced(1e-6, Regime::kSustained), 10);
  EXPECT_EQ(traced(0.0159, Regime::kSustained), 5);  // as many as fit into 0.08 s
  EXPECT_EQ(traced(2, Regime::kSustained), 2);
  EXPECT_EQ(traced(1e-6, Regime::kBurst), 10);
  EXPECT_EQ(traced(0.0039, Regime::kBurst), 5);  // as many as fit into a quarter of 0.08 s
  EXPECT_EQ(traced(0.029, Regime::kBurst), 2);
}

TEST(TraceSteps, EachStepAndPhaseHasItsMoment) {
  FakeCase subject;
  subject.phase_names = {"forward", "backward"};
  FakeTimer timer{[](std::int64_t) { return 1.0; }};
  FakeTracer tracer{Seconds{1}};
  static_cast<void>(trace_steps(subject, timer, tracer, {}, {1}));
  ASSERT_THAT(tracer.steps, SizeIs(3));  // one more than the number of traced steps
  std::int64_t before = 0;
  for (const EnqueuedStep& step : tracer.steps) {
    EXPECT_GT(step.start_ns, before);
    ASSERT_THAT(step.phase_ends_ns, SizeIs(2));
    EXPECT_GT(step.phase_ends_ns[0], step.start_ns);
    EXPECT_GT(step.phase_ends_ns[1], step.phase_ends_ns[0]);
    before = step.phase_ends_ns[1];
  }
  EXPECT_THAT(tracer.phase_names, ElementsAre("forward", "backward"));
  EXPECT_EQ(timer.phases, 2U);
}

TEST(TraceSteps, ARunUpComesBeforeTheStepsThatCount) {
  FakeCase subject;
  FakeTimer timer{[](std::int64_t) { return 0.01; }};
  FakeTracer tracer{Seconds{0.01}};
  EXPECT_EQ(trace_steps(subject, timer, tracer, {.run_up = Seconds{0.155}}, {0.01}).steps, 8);
  EXPECT_EQ(subject.launches, 24) << "15 of the run-up, one that does not count, eight";
  EXPECT_THAT(tracer.steps, SizeIs(9));
}

TEST(TraceSteps, RecordsAnewInAStepMore) {
  FakeCase subject;
  subject.records = true;
  FakeTimer timer{[](std::int64_t) { return 1.0; }};
  FakeTracer tracer{Seconds{1}};
  static_cast<void>(trace_steps(subject, timer, tracer, {}, {1}));
  EXPECT_THAT(subject.launches_before_recording, ElementsAre(0));
  EXPECT_EQ(subject.launches, 4);
  EXPECT_THAT(tracer.steps, SizeIs(3)) << "without the one that records";
}

TEST(TraceSteps, BurstsMeetTheCacheThatTheTimedOnesMet) {
  for (const L2State l2 : {L2State::kCold, L2State::kWarm}) {
    FakeCase subject;
    FakeTimer timer{[](std::int64_t) { return 1e-4; }};
    FakeTracer tracer{Seconds{1e-4}};
    static_cast<void>(trace_steps(subject, timer, tracer, {.regime = Regime::kBurst, .l2 = l2}, {1e-4}));
    ASSERT_THAT(timer.bursts_begun, SizeIs(1));
    EXPECT_EQ(timer.bursts_begun[0].flush_l2, l2 == L2State::kCold);
    EXPECT_EQ(timer.bursts_ended, 1);
    EXPECT_THAT(timer.burst_launches, ElementsAre(1));
    EXPECT_EQ(tracer.regime, Regime::kBurst);
  }
}

TEST(TraceSteps, ALaunchThatWasMadeAgainIsNoStep) {
  for (const bool records : {false, true}) {
    FakeCase subject;
    subject.records = records;
    FakeTimer timer{[](std::int64_t) { return 1e-4; }};
    timer.made_again = {0, 4, 5};
    FakeTracer tracer{Seconds{1e-4}};
    EXPECT_EQ(trace_steps(subject, timer, tracer, {.regime = Regime::kBurst}, {1e-4}).steps, 10);
    EXPECT_EQ(subject.launches, records ? 15 : 14);
    // FakeTracer's clock advances by 1 ns each time it is read: at the start of each call and at the end of its only
    // phase.
    std::vector<std::int64_t> begins;
    for (const EnqueuedStep& step : tracer.steps) begins.push_back(step.start_ns);
    begins.resize(4);
    EXPECT_EQ(begins, (records ? std::vector<std::int64_t>{5, 7, 13, 15} : std::vector<std::int64_t>{3, 5, 7, 13}));
  }
}

TEST(TraceSteps, ARefusalEndsTheBursts) {
  FakeCase subject;
  FakeTimer timer{[](std::int64_t) { return 1e-4; }};
  FakeTracer tracer{Seconds{1e-4}};
  tracer.refusal = "taken";
  EXPECT_THROW(static_cast<void>(trace_steps(subject, timer, tracer, {.regime = Regime::kBurst}, {1e-4})),
               std::runtime_error);
  EXPECT_EQ(timer.bursts_ended, 1);
}

TEST(TraceSteps, AStepThatThrowsEndsTheTrace) {
  FakeCase subject;
  subject.on_launch = [](std::int64_t launch) {
    if (launch == 2) throw std::runtime_error{"broken"};
  };
  FakeTimer timer{[](std::int64_t) { return 1e-4; }};
  FakeTracer tracer{Seconds{1e-4}};
  EXPECT_THROW(static_cast<void>(trace_steps(subject, timer, tracer, {}, {1e-4})), std::runtime_error);
  EXPECT_EQ(tracer.cancels, 1);
}

TEST(MeasureCase, TracesAfterTheMemoryPassAndBeforeVerifyingAgain) {
  Bench bench;
  bench.traces = true;
  bench.subject.second_verification = bench.subject.verification;
  bench.tracer.counted = {{"communication_ms", 1.5}};
  const Record record = bench.run_once();
  ASSERT_TRUE(record.trace);
  EXPECT_EQ(record.counters.at("communication_ms"), 1.5);
  EXPECT_EQ(record.trace->steps, 5);       // steps of 1 / 64 s in 0.08 s
  EXPECT_TRUE(record.timing->host_bound);  // the GPU waits for 40 % of the step
  const auto at = [&](const char* activity) { return std::ranges::find(bench.activities, activity); };
  EXPECT_LT(at("measuring memory"), at("tracing"));
  EXPECT_LT(at("tracing"), at("verifying again"));
  EXPECT_EQ(record.memory->allocated_peak, 1000);  // the memory pass does not include the traced steps
}

TEST(MeasureCase, CyclesAreCountedOverTheTracedStepsToo) {
  Bench bench;
  bench.traces = true;
  EXPECT_FALSE(bench.run_once().trace.value().sm_clock_counted.has_value());
  bench.timer.clock_of_chunk = [](std::int64_t) { return 1.5e9; };
  EXPECT_NEAR(bench.run_once().trace.value().sm_clock_counted.value().value, 1.5e9, 1);
}

TEST(MeasureCase, ATraceLongerThanTheStepIsAFinding) {
  Bench bench;
  bench.traces = true;
  bench.tracer.step = Seconds{kStep} * 2.0;  // the device works for 0.6 of it
  const Record record = bench.run_once();
  EXPECT_EQ(record.labels.at("trace").find("disagrees: "), 0U);
  EXPECT_TRUE(record.trace.has_value());
}

TEST(MeasureCase, EveryRepetitionIsTraced) {
  Bench bench;
  bench.traces = true;
  for (const Record& record : bench.run(3)) EXPECT_TRUE(record.trace);
  EXPECT_EQ(bench.tracer.starts, 3);
}

TEST(MeasureCase, ATracerThatRefusesCostsTheTraceAlone) {
  Bench bench;
  bench.traces = true;
  bench.tracer.refusal = "CUPTI serves one tool at a time, and nsys has it";
  const Record record = bench.run_once();
  EXPECT_EQ(record.status, Status::kOk);
  EXPECT_EQ(record.timing->median, Seconds{kStep});
  EXPECT_FALSE(record.trace);
  EXPECT_EQ(record.labels.at("trace"), "none: CUPTI serves one tool at a time, and nsys has it");
}

TEST(MeasureCase, StepsThatCanBeMadeOnlyOnceAreNotTraced) {
  Bench bench;
  bench.traces = true;
  bench.subject.checked_last = true;
  EXPECT_FALSE(bench.run_once().trace);
  EXPECT_EQ(bench.tracer.starts, 0);
}

TEST(MeasureCase, ABurstThatCouldBeHiddenIsNotTheHosts) {
  Bench bench;
  bench.traces = true;
  bench.options.regime = Regime::kBurst;
  const Record record = bench.run_once();
  ASSERT_TRUE(record.trace);
  EXPECT_FALSE(record.timing->host_bound);
}

}  // namespace
}  // namespace tbench::measure
