#include "tbench/core/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Record timed_record() {
  Record record;
  Timing timing;
  timing.median = {0.020};
  timing.p10 = {0.019};
  timing.p90 = {0.022};
  timing.min = {0.018};
  timing.mean = {0.0205};
  timing.standard_deviation = Seconds{0.001};
  timing.relative_iqr = 0.05;
  timing.warm_up.first = Seconds{0.5};
  timing.phases = {{"forward", {0.006}}, {"backward", {0.012}}};
  timing.wall = Seconds{0.021};
  timing.enqueue = {0.004};
  timing.drain = Seconds{0.016};
  record.timing = timing;
  return record;
}

TEST(StopReasonTest, NamesGoBothWaysAndDiffer) {
  std::set<std::string_view> names;
  for (const StopReason reason : {StopReason::kPrecise, StopReason::kSpreadSettled, StopReason::kTimeLimit,
                                  StopReason::kSampleLimit, StopReason::kFixedCount}) {
    EXPECT_EQ(parse_enum<StopReason>(to_string(reason)), reason);
    names.insert(to_string(reason));
  }
  EXPECT_EQ(names.size(), 5U);
  EXPECT_EQ(to_string(StopReason::kFixedCount), "fixed_count");
  EXPECT_EQ(parse_enum<StopReason>("precisely"), std::nullopt);
}

TEST(CountersTest, ATraceTellsTheGpusPartOfAStep) {
  Record record = timed_record();
  EXPECT_FALSE(counters_of(record).contains("device_ms"));
  record.trace.emplace();
  record.trace->device = {0.015};
  record.trace->longest_gap = {0.0005};
  record.trace->launches = 7;
  record.trace->kernels.resize(2);
  record.trace->kernels[0].calls = 8;
  record.trace->kernels[1].calls = 2;
  record.trace->kernels[1].kernel_class = "memset";
  const std::map<std::string, double> counters = counters_of(record);
  EXPECT_DOUBLE_EQ(counters.at("device_ms"), 15);
  EXPECT_DOUBLE_EQ(counters.at("idle_share"), 0.25);  // idle share of 20 ms
  EXPECT_NEAR(counters.at("host_share"), 0.25 - 10 * 1.35e-6 / 0.020, 1e-12);
  EXPECT_NEAR(counters.at("launch_budget_us"), 15013.5 / 7, 1e-9);
  EXPECT_EQ(counters.at("host_bound"), 1);
  EXPECT_DOUBLE_EQ(counters.at("longest_gap_us"), 500);
  EXPECT_DOUBLE_EQ(counters.at("kernels_per_step"), 8);
  EXPECT_DOUBLE_EQ(counters.at("launches_per_step"), 7);
}

TEST(CountersTest, TheGapOfTheQueueIsTheRunsOwnWhereItIsLonger) {
  Record record = timed_record();
  record.trace.emplace();
  record.trace->device = {0.015};
  record.trace->kernels.resize(1);
  record.trace->kernels[0].calls = 10;
  record.queue_gap = Seconds{2e-6};
  const std::map<std::string, double> counters = counters_of(record);
  EXPECT_NEAR(counters.at("host_share"), 0.25 - 10 * 2e-6 / 0.020, 1e-12);
  EXPECT_DOUBLE_EQ(counters.at("queue_gap_us"), 2);
  record.queue_gap = Seconds{1e-6};
  EXPECT_NEAR(counters_of(record).at("host_share"), 0.25 - 10 * 1.35e-6 / 0.020, 1e-12);
}

TEST(CountersTest, ATraceThatDisagreesTellsNoDeviceTime) {
  Record record = timed_record();
  record.trace.emplace();
  record.trace->device = {0.021};
  record.trace->launches = 7;
  const std::map<std::string, double> counters = counters_of(record);
  for (const char* name : {"device_ms", "idle_share", "host_share", "launch_budget_us"}) {
    EXPECT_FALSE(counters.contains(name)) << name;
  }
  EXPECT_DOUBLE_EQ(counters.at("launches_per_step"), 7);
}

TEST(CountersTest, TimesAreInMilliseconds) {
  const std::map<std::string, double> counters = counters_of(timed_record());
  const std::map<std::string, double> expected{
      {"median_ms", 20}, {"p10_ms", 19},      {"p90_ms", 22},         {"min_ms", 18},    {"mean_ms", 20.5},
      {"std_ms", 1},     {"first_ms", 500},   {"wall_ms", 21},        {"enqueue_ms", 4}, {"drain_ms", 16},
      {"forward_ms", 6}, {"backward_ms", 12}, {"relative_iqr", 0.05}, {"host_bound", 0},
  };
  ASSERT_EQ(counters.size(), expected.size());
  for (const auto& [name, value] : expected) EXPECT_DOUBLE_EQ(counters.at(name), value) << name;
}

TEST(CountersTest, BurstsTellHowTheyWereTakenAndNoTimesOfTheHost) {
  Record record = timed_record();
  record.timing->regime = Regime::kBurst;
  record.timing->wall.reset();
  record.timing->drain.reset();
  record.timing->launches_per_sample = 12;
  const auto counters = counters_of(record);
  EXPECT_DOUBLE_EQ(counters.at("launches_per_sample"), 12);
  EXPECT_DOUBLE_EQ(counters.at("resolution_limited"), 0);
  EXPECT_FALSE(counters.contains("wall_ms"));
  EXPECT_FALSE(counters.contains("drain_ms"));
  EXPECT_DOUBLE_EQ(counters.at("enqueue_ms"), 4);
  record.timing->resolution_limited = true;
  EXPECT_DOUBLE_EQ(counters_of(record).at("resolution_limited"), 1);
  EXPECT_FALSE(counters_of(timed_record()).contains("launches_per_sample"));  // a sample is one step of a model
}

TEST(CountersTest, WhatIsUnknownIsAbsent) {
  Record record = timed_record();
  record.timing->standard_deviation.reset();
  record.timing->relative_iqr.reset();
  record.timing->warm_up.first.reset();
  record.device = DeviceState{};
  const auto counters = counters_of(record);
  for (const char* name : {"std_ms", "relative_iqr", "first_ms", "flop_per_second", "tokens_per_second", "mfu",
                           "sm_clock_mhz", "power_w", "joules_per_step", "joules_per_token", "peak_allocated_bytes"}) {
    EXPECT_FALSE(counters.contains(name)) << name;
  }
}

TEST(CountersTest, RatesAreWorkOverTheMedian) {
  Record record = timed_record();
  record.work = Work{.flop = {4e12}, .tokens = 2048};
  EXPECT_DOUBLE_EQ(counters_of(record).at("tokens_per_second"), 102'400);  // 2048 / 0.020
  EXPECT_DOUBLE_EQ(counters_of(record).at("flop_per_second"), 2e14);       // 4e12 / 0.020
  EXPECT_FALSE(counters_of(record).contains("mfu"));
  record.peak_at_clock = FlopPerSecond{8e14};
  EXPECT_DOUBLE_EQ(counters_of(record).at("peak_share_at_clock"), 0.25);  // 2e14 / 8e14
  EXPECT_FALSE(counters_of(record).contains("mfu"));
  record.boost_peak = FlopPerSecond{1e15};
  EXPECT_DOUBLE_EQ(counters_of(record).at("mfu"), 0.2);
  EXPECT_DOUBLE_EQ(counters_of(record).at("hfu"), 0.2);
  record.work->min_flop = Flop{3e12};
  EXPECT_DOUBLE_EQ(counters_of(record).at("mfu"), 0.15) << "what a backward computes once more does not count";
  EXPECT_DOUBLE_EQ(counters_of(record).at("hfu"), 0.2);
}

/// Compares MFU with a computation by hand for 2.7B's fused train step on an H200: 6 N + 6 L s d FLOP per token over
/// 989.4 TFLOP/s.
TEST(CountersTest, MfuIsTheFields) {
  const auto sizes = builtin_model_sizes();
  const auto size = std::ranges::find(sizes, "2.7B", &ModelSize::name);
  ASSERT_NE(size, sizes.end());
  Record record = timed_record();
  record.timing->median = {0.08932};
  record.work = model_step_work(*size, 512, 4, Pass::kTrainStep);
  record.boost_peak = datasheet_peak("NVIDIA H200", 132, Precision::kBf16);
  constexpr double kWeights = 32.0 * (4.0 * 2560 * 2560 + 3.0 * 2560 * 10240) + 10000.0 * 2560;
  constexpr double kFlopOfToken = 6 * kWeights + 6.0 * 32 * 512 * 2560;
  constexpr double kByHand = 2048 / 0.08932 * kFlopOfToken / 989.4e12;
  EXPECT_NEAR(kByHand, 0.476, 0.0005);
  EXPECT_NEAR(counters_of(record).at("mfu"), kByHand, kByHand * 1e-3);
  const double training = counters_of(record).at("mfu");
  EXPECT_NEAR(counters_of(record).at("hfu") / training, 1 + 1.0 * 32 * 512 * 2560 / kFlopOfToken, 1e-6);
  record.work = model_step_work(*size, 512, 4, Pass::kForward);
  EXPECT_NEAR(counters_of(record).at("mfu"), training / 3, 1e-12);
  EXPECT_EQ(counters_of(record).at("hfu"), counters_of(record).at("mfu"));
}

TEST(CountersTest, CasesWithoutTokensOrFlopHaveNoSuchRates) {
  Record record = timed_record();
  record.work = Work{.flop = {0}, .tokens = 0};
  record.peak_at_clock = FlopPerSecond{8e14};
  record.boost_peak = FlopPerSecond{8e14};
  for (const char* name : {"tokens_per_second", "flop_per_second", "mfu", "hfu", "peak_share_at_clock"}) {
    EXPECT_FALSE(counters_of(record).contains(name)) << name;
  }
}

TEST(CountersTest, TheBusBandwidthIsTheFamilysFactorOfTheAlgorithms) {
  Record record = timed_record();
  record.work = Work{.flop = {}, .tokens = 0, .bytes = 60'000'000'000};
  EXPECT_FALSE(counters_of(record).contains("bus_bytes_per_second"));
  record.counters["bus_factor"] = 1.75;                                // all_reduce of 8 ranks
  EXPECT_DOUBLE_EQ(counters_of(record).at("bytes_per_second"), 3e12);  // 6e10 / 0.020
  EXPECT_DOUBLE_EQ(counters_of(record).at("bus_bytes_per_second"), 5.25e12);
}

TEST(CountersTest, TheShareOfACeilingIsOfBytesWhereTheyAreCounted) {
  Record record = timed_record();
  record.work = Work{.flop = {4e12}, .tokens = 0, .bytes = 0, .ceiling = "gemm_bf16"};
  EXPECT_FALSE(counters_of(record).contains("ceiling_share"));  // the ceiling was not measured
  record.ceiling_per_second = 8e14;
  EXPECT_DOUBLE_EQ(counters_of(record).at("ceiling_share"), 0.25);  // 4e12 / 0.020 / 8e14
  EXPECT_DOUBLE_EQ(counters_of(record).at("above_ceiling"), 0);
  record.work->min_flop = Flop{2e12};  // an implementation may skip the rest
  EXPECT_DOUBLE_EQ(counters_of(record).at("ceiling_share"), 0.125);
  EXPECT_DOUBLE_EQ(counters_of(record).at("flop_per_second"), 2e14);
  EXPECT_FALSE(counters_of(record).contains("bytes_per_second"));
  record.work->bytes = 60'000'000'000;
  record.ceiling_per_second = 2.9e12;
  EXPECT_DOUBLE_EQ(counters_of(record).at("bytes_per_second"), 3e12);  // 6e10 / 0.020
  EXPECT_DOUBLE_EQ(counters_of(record).at("ceiling_share"), 3.0 / 2.9);
  EXPECT_DOUBLE_EQ(counters_of(record).at("above_ceiling"), 1);
  record.ceiling_per_second = 3e12;
  EXPECT_DOUBLE_EQ(counters_of(record).at("above_ceiling"), 0);
}

TEST(CountersTest, WhatMayLieInCachesIsNotAboveACeilingOfMemory) {
  Record record = timed_record();
  record.work = Work{.flop = {4e12}, .tokens = 0, .bytes = 60'000'000'000, .ceiling = "copy"};
  record.ceiling_per_second = 1e12;
  const auto above = [&](Regime regime, std::optional<L2State> l2) {
    record.timing->regime = regime;
    record.timing->l2 = l2;
    return counters_of(record).at("above_ceiling");
  };
  EXPECT_EQ(above(Regime::kBurst, L2State::kCold), 1);
  EXPECT_EQ(above(Regime::kBurst, L2State::kWarm), 0);
  EXPECT_EQ(above(Regime::kBurst, std::nullopt), 0);
  EXPECT_EQ(above(Regime::kSustained, std::nullopt), 1);
  record.work->bytes = 0;
  EXPECT_EQ(above(Regime::kBurst, std::nullopt), 1) << "no cache makes more FLOP";
}

TEST(CountersTest, TheShareOfTheFloorIsOfItsTime) {
  Record record = timed_record();
  EXPECT_FALSE(counters_of(record).contains("floor_share"));
  record.work = Work{.flop = {}, .tokens = 0, .bytes = 45'000'000'000, .ceiling = "copy"};
  record.ceiling_per_second = 3e12;
  record.floor = Seconds{0.016};
  EXPECT_DOUBLE_EQ(counters_of(record).at("floor_share"), 0.8);
  EXPECT_DOUBLE_EQ(counters_of(record).at("ceiling_share"), 0.75);
  EXPECT_FALSE(counters_of(record).contains("duty"));
  record.timing->regime = Regime::kBurst;
  record.timing->duty = 0.24;
  EXPECT_DOUBLE_EQ(counters_of(record).at("duty"), 0.24);
}

TEST(CountersTest, DeviceAndMemoryAreTold) {
  Record record = timed_record();
  record.work = Work{.flop = {1}, .tokens = 2048};
  record.device = DeviceState{};
  record.device->sm_clock_p50 = Hertz{1.83e9};
  record.device->power = Watts{650};
  record.device->energy_per_step = Joules{13};
  record.memory.emplace();
  record.memory->allocated_peak = 3'000'000'000;
  record.memory->reserved_peak = 4'000'000'000;
  EXPECT_FALSE(counters_of(record).contains("peak_requested_bytes"));  // as in files older than version 6
  record.memory->requested_peak = 2'999'999'000;
  const auto counters = counters_of(record);
  EXPECT_DOUBLE_EQ(counters.at("sm_clock_mhz"), 1830);
  EXPECT_DOUBLE_EQ(counters.at("power_w"), 650);
  EXPECT_DOUBLE_EQ(counters.at("joules_per_step"), 13);
  EXPECT_DOUBLE_EQ(counters.at("joules_per_token"), 13.0 / 2048);
  EXPECT_DOUBLE_EQ(counters.at("peak_allocated_bytes"), 3e9);
  EXPECT_DOUBLE_EQ(counters.at("peak_requested_bytes"), 2'999'999'000);
  EXPECT_DOUBLE_EQ(counters.at("peak_reserved_bytes"), 4e9);
}

TEST(CountersTest, AreFiniteOrAbsent) {
  Record record = timed_record();
  record.timing->median = {0};
  record.timing->mean = {std::nan("")};
  record.work = Work{.flop = {1}, .tokens = 1};
  record.counters = {{"worst", std::numeric_limits<double>::infinity()}, {"skipped_steps", 2}};
  const auto counters = counters_of(record);
  for (const auto& [name, value] : counters) EXPECT_TRUE(std::isfinite(value)) << name;
  EXPECT_FALSE(counters.contains("mean_ms"));
  EXPECT_FALSE(counters.contains("tokens_per_second"));
  EXPECT_FALSE(counters.contains("worst"));
  EXPECT_DOUBLE_EQ(counters.at("skipped_steps"), 2);
}

TEST(CountersTest, AFailedCaseHasNoTimes) {
  Record record;
  record.status = Status::kOom;
  record.work = Work{.flop = {1e12}, .tokens = 2048};
  record.device = DeviceState{};
  record.device->energy_per_step = Joules{13};
  EXPECT_THAT(counters_of(record), IsEmpty());
  record.counters = {{"skipped_steps", 1}};
  EXPECT_THAT(counters_of(record), ElementsAre(Pair("skipped_steps", 1)));
}

TEST(RecordTest, EqualityLooksIntoEveryPart) {
  const Record record = timed_record();
  EXPECT_EQ(record, timed_record());
  Record other = record;
  other.timing->phases.back().median = {0.013};
  EXPECT_NE(other, record);
  other = record;
  other.memory = MemoryUse{};
  EXPECT_NE(other, record);
}

}  // namespace
}  // namespace tbench
