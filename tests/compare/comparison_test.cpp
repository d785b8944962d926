// Tests a comparison of two whole sides: matching, correction over all cases, order, different GPUs, and the exit
// status.
#include "tbench/compare/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/comparison_samples.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/compare/comparison_output.hpp"
#include "tbench/core/error.hpp"

namespace tbench::compare {
namespace {

using support::scaled;
using testing::ElementsAre;

const CaseId kModel{"Model", {{"size", "small"}, {"ctx", "512"}}};
const CaseId kKernel{"Kernel", {{"op", "rmsnorm"}}};
const std::vector<double>& kSteady = support::kSteadyTimes;

TEST(Compare, CorrectsOverAllCasesThatAreTested) {
  // A single case has p = .021 (t = 3.7 with 4 degrees of freedom), which is rejected alone, but not among 20 cases.
  const std::vector<double> base{0.0985, 0.1, 0.1015};
  std::vector<results::MeasuredCase> in_base{support::timed_case(kModel, base)};
  std::vector<results::MeasuredCase> in_next{support::timed_case(kModel, scaled(base, 1.045))};
  const CaseComparison alone = compare(support::side_with(in_base), support::side_with(in_next), {}).cases.at(0);
  EXPECT_EQ(alone.outcome, Outcome::kRegressed);
  EXPECT_EQ(alone.adjusted_p, alone.p_value);
  for (int i = 0; i < 19; ++i) {
    const CaseId id{"Model", {{"size", std::to_string(i)}}};
    in_base.push_back(support::timed_case(id, kSteady));
    in_next.push_back(support::timed_case(id, kSteady));
  }
  const CaseComparison among = compare(support::side_with(in_base), support::side_with(in_next), {}).cases.at(0);
  EXPECT_EQ(among.outcome, Outcome::kUndecided);
  EXPECT_NEAR(among.adjusted_p.value(), 20 * among.p_value.value(), 1e-12);
  EXPECT_GT(among.smallest_detectable.value(), alone.smallest_detectable.value());
  // Cases without enough replicates do not count in the correction.
  in_next.resize(1);
  in_base.resize(2);
  in_next.push_back(support::timed_case(in_base[1].id, {0.1}));
  EXPECT_EQ(compare(support::side_with(in_base), support::side_with(in_next), {}).cases.at(0).outcome,
            Outcome::kRegressed);
}

TEST(Compare, SidesThatDidNotTakeTurnsAreWarnedOf) {
  const auto side = [](const std::vector<std::string>& dates) {
    ComparisonSide all = support::side_with({support::timed_case(kModel, kSteady)});
    all.environments.clear();
    for (const std::string& date : dates) {
      all.environments.push_back(support::gpu_environment());
      all.environments.back().date = date;
    }
    return all;
  };
  const ComparisonSide base = side({"2026-01-02T03:00:00Z", "2026-01-02T03:20:00Z"});
  const auto warnings = [&](const ComparisonSide& next) { return compare(base, next, {}).warnings; };
  EXPECT_THAT(warnings(side({"2026-01-02T03:10:00Z", "2026-01-02T03:30:00Z"})), testing::IsEmpty());
  EXPECT_THAT(warnings(side({"2026-01-02T03:21:00Z"})),
              ElementsAre(testing::EndsWith("one after the other, so that a drift of the machine looks like a change; "
                                            "measure them in turns")));
  const Comparison same = compare(base, side({"2026-01-02T03:21:00Z"}), {});
  EXPECT_THAT(comparison_conclusion(same).next, testing::StartsWith("for i in")) << "no outcome has its own command";
  EXPECT_THAT(warnings(side({"2026-01-01T03:21:00Z"})), testing::SizeIs(1));
  EXPECT_THAT(warnings(side({"some day"})), testing::IsEmpty()) << "nobody tells";
}

TEST(Compare, SaysHowManyReplicatesWouldDecide) {
  std::mt19937_64 random{9};
  const auto noisy = [&](double time, std::size_t count) { return support::noisy_times(random, time, 0.02, count); };
  const auto compared = [](std::vector<double> base, std::vector<double> next) {
    return compare(support::side_with({support::timed_case(kModel, base)}),
                   support::side_with({support::timed_case(kModel, next)}), {})
        .cases.at(0);
  };
  const CaseComparison open = compared(noisy(0.1, 3), noisy(0.1, 3));
  ASSERT_EQ(open.outcome, Outcome::kUndecided);
  const std::int64_t needed = open.replicates_to_decide.value();
  EXPECT_GT(needed, 3);
  EXPECT_LT(needed, 60);
  const auto many = static_cast<std::size_t>(2 * needed);
  EXPECT_FALSE(compared(noisy(0.1, many), noisy(0.1, many)).replicates_to_decide.has_value()) << "decided";
  EXPECT_EQ(compared({0.1}, {0.1, 0.1, 0.1}).replicates_to_decide, 3);
}

TEST(Compare, MatchesByParametersInAnyOrder) {
  const CaseId turned{"Model", {{"ctx", "512"}, {"size", "small"}}};
  const CaseId other{"Model", {{"size", "large"}}};
  const Comparison comparison =
      compare(support::side_with({support::timed_case(kKernel, kSteady), support::timed_case(kModel, kSteady)}),
              support::side_with({support::timed_case(turned, kSteady), support::timed_case(other, kSteady)}), {});
  ASSERT_EQ(comparison.cases.size(), 1U);
  EXPECT_EQ(comparison.cases[0].id, kModel);
  EXPECT_THAT(comparison.only_in_base, ElementsAre("Kernel/op:rmsnorm"));
  EXPECT_THAT(comparison.only_in_next, ElementsAre("Model/size:large"));
}

TEST(Compare, FiltersAndSorts) {
  std::vector<results::MeasuredCase> base;
  std::vector<results::MeasuredCase> next;
  for (const auto& [name, factor] : {std::pair{"b", 1.5}, std::pair{"c", 0.5}, std::pair{"a", 1.0}}) {
    base.push_back(support::timed_case(CaseId{"Kernel", {{"op", name}}}, kSteady));
    next.push_back(support::timed_case(CaseId{"Kernel", {{"op", name}}}, scaled(kSteady, factor)));
  }
  Comparison comparison = compare(support::side_with(base), support::side_with(next), {});
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
  EXPECT_EQ(compare(support::side_with(base), support::side_with(next), options).cases.size(), 2U);
  options.filter = "(";
  EXPECT_THROW(static_cast<void>(compare(support::side_with(base), support::side_with(next), options)), UsageError);
  options.filter = "op:d";
  EXPECT_THROW(static_cast<void>(compare(support::side_with(base), support::side_with(next), options)), UsageError);
}

TEST(Compare, BetweenGpusThereAreRatiosAndNoVerdicts) {
  const results::MeasuredCase oom =
      support::compared_case(kKernel, {support::failed_replicate(Status::kOom, "out of memory")});
  const ComparisonSide base =
      support::side_with({support::timed_case(kModel, kSteady, 2e9), support::timed_case(kKernel, kSteady)});
  ComparisonSide next = support::side_with({support::timed_case(kModel, scaled(kSteady, 2), 1e9), oom});
  EXPECT_FALSE(compare(base, next, {}).cross);
  EXPECT_TRUE(compare(base, next, {.cross = true}).cross);
  next.environments[0].gpu->name = "NVIDIA H100";
  const Comparison comparison = compare(base, next, {});
  EXPECT_TRUE(comparison.cross);
  EXPECT_FALSE(comparison.cases[0].outcome.has_value());
  EXPECT_NEAR(comparison.cases[0].ratio.value(), 2, 1e-9);
  EXPECT_NEAR(comparison.cases[0].cycle_ratio.value(), 1, 1e-9);
  EXPECT_TRUE(comparison.cases[0].ratio_interval.has_value());
  EXPECT_EQ(comparison.cases[1].note, "ok -> oom (out of memory)");
  EXPECT_EQ(exit_status(comparison, true), 0);
}

TEST(Compare, GeometricMeansByFamily) {
  const CaseId other{"Model", {{"size", "large"}}};
  const Comparison comparison = compare(
      support::side_with({support::timed_case(kModel, kSteady), support::timed_case(other, kSteady),
                          support::timed_case(kKernel, kSteady)}),
      support::side_with({support::timed_case(kModel, scaled(kSteady, 2)),
                          support::timed_case(other, scaled(kSteady, 8)), support::timed_case(kKernel, kSteady)}),
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
  const auto status = [&](Outcome a, Outcome b, bool strict) {
    comparison.cases[0].outcome = a;
    comparison.cases[1].outcome = b;
    return exit_status(comparison, strict);
  };
  EXPECT_EQ(status(Outcome::kSame, Outcome::kImproved, true), 0);
  EXPECT_EQ(status(Outcome::kClock, Outcome::kNotJudged, false), 0);
  EXPECT_EQ(status(Outcome::kClock, Outcome::kNotJudged, true), 4);
  EXPECT_EQ(status(Outcome::kSame, Outcome::kError, false), 1);
  EXPECT_EQ(status(Outcome::kSame, Outcome::kUndecided, false), 0);
  EXPECT_EQ(status(Outcome::kSame, Outcome::kUndecided, true), 4);
  EXPECT_EQ(status(Outcome::kUndecided, Outcome::kSame, true), 4);
  EXPECT_EQ(status(Outcome::kUndecided, Outcome::kRegressed, true), 1);
}

/// Returns the strict exit status of one case that is NOT_JUDGED, with these statuses of its sides.
int strict_status(const CaseId& id, Status base, Status next, const std::string& reason = {}) {
  Comparison comparison;
  CaseComparison& c = comparison.cases.emplace_back();
  c.id = id;
  c.outcome = Outcome::kNotJudged;
  c.base.status = base;
  c.next.status = next;
  c.base.reason = c.next.reason = reason;
  EXPECT_EQ(exit_status(comparison, false), 0);
  const bool is_failed_test = comparison_to_junit(comparison, true).find("<failure") != std::string::npos;
  EXPECT_EQ(is_failed_test, exit_status(comparison, true) != 0);
  return exit_status(comparison, true);
}

TEST(ExitStatus, StrictPassesOnlyWhatCouldNotBeJudgedOnAnySide) {
  using enum Status;
  const CaseId model = support::model_id("forward", "sdpa");
  const CaseId ceiling = CaseId::parse("Ceiling/what:copy");
  EXPECT_EQ(strict_status(model, kUnsupported, kUnsupported, "needs sm_100"), 0);
  EXPECT_EQ(strict_status(model, kOom, kOom), 0);
  EXPECT_EQ(strict_status(ceiling, kOk, kOk), 0);
  EXPECT_EQ(strict_status(ceiling, kUnstable, kOk), 0);
  EXPECT_EQ(strict_status(model, kOk, kUnsupported), 4) << "one side ran it";
  EXPECT_EQ(strict_status(model, kUnsupported, kOom), 4) << "the reason changed";
  EXPECT_EQ(strict_status(model, kCrashed, kCrashed), 4) << "it should run";
  EXPECT_EQ(strict_status(model, kUnstable, kOk), 4);
  EXPECT_EQ(strict_status(model, kUnsupported, kUnsupported, std::string{kNotComparable} + ": time 0"), 4)
      << "it was measured";
}

}  // namespace
}  // namespace tbench::compare
