// Tests the floor of a step against a count by hand for a model of two layers.
#include "tbench/core/step_counts.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tbench {
namespace {

// With 2 sequences of 3 tokens, the residual stream has 24 elements, a hidden layer 48, the logits 60,000 and the
// embedding 40,000.
const ModelSize kSize{.name = "two", .d_model = 4, .d_ff = 8, .num_layers = 2, .num_heads = 1};

StepFloor floor_of(Pass pass, Precision precision) { return model_step_floor(kSize, 3, 2, pass, precision); }

TEST(StepFloor, ProductsOfLayersAndOfAttentionAddUpToTheStepsFlop) {
  const StepFloor forward = floor_of(Pass::kForward, Precision::kBf16);
  EXPECT_EQ(forward.products.value, 2.0 * 6 * (2 * (4 * 16 + 3 * 32) + 40'000));
  EXPECT_EQ(forward.attention.value, 2.0 * 4 * 2 * 1 * 3 * 3 * 4 / 2);
  const StepFloor training = floor_of(Pass::kTrainStep, Precision::kBf16);
  EXPECT_EQ(training.products.value, 3 * forward.products.value);
  EXPECT_EQ(training.attention.value, 3.5 * forward.attention.value);
  EXPECT_EQ(training.products.value + training.attention.value,
            model_step_work(kSize, 3, 2, Pass::kTrainStep).flop.value);
}

TEST(StepFloor, ForwardReadsAndWritesEveryTensorOnce) {
  // Bytes per element of the residual stream: embedding 8, each of 4 additions and of 5 norms 6, each of 2 RoPE 8. Each
  // of 2 SwiGLU has 6 bytes per element of the hidden layer.
  EXPECT_EQ(floor_of(Pass::kForward, Precision::kBf16).other_bytes, 24 * (8 + 4 * 6 + 5 * 6 + 2 * 8) + 48 * 2 * 6);
  EXPECT_EQ(floor_of(Pass::kForward, Precision::kFp32).other_bytes, 24 * (8 + 4 * 8 + 5 * 8 + 2 * 16) + 48 * 2 * 12);
  EXPECT_EQ(floor_of(Pass::kForward, Precision::kTf32).other_bytes,
            floor_of(Pass::kForward, Precision::kFp32).other_bytes);
}

TEST(StepFloor, BackwardHasTheLossAndWhatItUndoes) {
  const std::int64_t forward = 24 * (8 + 4 * 6 + 5 * 6 + 2 * 8) + 48 * 2 * 6;
  const std::int64_t backward = 24 * (5 * 10 + 4 * 6 + 2 * 8) + 48 * 2 * 12 + 4 * (24 + 40'000);
  const std::int64_t logits = 240'000;  // read and written, 2 bytes per element
  EXPECT_EQ(floor_of(Pass::kForwardBackward, Precision::kBf16).other_bytes, forward + backward + logits);
}

TEST(StepFloor, TheOptimizerReadsAndWritesSixteenBitsWhereTheyAreEnough) {
  const std::int64_t parameters = parameter_count(kSize);
  EXPECT_EQ(floor_of(Pass::kForwardBackward, Precision::kBf16).optimizer_bytes, 0);
  EXPECT_EQ(floor_of(Pass::kTrainStep, Precision::kBf16).optimizer_bytes, 28 * parameters);
  EXPECT_EQ(floor_of(Pass::kTrainStep, Precision::kFp16).optimizer_bytes, 30 * parameters);
  EXPECT_EQ(floor_of(Pass::kTrainStep, Precision::kFp32).optimizer_bytes, 28 * parameters);
}

TEST(StepFloor, RefusesWhatIsNoShape) {
  EXPECT_THROW(static_cast<void>(model_step_floor(kSize, 0, 2, Pass::kForward, Precision::kBf16)),
               std::invalid_argument);
}

/// Returns a step of 20 ms, in which the GPU works for `device_s` in 400 kernels with one launch each.
Record traced_record(double device_s) {
  Record record;
  record.timing.emplace();
  record.timing->median = {0.020};
  record.timing->drain = Seconds{0.010};
  record.trace.emplace();
  record.trace->device = {device_s};
  record.trace->launches = 400;
  record.trace->kernels.resize(1);
  record.trace->kernels[0].kernel_class = "gemm";
  record.trace->kernels[0].calls = 400;
  return record;
}

TEST(DeviceTime, IsTheTracesAtTheClockOfTheTimedSteps) {
  Record record = traced_record(0.015);
  EXPECT_EQ(device_time(record), Seconds{0.015});
  record.device.emplace();
  record.device->sm_clock_counted = Hertz{1.5e9};
  EXPECT_EQ(device_time(record), Seconds{0.015}) << "the traced steps' cycles were not counted";
  record.trace->sm_clock_counted = Hertz{1.8e9};
  EXPECT_DOUBLE_EQ(device_time(record).value().value, 0.018);
  EXPECT_NEAR(idle_share(record).value(), 0.1, 1e-12);
  record.trace->sm_clock_counted = Hertz{1.2e9};
  EXPECT_DOUBLE_EQ(device_time(record).value().value, 0.012);
  record.trace.reset();
  EXPECT_FALSE(device_time(record).has_value());
  EXPECT_FALSE(trace_disagrees(record));
}

TEST(DeviceTime, IsNoLongerThanTheStepForAFasterClockOfTheTrace) {
  Record record = traced_record(0.019);
  record.device.emplace();
  record.device->sm_clock_counted = Hertz{1.5e9};
  record.trace->sm_clock_counted = Hertz{1.65e9};  // 20.9 ms instead of 20 ms, if all of it scaled with the clock
  EXPECT_EQ(device_time(record), Seconds{0.020});
  record.trace->device = {0.0203};
  EXPECT_EQ(device_time(record), Seconds{0.0203});
  record.trace->device = {0.0205};
  EXPECT_TRUE(trace_disagrees(record)) << "over 2 % as it was traced";
}

TEST(DeviceTime, IsAbsentWhereItExceedsTheStep) {
  const Record near = traced_record(0.0203);
  EXPECT_FALSE(trace_disagrees(near));
  EXPECT_NEAR(idle_share(near).value(), -0.015, 1e-12);
  const Record beyond = traced_record(0.0205);
  EXPECT_TRUE(trace_disagrees(beyond));
  EXPECT_FALSE(device_time(beyond).has_value());
  EXPECT_FALSE(idle_share(beyond).has_value());
  EXPECT_FALSE(host_share(beyond).has_value());
  EXPECT_FALSE(launch_budget(beyond).has_value());
}

TEST(HostShare, LeavesTheGapsOfTheQueueOut) {
  const Record record = traced_record(0.015);
  EXPECT_NEAR(host_share(record).value(), 1 - (0.015 + 400 * 1.35e-6) / 0.020, 1e-12);
  EXPECT_NEAR(launch_budget(record).value().value, 0.01554 / 400, 1e-12);
  Record burst = record;
  burst.timing->regime = Regime::kBurst;
  EXPECT_FALSE(host_share(burst).has_value());
  EXPECT_FALSE(launch_budget(burst).has_value());
}

TEST(MeasuredQueueGap, IsTheStepTimeThatTheTraceLacksIfTheQueueStaysFull) {
  Record record = traced_record(0.0194);
  EXPECT_NEAR(measured_queue_gap(record).value().value, 1.5e-6, 1e-12);
  record.timing->drain = Seconds{0.0009};  // the device had caught up with the host
  EXPECT_FALSE(measured_queue_gap(record).has_value());
  record.timing->drain = Seconds{0.0011};
  EXPECT_TRUE(measured_queue_gap(record).has_value());
  record.timing->regime = Regime::kBurst;
  EXPECT_FALSE(measured_queue_gap(record).has_value());
  EXPECT_FALSE(measured_queue_gap(traced_record(0.0205)).has_value()) << "the trace disagrees";
}

TEST(IsHostBound, IsTheHostsShareOverThreePercent) {
  EXPECT_TRUE(is_host_bound(traced_record(0.0188)));   // 3.3 %
  EXPECT_FALSE(is_host_bound(traced_record(0.0190)));  // 2.3 %
}

TEST(IsHostBound, WithoutADeviceTimeItIsWhatWasDecidedThen) {
  Record record = traced_record(0.0205);  // the traced time exceeds the step's
  EXPECT_FALSE(is_host_bound(record));
  record.timing->host_bound = true;
  EXPECT_TRUE(is_host_bound(record));
  record.trace->device = {0.0195};
  EXPECT_FALSE(is_host_bound(record)) << "earlier versions had another rule";
}

TEST(IsHostBound, ARankWhoseQueueIsNeverEmptyMayWaitForAHost) {
  Record record = traced_record(0.020);  // kernels of collectives wait for the other rank
  record.timing->drain = Seconds{0.0009};
  EXPECT_FALSE(is_host_bound(record));
  record.trace->kernels[0].kernel_class = "collective";
  EXPECT_TRUE(is_host_bound(record));
  record.timing->drain = Seconds{0.0011};
  EXPECT_FALSE(is_host_bound(record));
}

}  // namespace
}  // namespace tbench
