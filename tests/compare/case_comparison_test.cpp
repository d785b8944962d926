// Tests every rule of a verdict, each with a case on either side of its limit.
#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/case_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/comparison_samples.hpp"

namespace tbench::compare {
namespace {

using support::scaled;

const CaseId kModel{"Model", {{"size", "small"}, {"ctx", "512"}}};
const CaseId kKernel{"Kernel", {{"op", "rmsnorm"}}};
const std::vector<double>& kSteady = support::kSteadyTimes;

CaseComparison compare_one(results::MeasuredCase base, results::MeasuredCase next, const CompareOptions& options = {}) {
  return compare(support::side_with({std::move(base)}), support::side_with({std::move(next)}), options).cases.at(0);
}

Outcome verdict_of(const CaseId& id, double factor, const CompareOptions& options = {}) {
  return compare_one(support::timed_case(id, kSteady), support::timed_case(id, scaled(kSteady, factor)), options)
      .outcome.value();
}

results::MeasuredCase with_memory(std::int64_t bytes) {
  results::MeasuredCase c = support::timed_case(kModel, kSteady);
  for (results::Replicate& replicate : c.replicates) replicate.peak_bytes = bytes;
  return c;
}

TEST(Outcome, ByTheModelsThreshold) {
  EXPECT_EQ(verdict_of(kModel, 1.03), Outcome::kRegressed);
  EXPECT_EQ(verdict_of(kModel, 0.97), Outcome::kImproved);
  EXPECT_EQ(verdict_of(kModel, 1.01), Outcome::kSame);
  EXPECT_EQ(verdict_of(kModel, 1), Outcome::kSame);
  // The change is certain, but it is not certain on which side of 2 % it is.
  EXPECT_EQ(verdict_of(kModel, 1.0195), Outcome::kUndecided);
}

TEST(Outcome, ThresholdByLengthAndByOption) {
  EXPECT_EQ(verdict_of(kKernel, 1.025), Outcome::kSame);  // the threshold is 3 % for 100 ms
  EXPECT_EQ(verdict_of(kKernel, 1.04), Outcome::kRegressed);
  const std::vector<double> brief = scaled(kSteady, 1e-4);  // the threshold is 5 % for 10 us
  EXPECT_EQ(compare_one(support::timed_case(kKernel, brief), support::timed_case(kKernel, scaled(brief, 1.04))).outcome,
            Outcome::kSame);
  EXPECT_EQ(compare_one(support::timed_case(kKernel, brief), support::timed_case(kKernel, scaled(brief, 1.06))).outcome,
            Outcome::kRegressed);
  EXPECT_EQ(verdict_of(kModel, 1.03, {.tau = 0.05}), Outcome::kSame);
  EXPECT_EQ(verdict_of(kModel, 1.01, {.tau = 0.005}), Outcome::kRegressed);
}

TEST(Outcome, NoiseMakesItAmbiguous) {
  const std::vector<double> noisy{0.09, 0.1, 0.11};
  EXPECT_EQ(compare_one(support::timed_case(kModel, noisy), support::timed_case(kModel, scaled(noisy, 1.03))).outcome,
            Outcome::kUndecided);
}

TEST(Outcome, NeedsThreeReplicatesASide) {
  const CaseComparison c = compare_one(support::timed_case(kModel, kSteady), support::timed_case(kModel, {0.2, 0.2}));
  EXPECT_EQ(c.outcome, Outcome::kUndecided);
  EXPECT_FALSE(c.adjusted_p.has_value());
  EXPECT_TRUE(c.ratio_interval.has_value());
  EXPECT_NEAR(c.ratio.value(), 2, 1e-3);
}

TEST(Outcome, OneFileASideHasARatioAndTheSpreadInside) {
  results::MeasuredCase base = support::timed_case(kModel, {0.1});
  results::MeasuredCase next = support::timed_case(kModel, {0.12});
  base.replicates[0].relative_half_width = 0.003;
  next.replicates[0].relative_half_width = 0.004;
  const CaseComparison c = compare_one(base, next);
  EXPECT_EQ(c.outcome, Outcome::kUndecided);
  EXPECT_NEAR(c.ratio.value(), 1.2, 1e-12);
  EXPECT_EQ(c.base.dispersion, 0.003);
  EXPECT_TRUE(c.interval_is_within);
  EXPECT_NEAR(c.ratio_interval.value().high, 1.2 * std::exp(0.005), 1e-12);  // sqrt(.003^2 + .004^2)
  EXPECT_FALSE(c.smallest_detectable.has_value());
}

TEST(Outcome, ClockThatExplainsTheTimeIsNoRegression) {
  // At a 5 % lower clock, a case that is 5 % slower takes the same number of cycles.
  const auto at = [](double factor, double clock) {
    return support::timed_case(kModel, scaled(kSteady, factor), clock);
  };
  EXPECT_EQ(compare_one(at(1, 1.98e9), at(1.05, 1.98e9 / 1.05)).outcome, Outcome::kClock);
  EXPECT_EQ(compare_one(at(1, 1.98e9), at(1.05, 1.98e9)).outcome, Outcome::kRegressed);
  // The number of cycles rose by a third of the change of the time, and by two thirds of it.
  EXPECT_EQ(compare_one(at(1, 1e9), at(1.06, 1e9 / 1.04)).outcome, Outcome::kClock);
  EXPECT_EQ(compare_one(at(1, 1e9), at(1.06, 1e9 / 1.02)).outcome, Outcome::kRegressed);
  // The same changes in the opposite direction.
  EXPECT_EQ(compare_one(at(1, 1e9), at(1.06, 1e9 / 1.13)).outcome, Outcome::kClock);
  EXPECT_EQ(compare_one(at(1, 1e9), at(0.95, 1.06e9)).outcome, Outcome::kClock);
  EXPECT_EQ(compare_one(at(1, 1e9), at(0.95, 1e9)).outcome, Outcome::kImproved);
}

TEST(Outcome, ClocksReadInDifferentWaysAreNoEvidence) {
  results::MeasuredCase base = support::timed_case(kModel, kSteady);
  results::MeasuredCase next = support::timed_case(kModel, scaled(kSteady, 1.1));
  using enum results::ClockKind;
  const auto set = [](results::MeasuredCase& c, double clock, results::ClockKind kind) {
    for (results::Replicate& replicate : c.replicates) {
      replicate.sm_clock = Hertz{clock};
      replicate.clock_kind = kind;
    }
  };
  for (const results::ClockKind kind : {kChunk, kPolled, kCounted}) {
    set(base, 1.98e9, kind);
    set(next, 1.8e9, kind);
    EXPECT_EQ(compare_one(base, next).outcome, Outcome::kClock);
  }
  for (const auto& [of_base, of_next] : {std::pair{kChunk, kPolled}, {kChunk, kCounted}, {kCounted, kPolled}}) {
    set(base, 1.98e9, of_base);
    set(next, 1.8e9, of_next);
    const CaseComparison c = compare_one(base, next);
    EXPECT_EQ(c.outcome, Outcome::kRegressed);
    EXPECT_FALSE(c.cycle_ratio.has_value());
  }
}

TEST(Outcome, CyclesNeedEveryClock) {
  results::MeasuredCase next = support::timed_case(kModel, kSteady, 1e9);
  next.replicates[1].sm_clock.reset();
  EXPECT_FALSE(compare_one(support::timed_case(kModel, kSteady, 1e9), next).cycle_ratio.has_value());
  EXPECT_NEAR(compare_one(support::timed_case(kModel, kSteady, 1e9), support::timed_case(kModel, kSteady, 1.1e9))
                  .cycle_ratio.value(),
              1.1, 1e-9);
}

/// Returns a case in whose steps the GPU works for `device_s` seconds.
results::MeasuredCase traced(double factor, double device_s) {
  results::MeasuredCase c = support::timed_case(kModel, scaled(kSteady, factor), 1.98e9);
  for (results::Replicate& replicate : c.replicates) replicate.device_time = Seconds{device_s};
  return c;
}

TEST(Outcome, ATimeThatTheGpuDoesNotShareIsTheHosts) {
  EXPECT_EQ(compare_one(traced(1, 0.05), traced(1.05, 0.05)).outcome, Outcome::kHost);
  EXPECT_EQ(compare_one(traced(1, 0.05), traced(0.95, 0.05)).outcome, Outcome::kHost);
  EXPECT_EQ(compare_one(traced(1, 0.05), traced(1.05, 0.05 * 1.05)).outcome, Outcome::kRegressed);
  EXPECT_EQ(compare_one(traced(1, 0.05), traced(0.95, 0.05 * 0.95)).outcome, Outcome::kImproved);
  // The GPU's time rose by a third of the step's change, by two thirds of it, and then fell as much.
  EXPECT_EQ(compare_one(traced(1, 0.05), traced(1.06, 0.05 * 1.02)).outcome, Outcome::kHost);
  EXPECT_EQ(compare_one(traced(1, 0.05), traced(1.06, 0.05 * 1.04)).outcome, Outcome::kRegressed);
  EXPECT_EQ(compare_one(traced(1, 0.05), traced(1.06, 0.05 / 1.06)).outcome, Outcome::kHost);
  EXPECT_EQ(compare_one(traced(1, 0.05), traced(1, 0.07)).outcome, Outcome::kSame) << "the step is what users wait for";
}

TEST(Outcome, ASlowdownWithEqualCyclesIsClock) {
  results::MeasuredCase next = traced(1.05, 0.05 * 1.05);
  for (results::Replicate& replicate : next.replicates) replicate.sm_clock = Hertz{1.98e9 / 1.05};
  EXPECT_EQ(compare_one(traced(1, 0.05), next).outcome, Outcome::kClock);
}

TEST(Outcome, TheGpusTimeNeedsEveryTrace) {
  results::MeasuredCase next = traced(1.05, 0.05);
  next.replicates[1].device_time.reset();
  const CaseComparison c = compare_one(traced(1, 0.05), next);
  EXPECT_FALSE(c.device_ratio.has_value());
  EXPECT_EQ(c.outcome, Outcome::kRegressed);
  EXPECT_NEAR(compare_one(traced(1, 0.05), traced(1, 0.06)).device_ratio.value(), 1.2, 1e-12);
}

TEST(DeviceValue, IsThereWhereEveryProcessKnowsIt) {
  results::MeasuredCase c = support::timed_case(kModel, {0.1, 0.2, 0.3});
  EXPECT_FALSE(device_value_of(c).has_value());
  for (std::size_t i = 0; i < 3; ++i) c.replicates[i].device_time = Seconds{0.01 * static_cast<double>(i + 1)};
  EXPECT_DOUBLE_EQ(device_value_of(c).value(), std::log(0.02));
  c.replicates[0].status = Status::kUnstable;
  EXPECT_FALSE(device_value_of(c).has_value()) << "as its time";
  c.replicates[0].status = Status::kOk;
  c.replicates[2].device_time.reset();
  EXPECT_FALSE(device_value_of(c).has_value());
}

TEST(SharesChange, HalfOfItInTheSameDirection) {
  EXPECT_TRUE(shares_change(0.10, 0.05));
  EXPECT_FALSE(shares_change(0.10, 0.049));
  EXPECT_FALSE(shares_change(0.10, -0.10));
  EXPECT_TRUE(shares_change(-0.10, -0.05));
  EXPECT_TRUE(shares_change(0.10, std::nullopt)) << "what is unknown does not contradict";
}

TEST(Outcome, MemoryIsExact) {
  constexpr std::int64_t kMebi = 1 << 20;
  EXPECT_EQ(compare_one(with_memory(100 * kMebi), with_memory(101 * kMebi)).outcome, Outcome::kSame);
  EXPECT_EQ(compare_one(with_memory(100 * kMebi), with_memory(101 * kMebi + 1)).outcome, Outcome::kRegressed);
  EXPECT_EQ(compare_one(with_memory(1000 * kMebi), with_memory(1005 * kMebi)).outcome, Outcome::kSame);
  EXPECT_EQ(compare_one(with_memory(1000 * kMebi), with_memory(1005 * kMebi + 1)).outcome, Outcome::kRegressed);
  const CaseComparison less = compare_one(with_memory(1000 * kMebi), with_memory(900 * kMebi));
  EXPECT_EQ(less.outcome, Outcome::kImproved);
  EXPECT_EQ(less.note, "memory -100.0 MiB");
}

/// Returns a case whose tensors asked for `requested` bytes, and whose allocator's blocks have `allocated` bytes.
results::MeasuredCase with_memory(std::int64_t allocated, std::int64_t requested) {
  results::MeasuredCase c = with_memory(allocated);
  for (results::Replicate& replicate : c.replicates) replicate.requested_peak_bytes = requested;
  return c;
}

TEST(Outcome, MemoryIsWhatTensorsAskedForWhereBothSidesKnowIt) {
  constexpr std::int64_t kGibi = 1 << 30;
  constexpr std::int64_t kMore = kGibi + (16 << 20);
  // The size of the allocator's blocks depends on what ran before.
  EXPECT_EQ(compare_one(with_memory(kGibi, kGibi), with_memory(kMore, kGibi)).outcome, Outcome::kSame);
  EXPECT_EQ(compare_one(with_memory(kMore, kGibi), with_memory(kMore, kMore)).outcome, Outcome::kRegressed);
  EXPECT_EQ(compare_one(with_memory(kMore, kMore), with_memory(kMore, kGibi)).outcome, Outcome::kImproved);
  // An older file only has the size of the blocks.
  EXPECT_EQ(compare_one(with_memory(kGibi), with_memory(kMore, kGibi)).outcome, Outcome::kRegressed);
  const CaseComparison c = compare_one(with_memory(kGibi, kGibi), with_memory(kGibi, kMore));
  EXPECT_THAT(c.note, ::testing::HasSubstr("memory +16.0 MiB"));
}

TEST(Outcome, MemoryNeedsNoReplicatesAndYieldsToASlowdown) {
  results::MeasuredCase base = with_memory(1 << 30);
  results::MeasuredCase next = with_memory(2 << 29 | 1 << 28);
  base.replicates.resize(1);
  next.replicates.resize(1);
  EXPECT_EQ(compare_one(base, next).outcome, Outcome::kRegressed);
  results::MeasuredCase slower = with_memory(1 << 20);
  for (results::Replicate& replicate : slower.replicates) replicate.time->value *= 1.1;
  EXPECT_EQ(compare_one(with_memory(1 << 30), slower).outcome, Outcome::kRegressed);
}

TEST(Outcome, FailureWhereThereWasNoneIsWrongOrAnError) {
  for (const Status status : {Status::kOom, Status::kIncorrect, Status::kCrashed, Status::kTimeout}) {
    const results::MeasuredCase failed = support::compared_case(kModel, {support::failed_replicate(status, "why")});
    const results::MeasuredCase good = support::timed_case(kModel, {0.1});
    const CaseComparison c = compare_one(good, failed);
    EXPECT_EQ(c.outcome, status == Status::kIncorrect ? Outcome::kWrong : Outcome::kError);
    EXPECT_EQ(c.note, "ok -> " + std::string{to_string(status)} + " (why)");
    EXPECT_FALSE(c.ratio.has_value());
    EXPECT_EQ(compare_one(failed, good).outcome, Outcome::kImproved);
    EXPECT_EQ(compare_one(failed, failed).outcome, Outcome::kNotJudged);
  }
}

TEST(Outcome, OneFailureInFiveIsAFailure) {
  results::MeasuredCase next = support::timed_case(kModel, kSteady);
  next.replicates.push_back(support::failed_replicate(Status::kCrashed, "signal 11"));
  const CaseComparison c = compare_one(support::timed_case(kModel, kSteady), next);
  EXPECT_EQ(c.outcome, Outcome::kError);
  EXPECT_EQ(c.note, "ok -> crashed in 1 of 4 (signal 11)");
}

TEST(Outcome, MarkedTimesAreInvalid) {
  for (const Status status : {Status::kUnstable, Status::kThrottled}) {
    results::MeasuredCase next = support::timed_case(kModel, scaled(kSteady, 2));
    next.replicates[0].status = status;
    const CaseComparison c = compare_one(support::timed_case(kModel, kSteady), next);
    EXPECT_EQ(c.outcome, Outcome::kNotJudged);
    EXPECT_TRUE(c.ratio.has_value());
    EXPECT_FALSE(c.adjusted_p.has_value());
  }
  const results::MeasuredCase unsupported =
      support::compared_case(kModel, {support::failed_replicate(Status::kUnsupported, "no such unit")});
  EXPECT_EQ(compare_one(support::timed_case(kModel, kSteady), unsupported).outcome, Outcome::kNotJudged);
}

TEST(Outcome, KnownSpreadReplacesReplicates) {
  // Three quiet replicates per side differ by 3 %. In the history, processes differ by 3 %.
  const results::MeasuredCase base = support::timed_case(kModel, kSteady);
  const results::MeasuredCase next = support::timed_case(kModel, scaled(kSteady, 1.03));
  CompareOptions options;
  options.known_dispersion[results::match_key(kModel)] = {.standard_deviation = 0.03, .degrees_of_freedom = 10};
  EXPECT_EQ(compare_one(base, next, options).outcome, Outcome::kUndecided);
  options.known_dispersion[results::match_key(kModel)] = {.standard_deviation = 0.001, .degrees_of_freedom = 10};
  EXPECT_EQ(compare_one(base, next, options).outcome, Outcome::kRegressed);
}

TEST(Compare, SmallestDetectableIsAtLeastTheThreshold) {
  const auto detectable = [](double tau) {
    return compare_one(support::timed_case(kModel, kSteady), support::timed_case(kModel, kSteady), {.tau = tau})
        .smallest_detectable;
  };
  EXPECT_EQ(detectable(0.02), 0.02);
  // (t(.975, 4) + t(.8, 4)) * .001 * sqrt(2 / 3) = (2.77645 + 0.94096) * 0.000816497 = 0.0030352
  EXPECT_NEAR(detectable(0.001).value(), std::expm1(0.0030352), 2e-7);
}

TEST(Compare, NumbersAreFiniteOrAbsent) {
  const CaseComparison c =
      compare_one(support::timed_case(kModel, {1e-150, 1e150}), support::timed_case(kModel, {1e-150, 1e150}));
  EXPECT_FALSE(c.ratio_interval.has_value());
  EXPECT_FALSE(c.smallest_detectable.has_value());
  EXPECT_EQ(c.p_value, 1);
}

}  // namespace
}  // namespace tbench::compare
