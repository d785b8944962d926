// Every rule of a verdict, each with a case on either side of it.
#include "tbench/report/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "comparison_samples.hpp"
#include "tbench/core/error.hpp"

namespace tbench::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const CaseId kModel{"Model", {{"size", "small"}, {"ctx", "512"}}};
const CaseId kKernel{"Kernel", {{"op", "rmsnorm"}}};
const std::vector<double> kSteady{0.0999, 0.1, 0.1001};  // 0.1 % spread

std::vector<double> scaled(std::vector<double> times, double factor) {
  for (double& time : times) time *= factor;
  return times;
}

CaseComparison compare_one(ComparedCase base, ComparedCase next, const CompareOptions& options = {}) {
  return compare(side_with({std::move(base)}), side_with({std::move(next)}), options).cases.at(0);
}

Verdict verdict_of(const CaseId& id, double factor, const CompareOptions& options = {}) {
  return compare_one(timed_case(id, kSteady), timed_case(id, scaled(kSteady, factor)), options).verdict.value();
}

ComparedCase with_memory(std::int64_t bytes) {
  ComparedCase c = timed_case(kModel, kSteady);
  for (Replicate& replicate : c.replicates) replicate.peak_bytes = bytes;
  return c;
}

TEST(Verdict, ByTheModelsThreshold) {
  EXPECT_EQ(verdict_of(kModel, 1.03), Verdict::kRegressed);
  EXPECT_EQ(verdict_of(kModel, 0.97), Verdict::kImproved);
  EXPECT_EQ(verdict_of(kModel, 1.01), Verdict::kSame);
  EXPECT_EQ(verdict_of(kModel, 1), Verdict::kSame);
  // Certainly a change, and not certainly on one side of 2 %.
  EXPECT_EQ(verdict_of(kModel, 1.0195), Verdict::kAmbiguous);
}

TEST(Verdict, ThresholdByLengthAndByOption) {
  EXPECT_EQ(verdict_of(kKernel, 1.025), Verdict::kSame);  // 3 % for 100 ms
  EXPECT_EQ(verdict_of(kKernel, 1.04), Verdict::kRegressed);
  const std::vector<double> brief = scaled(kSteady, 1e-4);  // 10 us: 5 %
  EXPECT_EQ(compare_one(timed_case(kKernel, brief), timed_case(kKernel, scaled(brief, 1.04))).verdict, Verdict::kSame);
  EXPECT_EQ(compare_one(timed_case(kKernel, brief), timed_case(kKernel, scaled(brief, 1.06))).verdict,
            Verdict::kRegressed);
  EXPECT_EQ(verdict_of(kModel, 1.03, {.tau = 0.05}), Verdict::kSame);
  EXPECT_EQ(verdict_of(kModel, 1.01, {.tau = 0.005}), Verdict::kRegressed);
}

TEST(Verdict, NoiseMakesItAmbiguous) {
  const std::vector<double> noisy{0.09, 0.1, 0.11};
  EXPECT_EQ(compare_one(timed_case(kModel, noisy), timed_case(kModel, scaled(noisy, 1.03))).verdict,
            Verdict::kAmbiguous);
}

TEST(Verdict, NeedsThreeReplicatesASide) {
  const CaseComparison c = compare_one(timed_case(kModel, kSteady), timed_case(kModel, {0.2, 0.2}));
  EXPECT_EQ(c.verdict, Verdict::kInsufficient);
  EXPECT_FALSE(c.adjusted_p.has_value());
  EXPECT_TRUE(c.ratio_interval.has_value());
  EXPECT_NEAR(c.ratio.value(), 2, 1e-3);
}

TEST(Verdict, OneFileASideHasARatioAndTheSpreadInside) {
  ComparedCase base = timed_case(kModel, {0.1});
  ComparedCase next = timed_case(kModel, {0.12});
  base.replicates[0].relative_half_width = 0.003;
  next.replicates[0].relative_half_width = 0.004;
  const CaseComparison c = compare_one(base, next);
  EXPECT_EQ(c.verdict, Verdict::kInsufficient);
  EXPECT_NEAR(c.ratio.value(), 1.2, 1e-12);
  EXPECT_EQ(c.base.spread, 0.003);
  EXPECT_TRUE(c.interval_is_within);
  EXPECT_NEAR(c.ratio_interval.value().high, 1.2 * std::exp(0.005), 1e-12);  // sqrt(.003^2 + .004^2)
  EXPECT_FALSE(c.smallest_detectable.has_value());
}

TEST(Verdict, ClockThatExplainsTheTimeIsNoRegression) {
  // 5 % slower at a 5 % lower clock: as many cycles as before.
  const auto at = [](double factor, double clock) { return timed_case(kModel, scaled(kSteady, factor), clock); };
  EXPECT_EQ(compare_one(at(1, 1.98e9), at(1.05, 1.98e9 / 1.05)).verdict, Verdict::kClock);
  EXPECT_EQ(compare_one(at(1, 1.98e9), at(1.05, 1.98e9)).verdict, Verdict::kRegressed);
  // Cycles rose by a third of the time's change, and by two thirds.
  EXPECT_EQ(compare_one(at(1, 1e9), at(1.06, 1e9 / 1.04)).verdict, Verdict::kClock);
  EXPECT_EQ(compare_one(at(1, 1e9), at(1.06, 1e9 / 1.02)).verdict, Verdict::kRegressed);
  // As large, the other way round.
  EXPECT_EQ(compare_one(at(1, 1e9), at(1.06, 1e9 / 1.13)).verdict, Verdict::kClock);
  EXPECT_EQ(compare_one(at(1, 1e9), at(0.95, 1.06e9)).verdict, Verdict::kClock);
  EXPECT_EQ(compare_one(at(1, 1e9), at(0.95, 1e9)).verdict, Verdict::kImproved);
}

TEST(Verdict, CyclesNeedEveryClock) {
  ComparedCase next = timed_case(kModel, kSteady, 1e9);
  next.replicates[1].sm_clock.reset();
  EXPECT_FALSE(compare_one(timed_case(kModel, kSteady, 1e9), next).cycle_ratio.has_value());
  EXPECT_NEAR(compare_one(timed_case(kModel, kSteady, 1e9), timed_case(kModel, kSteady, 1.1e9)).cycle_ratio.value(),
              1.1, 1e-9);
}

TEST(Verdict, MemoryIsExact) {
  constexpr std::int64_t kMebi = 1 << 20;
  EXPECT_EQ(compare_one(with_memory(100 * kMebi), with_memory(101 * kMebi)).verdict, Verdict::kSame);
  EXPECT_EQ(compare_one(with_memory(100 * kMebi), with_memory(101 * kMebi + 1)).verdict, Verdict::kRegressed);
  EXPECT_EQ(compare_one(with_memory(1000 * kMebi), with_memory(1005 * kMebi)).verdict, Verdict::kSame);
  EXPECT_EQ(compare_one(with_memory(1000 * kMebi), with_memory(1005 * kMebi + 1)).verdict, Verdict::kRegressed);
  const CaseComparison less = compare_one(with_memory(1000 * kMebi), with_memory(900 * kMebi));
  EXPECT_EQ(less.verdict, Verdict::kImproved);
  EXPECT_EQ(less.note, "memory -100.0 MiB");
}

TEST(Verdict, MemoryNeedsNoReplicatesAndYieldsToASlowdown) {
  ComparedCase base = with_memory(1 << 30);
  ComparedCase next = with_memory(2 << 29 | 1 << 28);
  base.replicates.resize(1);
  next.replicates.resize(1);
  EXPECT_EQ(compare_one(base, next).verdict, Verdict::kRegressed);
  ComparedCase slower = with_memory(1 << 20);
  for (Replicate& replicate : slower.replicates) replicate.time->value *= 1.1;
  EXPECT_EQ(compare_one(with_memory(1 << 30), slower).verdict, Verdict::kRegressed);
}

TEST(Verdict, FailureWhereThereWasNoneIsARegression) {
  for (const Status status : {Status::kOom, Status::kIncorrect, Status::kCrashed, Status::kTimeout}) {
    const ComparedCase failed = compared_case(kModel, {failed_replicate(status, "why")});
    const ComparedCase good = timed_case(kModel, {0.1});
    const CaseComparison c = compare_one(good, failed);
    EXPECT_EQ(c.verdict, Verdict::kRegressed);
    EXPECT_EQ(c.note, "ok -> " + std::string{to_string(status)} + " (why)");
    EXPECT_FALSE(c.ratio.has_value());
    EXPECT_EQ(compare_one(failed, good).verdict, Verdict::kImproved);
    EXPECT_EQ(compare_one(failed, failed).verdict, Verdict::kInvalid);
  }
}

TEST(Verdict, OneFailureInFiveIsAFailure) {
  ComparedCase next = timed_case(kModel, kSteady);
  next.replicates.push_back(failed_replicate(Status::kCrashed, "signal 11"));
  const CaseComparison c = compare_one(timed_case(kModel, kSteady), next);
  EXPECT_EQ(c.verdict, Verdict::kRegressed);
  EXPECT_EQ(c.note, "ok -> crashed in 1 of 4 (signal 11)");
}

TEST(Verdict, MarkedTimesAreInvalid) {
  for (const Status status : {Status::kUnstable, Status::kThrottled}) {
    ComparedCase next = timed_case(kModel, scaled(kSteady, 2));
    next.replicates[0].status = status;
    const CaseComparison c = compare_one(timed_case(kModel, kSteady), next);
    EXPECT_EQ(c.verdict, Verdict::kInvalid);
    EXPECT_TRUE(c.ratio.has_value());
    EXPECT_FALSE(c.adjusted_p.has_value());
  }
  const ComparedCase unsupported = compared_case(kModel, {failed_replicate(Status::kUnsupported, "no such unit")});
  EXPECT_EQ(compare_one(timed_case(kModel, kSteady), unsupported).verdict, Verdict::kInvalid);
}

TEST(Verdict, KnownSpreadReplacesReplicates) {
  // Three quiet replicates a side 3 % apart; history says that processes differ by 3 %.
  const ComparedCase base = timed_case(kModel, kSteady);
  const ComparedCase next = timed_case(kModel, scaled(kSteady, 1.03));
  CompareOptions options;
  options.known_spread[match_key(kModel)] = 0.03;
  EXPECT_EQ(compare_one(base, next, options).verdict, Verdict::kAmbiguous);
  options.known_spread[match_key(kModel)] = 0.001;
  EXPECT_EQ(compare_one(base, next, options).verdict, Verdict::kRegressed);
}

TEST(Compare, CorrectsOverAllCasesThatAreTested) {
  // p = .021 alone (t = 3.7 with 4 degrees of freedom): rejected by itself, not among 20.
  const std::vector<double> base{0.0985, 0.1, 0.1015};
  std::vector<ComparedCase> in_base{timed_case(kModel, base)};
  std::vector<ComparedCase> in_next{timed_case(kModel, scaled(base, 1.045))};
  const CaseComparison alone = compare(side_with(in_base), side_with(in_next), {}).cases.at(0);
  EXPECT_EQ(alone.verdict, Verdict::kRegressed);
  EXPECT_EQ(alone.adjusted_p, alone.p_value);
  for (int i = 0; i < 19; ++i) {
    const CaseId id{"Model", {{"size", std::to_string(i)}}};
    in_base.push_back(timed_case(id, kSteady));
    in_next.push_back(timed_case(id, kSteady));
  }
  const CaseComparison among = compare(side_with(in_base), side_with(in_next), {}).cases.at(0);
  EXPECT_EQ(among.verdict, Verdict::kAmbiguous);
  EXPECT_NEAR(among.adjusted_p.value(), 20 * among.p_value.value(), 1e-12);
  EXPECT_GT(among.smallest_detectable.value(), alone.smallest_detectable.value());
  // Cases without enough replicates do not count.
  in_next.resize(1);
  in_base.resize(2);
  in_next.push_back(timed_case(in_base[1].id, {0.1}));
  EXPECT_EQ(compare(side_with(in_base), side_with(in_next), {}).cases.at(0).verdict, Verdict::kRegressed);
}

TEST(Compare, SmallestDetectableIsAtLeastTheThreshold) {
  const auto detectable = [](double tau) {
    return compare_one(timed_case(kModel, kSteady), timed_case(kModel, kSteady), {.tau = tau}).smallest_detectable;
  };
  EXPECT_EQ(detectable(0.02), 0.02);
  // (t(.975, 4) + t(.8, 4)) * .001 * sqrt(2 / 3) = (2.77645 + 0.94096) * 0.000816497 = 0.0030352
  EXPECT_NEAR(detectable(0.001).value(), std::expm1(0.0030352), 2e-7);
}

TEST(Compare, NumbersAreFiniteOrAbsent) {
  const CaseComparison c = compare_one(timed_case(kModel, {1e-150, 1e150}), timed_case(kModel, {1e-150, 1e150}));
  EXPECT_FALSE(c.ratio_interval.has_value());
  EXPECT_FALSE(c.smallest_detectable.has_value());
  EXPECT_EQ(c.p_value, 1);
}

TEST(Compare, MatchesByParametersInAnyOrder) {
  const CaseId turned{"Model", {{"ctx", "512"}, {"size", "small"}}};
  const CaseId other{"Model", {{"size", "large"}}};
  const Comparison comparison = compare(side_with({timed_case(kKernel, kSteady), timed_case(kModel, kSteady)}),
                                        side_with({timed_case(turned, kSteady), timed_case(other, kSteady)}), {});
  ASSERT_EQ(comparison.cases.size(), 1U);
  EXPECT_EQ(comparison.cases[0].id, kModel);
  EXPECT_THAT(comparison.only_in_base, ElementsAre("Kernel/op:rmsnorm"));
  EXPECT_THAT(comparison.only_in_next, ElementsAre("Model/size:large"));
}

TEST(Compare, FiltersAndSorts) {
  std::vector<ComparedCase> base;
  std::vector<ComparedCase> next;
  for (const auto& [name, factor] : {std::pair{"b", 1.5}, std::pair{"c", 0.5}, std::pair{"a", 1.0}}) {
    base.push_back(timed_case(CaseId{"Kernel", {{"op", name}}}, kSteady));
    next.push_back(timed_case(CaseId{"Kernel", {{"op", name}}}, scaled(kSteady, factor)));
  }
  Comparison comparison = compare(side_with(base), side_with(next), {});
  const auto names = [&] {
    std::string text;
    for (const CaseComparison& c : comparison.cases) text += c.id.at("op");
    return text;
  };
  EXPECT_EQ(names(), "bca");
  sort_cases(comparison, CaseOrder::kName);
  EXPECT_EQ(names(), "abc");
  sort_cases(comparison, CaseOrder::kChange);
  EXPECT_EQ(names(), "bac");
  sort_cases(comparison, CaseOrder::kP);
  EXPECT_EQ(names().back(), 'a');
  CompareOptions options;
  options.filter = "op:[ab]";
  EXPECT_EQ(compare(side_with(base), side_with(next), options).cases.size(), 2U);
  options.filter = "(";
  EXPECT_THROW(static_cast<void>(compare(side_with(base), side_with(next), options)), UsageError);
  options.filter = "op:d";
  EXPECT_THROW(static_cast<void>(compare(side_with(base), side_with(next), options)), UsageError);
}

std::string refusal(const ComparisonSide& base, const ComparisonSide& next) {
  try {
    static_cast<void>(compare(base, next, {}));
  } catch (const NotComparable& error) {
    EXPECT_EQ(compare(base, next, {.force = true}).warnings.size(), 1U);
    return error.what();
  }
  return "compared";
}

TEST(Compare, RefusesAnotherClockPolicy) {
  const ComparisonSide base = side_with({timed_case(kModel, kSteady)});
  ComparisonSide next = base;
  EXPECT_EQ(refusal(base, next), "compared");
  next.environments[0].clock_policy = "locked";
  EXPECT_THAT(refusal(base, next), HasSubstr("different clock policies: default, locked"));
}

TEST(Compare, RefusesOtherWorkOfTheSameCase) {
  const auto with_work = [](double flop) {
    ComparedCase c = timed_case(kModel, kSteady);
    for (Replicate& replicate : c.replicates) replicate.work = Flop{flop};
    return side_with({c});
  };
  EXPECT_EQ(refusal(with_work(1e12), with_work(1e12)), "compared");
  EXPECT_THAT(refusal(with_work(1e12), with_work(2e12)),
              HasSubstr("the work of 1 case differs, first Model/size:small/ctx:512: 1e+12 against 2e+12 FLOP"));
}

TEST(Compare, RefusesATimeTakenInAnotherWay) {
  const auto taken = [](Regime regime, std::optional<L2State> l2) {
    ComparedCase c = timed_case(kModel, kSteady);
    for (Replicate& replicate : c.replicates) {
      replicate.regime = regime;
      replicate.l2 = l2;
    }
    return side_with({c});
  };
  const ComparisonSide steps = taken(Regime::kSustained, std::nullopt);
  const ComparisonSide cold = taken(Regime::kBurst, L2State::kCold);
  const ComparisonSide warm = taken(Regime::kBurst, L2State::kWarm);
  EXPECT_EQ(refusal(steps, steps), "compared");
  EXPECT_EQ(refusal(cold, cold), "compared");
  EXPECT_THAT(refusal(cold, warm),
              HasSubstr("1 case was timed in different ways, first Model/size:small/ctx:512: L2 cold, L2 warm"));
  EXPECT_THAT(refusal(steps, cold), HasSubstr("Model/size:small/ctx:512: burst, sustained"));
  // A CPU tells nothing of its caches, plain Google Benchmark JSON nothing at all.
  EXPECT_EQ(refusal(cold, taken(Regime::kBurst, std::nullopt)), "compared");
  EXPECT_EQ(refusal(cold, side_with({timed_case(kModel, kSteady)})), "compared");
  // Replicates of one side are compared with each other too.
  ComparisonSide mixed = cold;
  mixed.cases[0].replicates[1].l2 = L2State::kWarm;
  EXPECT_THAT(refusal(mixed, cold), HasSubstr("L2 cold, L2 warm"));
}

TEST(Compare, RefusesTwoDevicesOnOneSide) {
  const ComparisonSide base = side_with({timed_case(kModel, kSteady)});
  ComparisonSide next = base;
  next.environments.push_back(gpu_environment());
  next.environments[1].gpu->name = "NVIDIA H100";
  EXPECT_THAT(refusal(base, next), HasSubstr("the new side comes from several devices"));
}

TEST(Compare, NamesWhatDiffersBetweenTheEnvironments) {
  const ComparisonSide base = side_with({timed_case(kModel, kSteady)});
  ComparisonSide next = base;
  next.environments[0].versions["driver"] = "590.1";
  next.environments[0].gpu->power_limit_w = 600;
  EXPECT_THAT(compare(base, next, {}).differences,
              ElementsAre("driver: 580.159 against 590.1", "power limit: 700 W against 600 W"));
}

TEST(Compare, BetweenGpusThereAreRatiosAndNoVerdicts) {
  const ComparedCase oom = compared_case(kKernel, {failed_replicate(Status::kOom, "out of memory")});
  const ComparisonSide base = side_with({timed_case(kModel, kSteady, 2e9), timed_case(kKernel, kSteady)});
  ComparisonSide next = side_with({timed_case(kModel, scaled(kSteady, 2), 1e9), oom});
  EXPECT_FALSE(compare(base, next, {}).cross);
  EXPECT_TRUE(compare(base, next, {.cross = true}).cross);
  next.environments[0].gpu->name = "NVIDIA H100";
  const Comparison comparison = compare(base, next, {});
  EXPECT_TRUE(comparison.cross);
  EXPECT_FALSE(comparison.cases[0].verdict.has_value());
  EXPECT_NEAR(comparison.cases[0].ratio.value(), 2, 1e-9);
  EXPECT_NEAR(comparison.cases[0].cycle_ratio.value(), 1, 1e-9);
  EXPECT_TRUE(comparison.cases[0].ratio_interval.has_value());
  EXPECT_EQ(comparison.cases[1].note, "ok -> oom (out of memory)");
  EXPECT_EQ(exit_status(comparison, true), 0);
}

TEST(Compare, GeometricMeansByFamily) {
  const CaseId other{"Model", {{"size", "large"}}};
  const Comparison comparison =
      compare(side_with({timed_case(kModel, kSteady), timed_case(other, kSteady), timed_case(kKernel, kSteady)}),
              side_with({timed_case(kModel, scaled(kSteady, 2)), timed_case(other, scaled(kSteady, 8)),
                         timed_case(kKernel, kSteady)}),
              {});
  ASSERT_EQ(comparison.families.size(), 2U);
  EXPECT_EQ(comparison.families[0].family, "Model");
  EXPECT_EQ(comparison.families[0].cases, 2U);
  EXPECT_NEAR(comparison.families[0].ratio, 4, 1e-9);
  EXPECT_FALSE(comparison.families[0].cycle_ratio.has_value());
  EXPECT_NEAR(comparison.families[1].ratio, 1, 1e-9);
}

TEST(ExitStatus, RegressedComesBeforeUncertain) {
  Comparison comparison;
  comparison.cases.resize(2);
  const auto status = [&](Verdict a, Verdict b, bool strict) {
    comparison.cases[0].verdict = a;
    comparison.cases[1].verdict = b;
    return exit_status(comparison, strict);
  };
  EXPECT_EQ(status(Verdict::kSame, Verdict::kImproved, true), 0);
  EXPECT_EQ(status(Verdict::kClock, Verdict::kInvalid, true), 0);
  EXPECT_EQ(status(Verdict::kSame, Verdict::kAmbiguous, false), 0);
  EXPECT_EQ(status(Verdict::kSame, Verdict::kAmbiguous, true), 4);
  EXPECT_EQ(status(Verdict::kInsufficient, Verdict::kSame, true), 4);
  EXPECT_EQ(status(Verdict::kAmbiguous, Verdict::kRegressed, true), 1);
}

}  // namespace
}  // namespace tbench::report
