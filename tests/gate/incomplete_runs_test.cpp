// Tests how the gate evaluates a healthy nightly run, and runs that lack cases, ceilings or processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "expected_outcome.hpp"

namespace tbench::gate {
namespace {

using testing::HasSubstr;

TEST(TableOfNights, AHealthyOnePasses) {
  const GateReport report = judge_night(healthy_nights(), tonight());
  expect_row(report, {Headline::kPassed, Outcome::kSame, 0, true});
  EXPECT_EQ(baseline_of(report), kNightCases);
  EXPECT_THAT(report.findings, testing::IsEmpty());
}

TEST(TableOfNights, WithoutCeilingsTheMachineWasNotChecked) {
  history::MeasuredRun crashed = tonight();
  for (results::MeasuredCase& c : crashed.cases) {
    if (c.id.family() != "Ceiling") continue;
    for (results::Replicate& r : c.replicates) r = support::failed_replicate(Status::kCrashed, "signal 11");
  }
  history::MeasuredRun none = tonight();
  std::erase_if(none.cases, [](const results::MeasuredCase& c) { return c.id.family() == "Ceiling"; });
  none.planned.clear();
  for (const history::MeasuredRun& run : {crashed, none}) {
    const GateReport report = judge_night(healthy_nights(), run);
    expect_row(report, {Headline::kFailed, Outcome::kIncomplete, 7, false});
    EXPECT_EQ(baseline_of(report), 0U);
    EXPECT_THAT(text_of(report, Subject::kCeilings), HasSubstr("the machine was not checked: gemm_bf16 burst"));
  }
}

TEST(TableOfNights, MissingCasesAreNamedWithTheDateAndTheOthersAreJudged) {
  for (const std::size_t missing : {kNightCases, std::size_t{34}}) {
    history::MeasuredRun run = tonight();
    run.cases.erase(run.cases.begin(), run.cases.begin() + static_cast<std::ptrdiff_t>(missing));
    run.planned.clear();
    const GateReport report = judge_night(healthy_nights(), run);
    expect_row(report, {Headline::kFailed, Outcome::kMissing, 1, false});
    EXPECT_EQ(count_of(report, Outcome::kMissing), missing);
    EXPECT_EQ(baseline_of(report), kNightCases - missing);
    const auto gone = std::ranges::find(report.cases, Outcome::kMissing, &CaseReport::outcome);
    EXPECT_THAT(gone->note, HasSubstr("expected since 2026-01-02, missing since 2026-02-01"));
  }
}

TEST(TableOfNights, ARenamedCaseIsMissingAndPairedWithItsNewName) {
  history::MeasuredRun run = tonight();
  const std::string old_name = run.cases[0].id.name();
  run.cases[0].id = CaseId{"Gemm", {{"m", "1024"}, {"precision", "bf16"}, {"layout", "tn"}}};
  run.planned.erase(run.cases[0].key);
  run.cases[0].key = results::match_key(run.cases[0].id);
  change_cases(run, first, [](results::Replicate& r, std::size_t) { r.time->value *= 1.3; });
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kFailed, Outcome::kMissing, 1, false});
  EXPECT_EQ(report.missing, std::vector{old_name});
  EXPECT_EQ(report.cases.front().outcome, Outcome::kNew);
  EXPECT_THAT(report.cases.back().note, HasSubstr("renamed to " + run.cases[0].id.name() + "? (+30."));
  run.cases[1].id = CaseId{"Gemm", {{"m", "1024"}, {"precision", "bf16"}, {"layout", "nt"}}};
  run.cases[1].key = results::match_key(run.cases[1].id);
  EXPECT_THAT(judge_night(healthy_nights(), run).cases.back().note, testing::Not(HasSubstr("renamed")))
      << "two may be it";
}

TEST(TableOfNights, AnInterruptedOneIsIncompleteAndItsCasesAreMissing) {
  history::MeasuredRun run = tonight();
  run.cases.erase(run.cases.begin() + 5, run.cases.begin() + kNightCases);
  run.was_interrupted = true;
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kFailed, Outcome::kMissing, 1, false});
  EXPECT_EQ(count_of(report, Outcome::kMissing), 43U);
  EXPECT_EQ(baseline_of(report), 0U);
  EXPECT_THAT(text_of(report, Subject::kWhole),
              HasSubstr("the run was interrupted; 43 planned cases were not measured"));
}

TEST(TableOfNights, AFullDiskInTheMiddleIsTold) {
  history::MeasuredRun run = tonight();
  run.cases.erase(run.cases.begin() + 20, run.cases.begin() + kNightCases);
  for (results::MeasuredCase& c : run.cases) c.replicates.resize(4);
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kFailed, Outcome::kMissing, 1, false});
  EXPECT_THAT(text_of(report, Subject::kWhole), HasSubstr("(4 of 5 processes)"));
  EXPECT_EQ(baseline_of(report), 0U);
}

TEST(TableOfNights, ThreeProcessesWhereFiveWereAreEnoughAndTwoAreNot) {
  const GateReport report = judge_night(healthy_nights(), healthy_night(kHealthyNights, 3));
  expect_row(report, {Headline::kPassed, Outcome::kSame, 0, true});
  EXPECT_THAT(report.warnings, testing::Contains(HasSubstr("3 processes where 30 runs had 5")));
  expect_row(judge_night(healthy_nights(), healthy_night(kHealthyNights, 2)),
             {Headline::kFailed, Outcome::kIncomplete, 7, false});
}

TEST(TableOfNights, APartIsJudgedAndKeepsNothing) {
  const std::vector<history::PastRun> past = healthy_nights();
  history::MeasuredRun run = tonight();
  run.cases.erase(run.cases.begin() + 5, run.cases.begin() + kNightCases);
  run.planned.clear();
  GateOptions options;
  options.night = facts_after(past, run);
  options.night->is_partial = true;
  expect_row(judge_night(past, run, options), {Headline::kPassed, Outcome::kSame, 0, false});
}

}  // namespace
}  // namespace tbench::gate
