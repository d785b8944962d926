// The floor of a step, counted by hand for a model of two layers.
#include "tbench/core/step_counts.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tbench {
namespace {

// 2 sequences of 3 tokens: 24 elements of the stream, 48 of a hidden layer, 60,000 logits, 40,000 of the embedding.
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
  // Embedding 8 B an element of the stream; 4 additions and 5 norms of 6 B, 2 RoPE of 8 B; 2 SwiGLU of 6 B a hidden
  // one.
  EXPECT_EQ(floor_of(Pass::kForward, Precision::kBf16).other_bytes, 24 * (8 + 4 * 6 + 5 * 6 + 2 * 8) + 48 * 2 * 6);
  EXPECT_EQ(floor_of(Pass::kForward, Precision::kFp32).other_bytes, 24 * (8 + 4 * 8 + 5 * 8 + 2 * 16) + 48 * 2 * 12);
  EXPECT_EQ(floor_of(Pass::kForward, Precision::kTf32).other_bytes,
            floor_of(Pass::kForward, Precision::kFp32).other_bytes);
}

TEST(StepFloor, BackwardHasTheLossAndWhatItUndoes) {
  const std::int64_t forward = 24 * (8 + 4 * 6 + 5 * 6 + 2 * 8) + 48 * 2 * 6;
  const std::int64_t backward = 24 * (5 * 10 + 4 * 6 + 2 * 8) + 48 * 2 * 12 + 4 * (24 + 40'000);
  const std::int64_t logits = 240'000;  // read and written, 2 bytes each
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

TEST(CycleClock, MakesTheCountedCyclesOfTheMedian) {
  DeviceState device;
  device.sm_clock_p50 = Hertz{1.5e9};
  device.sm_clock_counted = Hertz{1.36e9};
  Timing timing;
  timing.median = {1.6e-3};
  timing.wall = Seconds{1.58e-3};
  const auto clock = cycle_clock(device, timing);
  ASSERT_TRUE(clock.has_value());
  EXPECT_DOUBLE_EQ(clock->value * timing.median.value, 1.36e9 * 1.58e-3);
}

TEST(CycleClock, IsTheBestKnownOneWhereNothingWasCounted) {
  DeviceState device;
  Timing timing;
  timing.median = {1.6e-3};
  EXPECT_FALSE(cycle_clock(device, timing).has_value());
  device.sm_clock_p50 = Hertz{1.5e9};
  EXPECT_EQ(cycle_clock(device, timing), Hertz{1.5e9});
  device.sm_clock_mean = Hertz{1.507e9};
  EXPECT_EQ(cycle_clock(device, timing), Hertz{1.507e9});
  device.sm_clock_counted = Hertz{1.36e9};  // of a burst there is no time of all steps
  EXPECT_EQ(cycle_clock(device, timing), Hertz{1.36e9});
}

}  // namespace
}  // namespace tbench
