// Tests each rule of the sampler by itself.
#include "measure/sampler/stopping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbench::measure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const SamplerOptions kDefaults;

TEST(LaunchesPerSample, LastFiftyMicrosecondsAtLeast) {
  EXPECT_EQ(launches_per_sample({0.05}), 1);
  EXPECT_EQ(launches_per_sample({50e-6}), 1);
  EXPECT_EQ(launches_per_sample({49e-6}), 2);  // 55 / 49 is 1.1
  EXPECT_EQ(launches_per_sample({10e-6}), 6);  // 5.5
  EXPECT_EQ(launches_per_sample({2e-6}), 28);  // 27.5
  EXPECT_EQ(launches_per_sample({1e-9}), 1000);
  EXPECT_EQ(launches_per_sample({0.0}), 1000);
}

TEST(NextChainedLaunches, AreOneThenAFewThenAPile) {
  EXPECT_EQ(next_chained_launches(0, {}, kDefaults), 1);
  EXPECT_EQ(next_chained_launches(1, {0.001}, kDefaults), kWarmUpChunk);
  EXPECT_EQ(next_chained_launches(4, {0.0016}, kDefaults), 12);  // 0.02 / 0.0016 is 12.5
  EXPECT_EQ(next_chained_launches(4, {1e-6}, kDefaults), 64);
  EXPECT_EQ(next_chained_launches(4, {0.0068}, kDefaults), 0);  // three launches already took long enough
  EXPECT_EQ(next_chained_launches(16, {0.0016}, kDefaults), 0);
}

TEST(BurstOptions, AreThoseForKernels) {
  const SamplerOptions options = burst_options();
  EXPECT_EQ(options.warm_up_time, Seconds{0.1});
  EXPECT_EQ(options.warm_up_limit, Seconds{2.0});
  EXPECT_EQ(options.sample_time, Seconds{0.1});
  EXPECT_EQ(options.sample_limit, Seconds{15.0});
  EXPECT_EQ(options.min_samples, 30);
  EXPECT_EQ(samples_wanted({0.0166}, options), 30);
  EXPECT_EQ(samples_wanted({0.0167}, options), 8);  // 30 would take over 0.5 s
  EXPECT_EQ(options.max_samples, 2000);
  EXPECT_DOUBLE_EQ(options.precise_half_width, 0.005);
  EXPECT_EQ(options.l2, L2State::kCold);
}

TEST(NextSamplingChunk, OfBurstsDropsNone) {
  SamplerOptions options = burst_options();
  const std::vector<double> samples(1995, 1e-4);
  const ChunkPlan last = next_sampling_chunk({samples, {}, {1.0}}, Seconds{1e-4}, options);
  EXPECT_EQ(last.steps, 5);
  EXPECT_EQ(last.dropped, 0);
  const ChunkPlan first = next_sampling_chunk({{}, {}, {0.0}}, Seconds{1e-3}, options);
  EXPECT_EQ(first.steps, 20);  // 0.02 / 0.001
  EXPECT_EQ(first.dropped, 0);
}

TEST(RegularChunk, FillsAQuarterOfASecondWithinItsBounds) {
  EXPECT_EQ(regular_chunk({0.0125}, kDefaults), 20);  // 0.25 / 0.0125
  EXPECT_EQ(regular_chunk({0.03}, kDefaults), 8);     // 8.3
  EXPECT_EQ(regular_chunk({0.02}, kDefaults), 12);    // 12.5
  EXPECT_EQ(regular_chunk({0.1}, kDefaults), 8);      // 2.5
  EXPECT_EQ(regular_chunk({1e-6}, kDefaults), 64);
  EXPECT_EQ(regular_chunk({0.0}, kDefaults), 64);
}

TEST(SamplesWanted, AreFewerWhereTwentyTakeOverTwoSeconds) {
  EXPECT_EQ(samples_wanted({0.1}, kDefaults), 20);  // 20 * 0.1 = 2
  EXPECT_EQ(samples_wanted({0.11}, kDefaults), 8);
}

TEST(NextWarmUpChunk, TakesLongStepsOneByOne) {
  EXPECT_EQ(next_warm_up_chunk(1, {0.0125}, kDefaults), 20);
  EXPECT_EQ(next_warm_up_chunk(1, {0.09}, kDefaults), 3);
  EXPECT_EQ(next_warm_up_chunk(1, {0.11}, kDefaults), 1);  // 20 would take 2.2 s
  SamplerOptions fixed;
  fixed.fixed_warm_up = 7;
  EXPECT_EQ(next_warm_up_chunk(1, {0.0125}, fixed), 6);
}

TEST(WarmUpEnd, NeedsTheTimeAndSteadySteps) {
  const std::vector<double> steady(12, 0.1);
  EXPECT_FALSE(warm_up_end(steady, {0.99}, kDefaults).has_value());
  ASSERT_TRUE(warm_up_end(steady, {1.0}, kDefaults).has_value());
  EXPECT_TRUE(warm_up_end(steady, {1.0}, kDefaults)->steady);
}

TEST(WarmUpEnd, AcceptsANoisyLevel) {
  std::vector<double> noisy;
  for (int i = 0; i < 30; ++i) {
    noisy.push_back(i % 2 == 0 ? 0.09 : 0.11);
  }
  EXPECT_FALSE(warm_up_end(noisy, {0.99}, kDefaults).has_value());
  ASSERT_TRUE(warm_up_end(noisy, {1.0}, kDefaults).has_value());
  EXPECT_TRUE(warm_up_end(noisy, {1.0}, kDefaults)->steady);
}

TEST(WarmUpEnd, GivesUpAtTheLimit) {
  std::vector<double> rising;
  for (int i = 1; i <= 10; ++i) {
    rising.push_back(0.01 * i);
  }
  EXPECT_FALSE(warm_up_end(rising, {2.9}, kDefaults).has_value());
  ASSERT_TRUE(warm_up_end(rising, {3.0}, kDefaults).has_value());
  EXPECT_FALSE(warm_up_end(rising, {3.0}, kDefaults)->steady);
}

TEST(WarmUpEnd, HasTenStepsOrFiveLongOnesAtTheLimit) {
  const std::vector<double> rising{0.20, 0.21, 0.22, 0.23, 0.24, 0.241, 0.242, 0.243, 0.244, 0.249};
  EXPECT_FALSE(warm_up_end(std::span{rising}.first(9), {3.5}, kDefaults).has_value());
  EXPECT_TRUE(warm_up_end(rising, {3.5}, kDefaults).has_value());
  const std::vector<double> longer{0.5, 0.6, 0.7, 0.8, 0.9};
  EXPECT_FALSE(warm_up_end(std::span{longer}.first(4), {3.5}, kDefaults).has_value());
  ASSERT_TRUE(warm_up_end(longer, {3.5}, kDefaults).has_value());
  EXPECT_FALSE(warm_up_end(longer, {3.5}, kDefaults)->steady);
  const std::vector<double> two{20.0, 20.0};
  EXPECT_FALSE(warm_up_end(two, {14.9}, kDefaults).has_value());
  EXPECT_TRUE(warm_up_end(two, {15.0}, kDefaults).has_value());
}

TEST(WarmUpEnd, FiveLongStepsAreEnough) {
  EXPECT_FALSE(warm_up_end(std::vector<double>(4, 1.1), {4.4}, kDefaults).has_value());
  EXPECT_TRUE(warm_up_end(std::vector<double>(5, 1.1), {5.5}, kDefaults)->steady);
}

TEST(WarmUpEnd, FiveStepsOfALongCaseAreEnoughIfTheyAreAlike) {
  EXPECT_TRUE(warm_up_end(std::vector{0.9, 0.901, 0.902, 0.903, 0.904}, {4.5}, kDefaults)->steady);
  const std::vector<double> unlike{0.9, 0.901, 0.902, 0.903, 0.906};  // 0.7 %
  EXPECT_FALSE(warm_up_end(unlike, {2.9}, kDefaults).has_value());
  EXPECT_FALSE(warm_up_end(unlike, {4.5}, kDefaults)->steady);
  EXPECT_TRUE(warm_up_end(std::vector{1.0, 0.9, 0.901, 0.902, 0.903, 0.904}, {5.5}, kDefaults)->steady);
  EXPECT_FALSE(warm_up_end(std::vector<double>(5, 0.09), {0.45}, kDefaults).has_value());  // 20 take 1.8 s
}

TEST(StopReason, NeedsSamplesAndTime) {
  const std::vector<double> alike(20, 0.1);
  const std::vector<double> nineteen(19, 0.1);
  EXPECT_EQ(stop_reason({alike, {}, {0.5}}, kDefaults), StopReason::kPrecise);
  EXPECT_FALSE(stop_reason({alike, {}, {0.4}}, kDefaults).has_value());
  EXPECT_FALSE(stop_reason({nineteen, {}, {0.5}}, kDefaults).has_value());
  EXPECT_FALSE(stop_reason({{}, {}, {99.0}}, kDefaults).has_value());
}

TEST(StopReason, ThenTheSpreadThenTheLimits) {
  std::vector<double> wide;
  for (int i = 0; i < 40; ++i) {
    wide.push_back(0.1 + 0.001 * i);
  }
  const std::vector<double> settled(8, 0.2);
  EXPECT_FALSE(stop_reason({wide, {}, {4.9}}, kDefaults).has_value());
  EXPECT_EQ(stop_reason({wide, settled, {1.0}}, kDefaults), StopReason::kSpreadSettled);
  EXPECT_EQ(stop_reason({wide, {}, {5.0}}, kDefaults), StopReason::kTimeLimit);
  const std::span too_few = std::span{wide}.first(7);
  EXPECT_FALSE(stop_reason({too_few, {}, {59.9}}, kDefaults).has_value());
  EXPECT_EQ(stop_reason({too_few, {}, {60.0}}, kDefaults), StopReason::kTimeLimit);
  SamplerOptions few;
  few.max_samples = 40;
  EXPECT_EQ(stop_reason({wide, {}, {1.0}}, few), StopReason::kSampleLimit);
}

TEST(StopReason, IsLessPatientWithAStepThatTheHostPaces) {
  std::vector<double> wide;
  for (int i = 0; i < 40; ++i) {
    wide.push_back(0.1 + 0.001 * i);
  }
  const std::vector<double> caught_up{0.001, 0.5, 0.002};  // the median is 1.7 % of a step of 0.1195 s
  const std::vector<double> behind{0.007, 0.001, 0.008};   // 5.9 %
  const auto at = [&](double elapsed, std::span<const double> drains) {
    return stop_reason({wide, {}, {elapsed}, drains}, kDefaults);
  };
  EXPECT_FALSE(at(1.9, caught_up).has_value());
  EXPECT_EQ(at(2.0, caught_up), StopReason::kTimeLimit);
  EXPECT_FALSE(at(4.9, behind).has_value());
  EXPECT_EQ(at(5.0, behind), StopReason::kTimeLimit);
}

TEST(StopReason, OfAFixedCountIsTheCountAlone) {
  SamplerOptions fixed;
  fixed.fixed_samples = 3;
  const std::vector<double> three(3, 0.1);
  EXPECT_EQ(stop_reason({three, {}, {0.0}}, fixed), StopReason::kFixedCount);
  EXPECT_FALSE(stop_reason({std::span{three}.first(2), {}, {99.0}}, fixed).has_value());
}

TEST(NextSamplingChunk, DropsOneStepUnlessTheCountIsFixed) {
  const ChunkPlan plan = next_sampling_chunk({{}, {}, {}}, Seconds{0.0125}, kDefaults);
  EXPECT_EQ(plan.steps, 20);
  EXPECT_EQ(plan.dropped, 1);
  SamplerOptions fixed;
  fixed.fixed_samples = 30;
  const std::vector<double> have(20, 0.0125);
  const ChunkPlan rest = next_sampling_chunk({have, {}, {}}, Seconds{0.0125}, fixed);
  EXPECT_EQ(rest.steps, 10);
  EXPECT_EQ(rest.dropped, 0);
}

TEST(NextSamplingChunk, DropsWhatADeviceTakesToSettle) {
  SamplerOptions options;
  options.dropped_time = {0.1};
  const ChunkPlan plan = next_sampling_chunk({{}, {}, {}}, Seconds{0.0125}, options);
  EXPECT_EQ(plan.steps, 20);
  EXPECT_EQ(plan.dropped, 9);  // 1 + 0.1 / 0.0125
  EXPECT_EQ(next_sampling_chunk({{}, {}, {}}, std::nullopt, options).dropped, 1);
}

TEST(NextSamplingChunk, OfALongStepHoldsAllThatIsMissing) {
  EXPECT_EQ(next_sampling_chunk({{}, {}, {}}, Seconds{1.0}, kDefaults).steps, 9);
  const std::vector<double> five(5, 1.0);
  EXPECT_EQ(next_sampling_chunk({five, {}, {5.0}}, Seconds{1.0}, kDefaults).steps, 4);
  const std::vector<double> eight(8, 1.0);
  EXPECT_EQ(next_sampling_chunk({eight, {}, {8.0}}, Seconds{1.0}, kDefaults).steps, 4);
  EXPECT_EQ(next_sampling_chunk({{}, {}, {}}, Seconds{30.0}, kDefaults).steps, 4);  // 60 / 30 + 2
}

TEST(StopReason, WantsLessPrecisionTheLongerItTakes) {
  // 40 samples alternating between 1 - d and 1 + d: ranks 13 and 28 are the two values, the half-width is d.
  const auto alternating = [](double d) {
    std::vector<double> samples;
    for (int i = 0; i < 40; ++i) {
      samples.push_back(i % 2 == 0 ? 1.0 - d : 1.0 + d);
    }
    return samples;
  };
  EXPECT_EQ(stop_reason({alternating(0.0024), {}, {0.5}}, kDefaults), StopReason::kPrecise);
  EXPECT_FALSE(stop_reason({alternating(0.0049), {}, {0.9}}, kDefaults).has_value());  // allowed: 0.45 %
  EXPECT_EQ(stop_reason({alternating(0.0049), {}, {1.0}}, kDefaults), StopReason::kPrecise);
  EXPECT_EQ(stop_reason({alternating(0.0199), {}, {4.0}}, kDefaults), StopReason::kPrecise);
  EXPECT_FALSE(stop_reason({alternating(0.0201), {}, {4.9}}, kDefaults).has_value());  // never above 2 %
}

TEST(NextSamplingChunk, StaysWithinTheMostSamples) {
  const std::vector<double> have(298, 0.0125);
  EXPECT_EQ(next_sampling_chunk({have, {}, {}}, Seconds{0.0125}, kDefaults).steps, 3);
}

TEST(IsUnstable, OnlyAtALimitAndOnlyAboveFivePercent) {
  std::vector<double> wide;
  for (int i = 0; i < 20; ++i) {
    wide.push_back(1.0 + 0.05 * i);  // ranks 5 and 16: (1.75 - 1.2) / 2 / 1.475 = 19 %
  }
  EXPECT_TRUE(is_unstable(wide, StopReason::kTimeLimit, kDefaults));
  EXPECT_TRUE(is_unstable(wide, StopReason::kSampleLimit, kDefaults));
  EXPECT_FALSE(is_unstable(wide, StopReason::kSpreadSettled, kDefaults));
  EXPECT_FALSE(is_unstable(wide, StopReason::kFixedCount, kDefaults));
  EXPECT_FALSE(is_unstable(std::vector<double>(20, 1.0), StopReason::kTimeLimit, kDefaults));
}

TEST(IsUnstable, TakesTheRangeOfVeryFew) {
  EXPECT_TRUE(is_unstable(std::vector{1.0, 1.0, 1.2}, StopReason::kTimeLimit, kDefaults));    // 0.1 / 1.0
  EXPECT_FALSE(is_unstable(std::vector{1.0, 1.0, 1.08}, StopReason::kTimeLimit, kDefaults));  // 0.04
}

TEST(SlowSamples, AreUnderNinetySevenPercentOfTheMedianClock) {
  using Clocks = std::vector<std::optional<double>>;
  EXPECT_THAT(slow_samples(Clocks{2.0, 1.93, 2.0, 1.95, 2.0}), ElementsAre(1));
  EXPECT_THAT(slow_samples(Clocks{2.0, std::nullopt, 2.0, 1.0}), ElementsAre(3));
  EXPECT_THAT(slow_samples(Clocks{std::nullopt, std::nullopt}), IsEmpty());
  EXPECT_THAT(slow_samples(Clocks{}), IsEmpty());
}

TEST(EscapeTolerance, IsFivePercentButAtLeastAMillisecond) {
  EXPECT_DOUBLE_EQ(escape_tolerance({0.2}).value, 0.01);
  EXPECT_DOUBLE_EQ(escape_tolerance({0.01}).value, 0.001);
}

}  // namespace
}  // namespace tbench::measure
