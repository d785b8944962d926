// Tests facts that make two sides incomparable, and differences of their environments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/comparison_samples.hpp"
#include "tbench/compare/comparison.hpp"

namespace tbench::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const CaseId kModel{"Model", {{"size", "small"}, {"ctx", "512"}}};
const std::vector<double>& kSteady = support::kSteadyTimes;

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
  const ComparisonSide base = support::side_with({support::timed_case(kModel, kSteady)});
  ComparisonSide next = base;
  EXPECT_EQ(refusal(base, next), "compared");
  next.environments[0].clock_policy = "locked";
  EXPECT_THAT(refusal(base, next), HasSubstr("different clock policies: default, locked"));
}

TEST(Compare, RefusesOtherWorkOfTheSameCase) {
  const auto with_work = [](double flop) {
    results::MeasuredCase c = support::timed_case(kModel, kSteady);
    for (results::Replicate& replicate : c.replicates) replicate.work = Flop{flop};
    return support::side_with({c});
  };
  EXPECT_EQ(refusal(with_work(1e12), with_work(1e12)), "compared");
  EXPECT_THAT(refusal(with_work(1e12), with_work(2e12)),
              HasSubstr("the work of 1 case differs, first Model/size:small/ctx:512: 1e+12 against 2e+12 FLOP"));
}

TEST(Compare, RefusesATimeTakenInAnotherWay) {
  const auto taken = [](Regime regime, std::optional<L2State> l2) {
    results::MeasuredCase c = support::timed_case(kModel, kSteady);
    for (results::Replicate& replicate : c.replicates) {
      replicate.regime = regime;
      replicate.l2 = l2;
    }
    return support::side_with({c});
  };
  const ComparisonSide steps = taken(Regime::kSustained, std::nullopt);
  const ComparisonSide cold = taken(Regime::kBurst, L2State::kCold);
  const ComparisonSide warm = taken(Regime::kBurst, L2State::kWarm);
  EXPECT_EQ(refusal(steps, steps), "compared");
  EXPECT_EQ(refusal(cold, cold), "compared");
  EXPECT_THAT(refusal(cold, warm),
              HasSubstr("1 case was timed in different ways, first Model/size:small/ctx:512: L2 cold, L2 warm"));
  EXPECT_THAT(refusal(steps, cold), HasSubstr("Model/size:small/ctx:512: burst, sustained"));
  // A CPU does not record an L2 state, and plain Google Benchmark JSON records nothing.
  EXPECT_EQ(refusal(cold, taken(Regime::kBurst, std::nullopt)), "compared");
  EXPECT_EQ(refusal(cold, support::side_with({support::timed_case(kModel, kSteady)})), "compared");
  // Replicates of one side are also checked against each other.
  ComparisonSide mixed = cold;
  mixed.cases[0].replicates[1].l2 = L2State::kWarm;
  EXPECT_THAT(refusal(mixed, cold), HasSubstr("L2 cold, L2 warm"));
}

TEST(Compare, RefusesWhatWasMeasuredOtherwise) {
  const auto taken = [](Regime regime, std::map<std::string, std::string> options) {
    results::MeasuredCase c = support::timed_case(kModel, kSteady);
    for (results::Replicate& replicate : c.replicates) replicate.regime = regime;
    ComparisonSide side = support::side_with({c});
    side.options = {std::move(options)};
    return side;
  };
  using enum Regime;
  const ComparisonSide usual = taken(kSustained, {{"min_time_s", "0.5"}, {"burst_min_time_s", "0.1"}});
  EXPECT_EQ(refusal(usual, usual), "compared");
  EXPECT_THAT(refusal(usual, taken(kSustained, {{"min_time_s", "0.02"}, {"samples", "5"}, {"memory_limit", "40"}})),
              HasSubstr("measured otherwise: memory_limit default against 40, min_time_s 0.5 against 0.02, samples "
                        "default against 5"));
  for (const std::string option : {"warmup", "verify", "isolate", "trace"}) {
    EXPECT_THAT(refusal(usual, taken(kSustained, {{"min_time_s", "0.5"}, {option, "x"}})),
                HasSubstr("measured otherwise: " + option + " default against x"));
  }
  // Options that do not matter: the minimum time of another regime, the trace of kernels, and an option that an old
  // file lacks.
  EXPECT_EQ(refusal(usual, taken(kSustained, {{"min_time_s", "0.5"}, {"burst_min_time_s", "9"}})), "compared");
  EXPECT_EQ(refusal(taken(kBurst, {{"trace", "on"}}), taken(kBurst, {})), "compared");
  EXPECT_EQ(refusal(usual, taken(kSustained, {})), "compared");
  EXPECT_THAT(refusal(taken(kBurst, {{"burst_min_time_s", "0.1"}}), taken(kBurst, {{"burst_min_time_s", "0.2"}})),
              HasSubstr("measured otherwise: burst_min_time_s 0.1 against 0.2"));
}

TEST(Compare, RefusesTwoDevicesOnOneSide) {
  const ComparisonSide base = support::side_with({support::timed_case(kModel, kSteady)});
  ComparisonSide next = base;
  next.environments.push_back(support::gpu_environment());
  next.environments[1].gpu->name = "NVIDIA H100";
  EXPECT_THAT(refusal(base, next), HasSubstr("the new side comes from several devices"));
}

TEST(Compare, NamesWhatDiffersBetweenTheEnvironments) {
  const ComparisonSide base = support::side_with({support::timed_case(kModel, kSteady)});
  ComparisonSide next = base;
  next.environments[0].versions["driver"] = "590.1";
  next.environments[0].gpu->power_limit_w = 600;
  EXPECT_THAT(compare(base, next, {}).differences,
              ElementsAre("driver: 580.159 against 590.1", "power limit: 700 W against 600 W"));
}

TEST(Compare, NamesWhatTheHostLetsTheSidesUseOfItsCpus) {
  ComparisonSide base = support::side_with({support::timed_case(kModel, kSteady)});
  base.environments[0].cpu_limits = CpuLimits{.affinity = "0-7,16", .quota = 8.5};
  ComparisonSide next = base;
  next.environments[0].cpu_limits = CpuLimits{.affinity = "0-3", .quota = {}};
  EXPECT_THAT(compare(base, next, {}).differences,
              ElementsAre("CPU affinity: 0-7,16 against 0-3", "CPU quota: 8.5 CPUs against none"));
  next.environments[0].cpu_limits.reset();  // an older file lacks it
  EXPECT_THAT(compare(base, next, {}).differences, ElementsAre());
}

}  // namespace
}  // namespace tbench::compare
