// Tests whether a run says anything about the build: the A/A control, ceilings, a first run, and stale cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "quiet_runs.hpp"
#include "support/history_samples.hpp"
#include "tbench/gate/gate.hpp"

namespace tbench::gate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(GateMachine, AFirstNightIsNew) {
  const GateReport report = judge({}, {support::timed_case(kCase, around(kTime))});
  EXPECT_EQ(report.cases.at(0).outcome, Outcome::kNew);
  EXPECT_EQ(exit_status(report, true), 0);
  EXPECT_EQ(report.runs, 0);
  EXPECT_EQ(report.processes, 5);
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("no Ceiling cases")));
  EXPECT_FALSE(report.epoch_shift.has_value());
}

AaControlSides sides(const std::vector<double>& factors) {
  AaControlSides result;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const CaseId id{"Model", {{"size", std::to_string(i)}}};
    result.a.cases.push_back(support::timed_case(id, around(kTime)));
    result.b.cases.push_back(support::timed_case(id, around(kTime * factors[i])));
  }
  return result;
}

TEST(GateMachine, MoreThanOneRejectionOfTheNullControlStopsEveryFailure) {
  const auto report = [](const std::vector<double>& factors) {
    return judge_run(quiet_runs(20), candidate({support::timed_case(kCase, around(kTime * 1.05))}), sides(factors),
                     with_last_good(confirming(1.05)));
  };
  EXPECT_EQ(exit_status(report({1, 1, 1, 1}), false), 1);
  EXPECT_EQ(exit_status(report({1, 1.02, 1, 1}), false), 1) << "one in a hundred may";
  const GateReport failed = report({1, 1.02, 1, 0.98});
  EXPECT_EQ(exit_status(failed, false), 5);
  EXPECT_EQ(outcome_of(failed), Outcome::kNullControlFailed);
  EXPECT_EQ(failed.null_control->cases, 4);
  EXPECT_THAT(failed.null_control->rejected, ElementsAre(HasSubstr("size:1 (+2.00 %)"), HasSubstr("size:3 (-2.00 %)")));
  EXPECT_FALSE(is_good(failed));
}

results::MeasuredCase ceiling(const std::string& what, double seconds) {
  return support::timed_case(CaseId{"Ceiling", {{"what", what}, {"regime", "burst"}}}, {seconds});
}

/// Returns a case whose ceiling is `copy`.
results::MeasuredCase held(double factor, bool host_bound = false) {
  results::MeasuredCase c = support::timed_case(kCase, around(kTime * factor));
  for (results::Replicate& replicate : c.replicates) {
    replicate.ceiling = "copy";
    replicate.host_bound = host_bound;
  }
  return c;
}

/// Returns runs whose ceilings vary around 1 ms by the share `wobble`.
std::vector<history::PastRun> runs_with_ceilings(int count, double wobble) {
  std::vector<history::PastRun> past;
  for (int night = 0; night < count; ++night) {
    const double seconds = 0.001 * (1 + wobble * ((night % 3) - 1));
    past.push_back(past_of(support::run_of_night(
        night, {held(1), ceiling("copy", seconds), ceiling("gemm_bf16", seconds), ceiling("dispatch", seconds)})));
  }
  return past;
}

TEST(GateMachine, AMachineThatIsNotAsItWasGatesNothing) {
  const auto report = [](double copy, double wobble, int nights = 20) {
    return judge(runs_with_ceilings(nights, wobble), {held(1.05), ceiling("copy", 0.001 * copy)},
                 with_last_good(confirming(1.05)));
  };
  EXPECT_EQ(outcome_of(report(1.009, 0.001)), Outcome::kRegressed);
  const GateReport off = report(1.011, 0.001);
  EXPECT_EQ(outcome_of(off), Outcome::kEnvironment);
  EXPECT_EQ(off.blind_runs, 1);
  EXPECT_EQ(exit_status(off, false), 0);
  EXPECT_EQ(exit_status(off, true), 4);
  EXPECT_EQ(off.cases.size(), 1U) << "ceilings are not gated";
  EXPECT_EQ(off.cases.at(0).outcome, Outcome::kNotJudged);
  EXPECT_EQ(outcome_of(report(0.98, 0.001)), Outcome::kEnvironment) << "faster is as odd as slower";
  EXPECT_EQ(outcome_of(report(1.03, 0.02)), Outcome::kRegressed) << "it never was that steady";
  EXPECT_EQ(outcome_of(report(1.05, 0.001, 2)), Outcome::kNew) << "two nights have no median";
}

TEST(GateMachine, ChecksOnlyTheCeilingsOfCasesAndSeparatesHostFromDevice) {
  const std::vector<history::PastRun> past = runs_with_ceilings(20, 0.001);
  const GateOptions options = with_last_good(confirming(1.05));
  const GateReport other = judge(past, {held(1.05), ceiling("copy", 0.001), ceiling("gemm_bf16", 0.002)}, options);
  EXPECT_EQ(outcome_of(other), Outcome::kRegressed);
  ASSERT_EQ(other.ceilings.size(), 1U);
  EXPECT_EQ(other.ceilings[0].resource, Resource::kDevice);
  const auto with_slow_host = [&](bool host_bound) {
    return judge(past, {held(1.05, host_bound), ceiling("copy", 0.001), ceiling("dispatch", 0.002)}, options);
  };
  const GateReport device_bound = with_slow_host(false);
  EXPECT_TRUE(device_bound.is_valid);
  EXPECT_FALSE(device_bound.host_is_valid);
  EXPECT_EQ(outcome_of(device_bound), Outcome::kRegressed);
  const GateReport host_bound = with_slow_host(true);
  EXPECT_EQ(host_bound.cases.at(0).outcome, Outcome::kNotJudged);
  EXPECT_THAT(host_bound.cases.at(0).note, HasSubstr("the host limits it"));
  EXPECT_FALSE(is_good(host_bound)) << "a case was not judged";
}

TEST(GateMachine, WithoutKnowingWhatCasesAreHeldAgainstEveryDeviceCeilingCounts) {
  const GateReport report = judge(runs_with_ceilings(20, 0.001), {support::timed_case(kCase, around(kTime)),
                                                                  ceiling("copy", 0.001), ceiling("gemm_bf16", 0.002)});
  EXPECT_EQ(outcome_of(report), Outcome::kEnvironment);
}

/// Evaluates nightly runs one after another. The times of the copy ceiling and of the case are multiplied by the run's
/// factor.
std::vector<GateReport> judged_nights(const std::vector<double>& factors, const GateOptions& options = {}) {
  std::vector<history::PastRun> past = runs_with_ceilings(20, 0.001);
  std::vector<GateReport> reports;
  int night = 20;
  for (const double factor : factors) {
    const history::MeasuredRun run = candidate({held(factor), ceiling("copy", 0.001 * factor)}, night++);
    reports.push_back(judge_run(past, run, std::nullopt, options));
    past.push_back(past_of(run));
    past.back().run.epoch = reports.back().epoch;
    past.back().is_valid = reports.back().is_valid;
    past.back().is_blind = !is_judged(reports.back());
  }
  return reports;
}

std::vector<std::string> outcomes(const std::vector<GateReport>& reports) {
  std::vector<std::string> all;
  for (const GateReport& report : reports) all.emplace_back(to_string(outcome_of(report)));
  return all;
}

TEST(GateMachine, ThreeInvalidRunsAlikeAreAMachineThatChanged) {
  const std::vector<GateReport> reports = judged_nights({1.05, 1.052, 1.049, 1.05, 1.05});
  EXPECT_THAT(outcomes(reports), ElementsAre("ENVIRONMENT", "ENVIRONMENT", "MACHINE_CHANGED", "NEW", "NEW"));
  const GateReport& changed = reports[2];
  EXPECT_EQ(changed.machine_change->runs, 3);
  ASSERT_EQ(changed.machine_change->ceilings.size(), 1U);
  EXPECT_NEAR(changed.machine_change->ceilings[0].ratio, 1.049, 1e-3);
  EXPECT_THAT(changed.epoch, HasSubstr(", machine since " + changed.started));
  ASSERT_TRUE(changed.epoch_shift.has_value());
  EXPECT_NEAR(changed.epoch_shift->mean_ratio, 1.049, 1e-3);
  EXPECT_EQ(changed.cases.at(0).outcome, Outcome::kNew);
  EXPECT_FALSE(is_good(changed)) << "the change hides what the build did";
  EXPECT_EQ(reports[3].epoch, changed.epoch);
  EXPECT_EQ(reports[3].runs, 1);
}

TEST(GateMachine, InvalidRunsThatDifferAreNoChange) {
  EXPECT_THAT(outcomes(judged_nights({1.05, 1.10, 1.02, 1.15})),
              ElementsAre("ENVIRONMENT", "ENVIRONMENT", "ENVIRONMENT", "BLIND"));
  EXPECT_THAT(outcomes(judged_nights({1.05, 1, 1.05, 1, 1.05})),
              ElementsAre("ENVIRONMENT", "SAME", "ENVIRONMENT", "SAME", "MACHINE_CHANGED"))
      << "three of the last five";
}

TEST(GateMachine, AcceptingOnAnInvalidRunAcceptsTheMachineToo) {
  GateOptions options;
  options.accepted = {results::match_key(kCase)};
  const std::vector<GateReport> reports = judged_nights({1.05}, options);
  EXPECT_EQ(outcome_of(reports[0]), Outcome::kMachineChanged);
  EXPECT_TRUE(reports[0].machine_change->was_accepted);
  EXPECT_EQ(reports[0].cases.at(0).outcome, Outcome::kSame);
}

TEST(GateMachine, ARunThatWasNotJudgedToItsEndIsNoReferenceAndCountsAsBlind) {
  std::vector<history::PastRun> past = runs_with_ceilings(20, 0.001);
  for (std::size_t i = 15; i < 20; ++i) past[i].is_valid = false;
  const GateReport report = judge(past, {held(1), ceiling("copy", 0.00102)});
  EXPECT_EQ(report.runs, 15);
  EXPECT_EQ(report.blind_runs, 6);
  EXPECT_EQ(exit_status(report, false), kExitBlind);
  EXPECT_EQ(judge(past, {held(1), ceiling("copy", 0.001)}).blind_runs, 0);
}

TEST(GateMachine, StaleCasesAreNamed) {
  const std::vector<history::PastRun> past = quiet_runs(10);
  const GateReport next_night =
      judge_run(past, candidate({support::timed_case(kCase, around(kTime))}, 10), std::nullopt, {});
  EXPECT_THAT(next_night.stale, IsEmpty());
  const GateReport later =
      judge_run(past, candidate({support::timed_case(kCase, around(kTime))}, 12), std::nullopt, {});
  EXPECT_THAT(later.stale, ElementsAre(HasSubstr(kOther.name())));
  const GateReport much_later =
      judge_run(past, candidate({support::timed_case(kCase, around(kTime))}, 60), std::nullopt, {});
  EXPECT_THAT(much_later.stale, IsEmpty()) << "was taken away";
}

}  // namespace
}  // namespace tbench::gate
