// Tests every row of the table of nightly runs: thirty healthy runs are followed by one that is not. Also tests that no
// mutation of a run improves its outcome.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "support/long_tests.hpp"
#include "whole_nights.hpp"

namespace tbench::gate {
namespace {

using testing::HasSubstr;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

/// The expected outcome of one nightly run.
struct Row {
  Headline headline;
  Outcome outcome;
  int strict_exit;
  bool is_kept;
};

void expect_row(const GateReport& report, const Row& row) {
  EXPECT_EQ(to_string(headline_of(report)), to_string(row.headline));
  EXPECT_EQ(to_string(outcome_of(report)), to_string(row.outcome));
  EXPECT_EQ(exit_status(report, true), row.strict_exit);
  EXPECT_EQ(exit_status(report, false), row.strict_exit == kExitUncertain ? kExitOk : row.strict_exit);
  EXPECT_EQ(is_good(report), row.is_kept);
}

/// Returns the number of the report's cases that enter the baseline.
std::size_t baseline_of(const GateReport& report) {
  return is_judged(report) ? static_cast<std::size_t>(std::ranges::count_if(report.cases, is_baseline)) : 0;
}

std::string text_of(const GateReport& report, Subject subject) {
  const auto found = std::ranges::find(report.findings, subject, &Finding::subject);
  return found == report.findings.end() ? "" : found->text;
}

bool all(std::size_t) { return true; }
bool first(std::size_t i) { return i == 0; }

history::MeasuredRun tonight() { return healthy_night(kHealthyNights); }

Confirm confirming_times(double factor, Status next_status = Status::kOk, Status base_status = Status::kOk) {
  return [=](const std::vector<std::string>& names, std::size_t count) {
    std::vector<ConfirmationBlock> blocks(count);
    double wobble = 0.0005;
    for (ConfirmationBlock& block : blocks) {
      wobble = -wobble;
      for (const std::string& name : names) {
        const CaseId id = CaseId::parse(name);
        const auto side = [&](double seconds, Status status) {
          compare::ComparisonSide run;
          run.cases.push_back(support::timed_case(id, {seconds}, 1.755e9));
          run.cases.back().replicates[0].status = status;
          return run;
        };
        for (int process = 0; process < 2; ++process) {
          block.base.push_back(side(kCaseTime, base_status));
          block.next.push_back(side(kCaseTime * factor * (1 + wobble), next_status));
        }
      }
    }
    return blocks;
  };
}

GateOptions with_kept_build(double factor, Status next_status = Status::kOk, Status base_status = Status::kOk) {
  GateOptions options;
  options.confirm_last_good = confirming_times(factor, next_status, base_status);
  return options;
}

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

history::MeasuredRun failed_night(Status status) {
  history::MeasuredRun run = tonight();
  change_cases(run, first,
               [&](results::Replicate& r, std::size_t) { r = support::failed_replicate(status, "planted"); });
  return run;
}

TEST(TableOfNights, WrongResultsThatDoNotComeBackAreFlaky) {
  const GateReport report = judge_night(healthy_nights(), failed_night(Status::kIncorrect), with_kept_build(1));
  expect_row(report, {Headline::kFailed, Outcome::kFlaky, 1, false});
  EXPECT_EQ(baseline_of(report), kNightCases - 1);
}

TEST(TableOfNights, WrongResultsThatComeBackAreWrongUnlessTheKeptBuildHasThemToo) {
  const history::MeasuredRun run = failed_night(Status::kIncorrect);
  expect_row(judge_night(healthy_nights(), run, with_kept_build(1, Status::kIncorrect)),
             {Headline::kFailed, Outcome::kWrong, 1, false});
  expect_row(judge_night(healthy_nights(), run, with_kept_build(1, Status::kIncorrect, Status::kIncorrect)),
             {Headline::kReview, Outcome::kNotJudged, 4, false});
}

TEST(TableOfNights, CrashesAreErrorsAlsoWithoutAKeptBuildAndInANightThatIsNotJudged) {
  history::MeasuredRun run = tonight();
  change_cases(run, all, [](results::Replicate& r, std::size_t) {
    r = support::failed_replicate(Status::kCrashed, "signal 11");
  });
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kFailed, Outcome::kError, 1, false});
  EXPECT_EQ(count_of(report, Outcome::kError), kNightCases);
  EXPECT_EQ(baseline_of(report), 0U);
  run.was_interrupted = true;
  const GateReport cut = judge_night(healthy_nights(), run);
  expect_row(cut, {Headline::kFailed, Outcome::kError, 1, false});
  EXPECT_THAT(cut.cases.front().note, HasSubstr("crashed in 5 of 5 processes: signal 11"));
}

TEST(TableOfNights, WhatIsFasterThanTheGpuIsImpossible) {
  history::MeasuredRun run = tonight();
  change_cases(run, first, [](results::Replicate& r, std::size_t) {
    r.time->value /= 10;
    r.peak_share_at_clock = 7.0;
    r.ceiling_share = 9.0;
  });
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kFailed, Outcome::kImpossible, 1, false});
  EXPECT_THAT(report.cases.front().note, HasSubstr("9.00 times the ceiling gemm_bf16"));
  EXPECT_EQ(baseline_of(report), kNightCases - 1);
  change_cases(run, first, [](results::Replicate& r, std::size_t) { r.ceiling_share.reset(); });
  EXPECT_THAT(judge_night(healthy_nights(), run).cases.front().note, HasSubstr("6.20 times the GPU's peak"));
}

TEST(TableOfNights, AThirdFasterWithinThePeakIsAnImprovement) {
  history::MeasuredRun run = tonight();
  change_cases(run, first, [](results::Replicate& r, std::size_t) { r.time->value /= 1.33; });
  const GateReport report = judge_night(healthy_nights(), run, with_last_good(confirming(1 / 1.33)));
  expect_row(report, {Headline::kPassed, Outcome::kImproved, 0, true});
  EXPECT_EQ(baseline_of(report), kNightCases);
  const GateReport unconfirmed = judge_night(healthy_nights(), run);
  expect_row(unconfirmed, {Headline::kPassed, Outcome::kImproved, 0, false});
  EXPECT_THAT(unconfirmed.warnings, testing::Contains(HasSubstr("1 IMPROVED and not confirmed")));
}

TEST(TableOfNights, AClockThatIsWrongJudgesNothing) {
  const std::vector<history::PastRun> past = healthy_nights();
  history::MeasuredRun run = tonight();
  GateOptions early;
  early.night = facts_after(past, run);
  early.night->later_runs = kHealthyNights;
  const GateReport before = judge_night(past, run, early);
  expect_row(before, {Headline::kFailed, Outcome::kIncomplete, 7, false});
  EXPECT_THAT(text_of(before, Subject::kClock), HasSubstr("30 runs are dated later"));
  GateOptions ahead;
  ahead.night = facts_after(past, run);
  ahead.night->now = "2026-02-01T02:00:00Z";
  expect_row(judge_night(past, run, ahead), {Headline::kFailed, Outcome::kIncomplete, 7, false});
  ahead.night->now = "2026-02-01T02:00:01Z";
  expect_row(judge_night(past, run, ahead), {Headline::kPassed, Outcome::kSame, 0, true});
}

TEST(TableOfNights, SamplesOfAnEarlierNightAreAReplay) {
  history::MeasuredRun run = healthy_night(kHealthyNights - 3);
  run.started = tonight().started;
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kFailed, Outcome::kReplayed, 7, false});
  EXPECT_EQ(baseline_of(report), 0U);
  EXPECT_THAT(text_of(report, Subject::kWhole), HasSubstr("has the samples of the run of 2026-01-29"));
  GateOptions without_digests;
  without_digests.night = facts_after(healthy_nights(), run);
  without_digests.night->known_samples.clear();
  const GateReport by_times = judge_night(healthy_nights(), run, without_digests);
  expect_row(by_times, {Headline::kFailed, Outcome::kReplayed, 7, false});
  EXPECT_THAT(text_of(by_times, Subject::kWhole), HasSubstr("most times are those of the run of 2026-01-29"));
}

TEST(TableOfNights, TwoSlowProcessesOfFiveAreASplit) {
  history::MeasuredRun run = tonight();
  change_cases(run, first, [](results::Replicate& r, std::size_t process) { r.time->value *= process < 2 ? 1.5 : 1; });
  const GateReport open = judge_night(healthy_nights(), run);
  expect_row(open, {Headline::kReview, Outcome::kSplit, 4, false});
  EXPECT_THAT(open.cases.front().note, HasSubstr("2 of 5 processes slower by 49."));
  EXPECT_EQ(baseline_of(open), kNightCases - 1);
  const GateReport confirmed = judge_night(healthy_nights(), run, with_kept_build(1.5));
  expect_row(confirmed, {Headline::kFailed, Outcome::kSplit, 1, false});
  EXPECT_THAT(confirmed.cases.front().note, HasSubstr("run again: 20 of 20 slow, with the kept build 0 of 20"));
  expect_row(judge_night(healthy_nights(), run, with_kept_build(1)), {Headline::kPassed, Outcome::kRetried, 0, true});
  GateOptions failing = with_kept_build(1);
  failing.confirm_last_good = [confirm = failing.confirm_last_good](const auto& names, std::size_t count) {
    std::vector<ConfirmationBlock> blocks = confirm(names, count);
    blocks[1].next[0].cases[0].replicates[0] = support::failed_replicate(Status::kCrashed, "signal 11");
    return blocks;
  };
  expect_row(judge_night(healthy_nights(), run, failing), {Headline::kFailed, Outcome::kError, 1, false});
  GateOptions silent = with_kept_build(1);
  silent.confirm_last_good = [](const auto&, std::size_t count) { return std::vector<ConfirmationBlock>(count); };
  expect_row(judge_night(healthy_nights(), run, silent), {Headline::kReview, Outcome::kSplit, 4, false});
}

/// Returns nightly runs of which each is slower than the one before by 0.02 %. Noise is added.
std::vector<history::PastRun> drifting_nights(int count) {
  std::vector<history::PastRun> past = healthy_nights(count);
  for (int night = 0; night < count; ++night) {
    for (results::Replicate& r : past[static_cast<std::size_t>(night)].run.cases[0].replicates) {
      r.time->value *= std::exp(0.0002 * night);
    }
  }
  return past;
}

TEST(TableOfNights, AFiftiethOfAPercentANightIsACreep) {
  constexpr int kNights = 54;
  const std::vector<history::PastRun> past = drifting_nights(kNights);
  history::MeasuredRun run = healthy_night(kNights);
  change_cases(run, first, [](results::Replicate& r, std::size_t) { r.time->value *= std::exp(0.0002 * kNights); });
  const GateReport open = judge_night(past, run);
  expect_row(open, {Headline::kReview, Outcome::kCreep, 4, false});
  EXPECT_EQ(baseline_of(open), kNightCases);
  EXPECT_THAT(open.cases.front().note, HasSubstr("% over 55 runs"));
  GateOptions options;
  options.confirm_pinned = confirming_times(1.011);
  const GateReport confirmed = judge_night(past, run, options);
  expect_row(confirmed, {Headline::kFailed, Outcome::kCreep, 1, false});
  EXPECT_EQ(baseline_of(confirmed), kNightCases);
  options.confirm_pinned = confirming_times(1);
  expect_row(judge_night(past, run, options), {Headline::kPassed, Outcome::kRetried, 0, true});
  options.confirm_pinned = [confirm = options.confirm_pinned](const auto& names, std::size_t count) {
    std::vector<ConfirmationBlock> blocks = confirm(names, count);
    for (ConfirmationBlock& block : blocks) {
      for (compare::ComparisonSide& side : block.base) side.cases[0].replicates[0].peak_bytes = 1'000'000'000;
      for (compare::ComparisonSide& side : block.next) side.cases[0].replicates[0].peak_bytes = 2'000'000'000;
    }
    return blocks;
  };
  expect_row(judge_night(past, run, options), {Headline::kFailed, Outcome::kRegressed, 1, false});
}

TEST(TableOfNights, ASlowerFamilyIsRegressedOrUnconfirmed) {
  history::MeasuredRun run = tonight();
  change_cases(
      run, [](std::size_t i) { return i < 8; }, [](results::Replicate& r, std::size_t) { r.time->value *= 1.08; });
  const GateReport confirmed = judge_night(healthy_nights(), run, with_kept_build(1.08));
  expect_row(confirmed, {Headline::kFailed, Outcome::kRegressed, 1, false});
  EXPECT_EQ(count_of(confirmed, Outcome::kRegressed), 8U);
  EXPECT_EQ(baseline_of(confirmed), kNightCases - 8);
  const GateReport open = judge_night(healthy_nights(), run);
  expect_row(open, {Headline::kReview, Outcome::kUnconfirmed, 4, false});
  EXPECT_EQ(baseline_of(open), kNightCases - 8);
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

TEST(TableOfNights, AChangedFactIsNamedWithTheShift) {
  const std::vector<history::PastRun> past = healthy_nights();
  history::MeasuredRun run = tonight();
  run.environment.gpu->power_limit_w = 600;
  run.environment.cpu_name = "Another CPU";
  run.fingerprint = history::fingerprint_of(run.environment);
  change_cases(run, all, [](results::Replicate& r, std::size_t) { r.time->value *= 1.12; });
  GateOptions options;
  options.night = facts_after(past, run);
  options.night->before = past;
  options.night->expects_null_control = false;
  const GateReport report = judge_night({}, run, options);
  expect_row(report, {Headline::kReview, Outcome::kEnvironment, 4, false});
  EXPECT_EQ(baseline_of(report), kNightCases) << "of a new epoch";
  EXPECT_THAT(text_of(report, Subject::kMachine),
              testing::AllOf(HasSubstr("power limit 700 -> 600 W, CPU Example CPU -> Another CPU: 48 cases +12."),
                             HasSubstr(" to +12.")));
  run.environment.gpu->uuid = "GPU-2";
  EXPECT_THAT(text_of(judge_night({}, run, options), Subject::kMachine), HasSubstr("--pool"));
}

TEST(TableOfNights, AnotherWayOfMeasuringBeginsASeries) {
  history::MeasuredRun run = tonight();
  run.way = "min_time_s 0.05, samples 60";
  change_cases(run, all, [](results::Replicate& r, std::size_t) { r.time->value *= 1.05; });
  const std::vector<history::PastRun> past = healthy_nights();
  const GateReport report = judge_night(past, run);
  expect_row(report, {Headline::kReview, Outcome::kEnvironment, 4, false});
  EXPECT_EQ(count_of(report, Outcome::kNew), kNightCases);
  EXPECT_THAT(text_of(report, Subject::kMachine),
              HasSubstr("measured otherwise: min_time_s 0.5 -> 0.05: 48 cases +5."));
  EXPECT_THAT(report.epoch, HasSubstr(", machine since " + run.started));
}

TEST(TableOfNights, OtherProcessesOnTheGpuJudgeNothing) {
  history::MeasuredRun run = tonight();
  run.other_processes = 2;
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kReview, Outcome::kEnvironment, 4, false});
  EXPECT_EQ(baseline_of(report), 0U);
  EXPECT_THAT(text_of(report, Subject::kMachine), HasSubstr("2 other processes used the GPU when the run began"));
}

TEST(TableOfNights, AnotherProcessOnTheGpuAtTheEndJudgesNothing) {
  history::MeasuredRun run = tonight();
  run.other_processes_at_end = 1;
  const GateReport report = judge_night(healthy_nights(), run);
  expect_row(report, {Headline::kReview, Outcome::kEnvironment, 4, false});
  EXPECT_EQ(baseline_of(report), 0U);
  EXPECT_THAT(text_of(report, Subject::kMachine), HasSubstr("1 other process used the GPU when the run ended"));
}

TEST(TableOfNights, ThreeProcessesWhereFiveWereAreEnoughAndTwoAreNot) {
  const GateReport report = judge_night(healthy_nights(), healthy_night(kHealthyNights, 3));
  expect_row(report, {Headline::kPassed, Outcome::kSame, 0, true});
  EXPECT_THAT(report.warnings, testing::Contains(HasSubstr("3 processes where 30 runs had 5")));
  expect_row(judge_night(healthy_nights(), healthy_night(kHealthyNights, 2)),
             {Headline::kFailed, Outcome::kIncomplete, 7, false});
}

TEST(TableOfNights, OtherCpusAreToldAndJudgeTheSame) {
  std::vector<history::PastRun> past = healthy_nights();
  history::MeasuredRun run = tonight();
  run.environment.cpu_limits = CpuLimits{.affinity = "0-3", .quota = 2.5};
  EXPECT_THAT(judge_night(past, run).warnings, testing::Not(testing::Contains(HasSubstr("CPUs"))));
  past.back().run.environment.cpu_limits = CpuLimits{.affinity = "0-15", .quota = {}};
  const GateReport report = judge_night(past, run);
  expect_row(report, {Headline::kPassed, Outcome::kSame, 0, true});
  EXPECT_THAT(report.warnings,
              testing::Contains(HasSubstr("may use CPUs 0-3 (2.5 of them), and the last one CPUs 0-15")));
}

TEST(TableOfNights, AFastFirstNightIsNoReference) {
  std::vector<history::PastRun> past = healthy_nights(1);
  for (results::MeasuredCase& c : past.front().run.cases) {
    for (results::Replicate& r : c.replicates) r.time->value /= c.id.family() == "Ceiling" ? 1 : 1.1;
  }
  for (int night = 1; night < 6; ++night) {
    const history::MeasuredRun run = healthy_night(night);
    const GateReport report = judge_night(past, run);
    expect_row(report, {Headline::kPassed, night < 3 ? Outcome::kNew : Outcome::kSame, 0, true});
    past.push_back(past_of(run));
  }
}

TEST(TableOfNights, WithoutTheNullControlThatIsUsualNothingIsJudged) {
  const std::vector<history::PastRun> past = healthy_nights();
  GateOptions options;
  options.night = facts_after(past, tonight());
  expect_row(judge_run(past, tonight(), std::nullopt, options), {Headline::kFailed, Outcome::kIncomplete, 7, false});
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

/// Keeps a third of a run's cases and ceilings, because a test evaluates thousands of mutations.
template <class Run>
Run thinned(Run run) {
  run.cases.erase(run.cases.begin() + 16, run.cases.begin() + kNightCases);
  run.cases.erase(run.cases.begin() + 16 + 6, run.cases.end());
  return run;
}

/// Deletes, edits or repeats a random record of the run. None of these mutations makes a slow record fast.
void mutate(history::MeasuredRun& run, std::mt19937_64& random) {
  const auto below = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>{0, count - 1}(random);
  };
  results::MeasuredCase& c = run.cases[below(run.cases.size())];
  const std::size_t process = below(c.replicates.size());
  results::Replicate& record = c.replicates[process];
  switch (below(8)) {
    case 0:
      c.replicates.erase(c.replicates.begin() + static_cast<std::ptrdiff_t>(process));
      if (c.replicates.empty()) std::erase_if(run.cases, [&](const results::MeasuredCase& x) { return &x == &c; });
      break;
    case 1:
      c.replicates.push_back(record);
      break;
    case 2:
      record = support::failed_replicate(Status::kCrashed, "edited");
      break;
    case 3:
      record = support::failed_replicate(Status::kIncorrect, "edited");
      break;
    case 4:
      if (record.time) record.time->value *= 1.5;
      break;
    case 5:
      record = run.cases[below(run.cases.size())].replicates.front();
      break;
    case 6:
      record.peak_share_at_clock = 3;
      break;
    default:
      c.id = CaseId{"Edited", {{"n", "1"}}};
      c.key = results::match_key(c.id);
  }
}

TEST(TableOfNights, NoMutationOfARecordImprovesANight) {
  std::vector<history::PastRun> past = healthy_nights(8);
  for (history::PastRun& earlier : past) earlier.run = thinned(earlier.run);
  std::vector<history::MeasuredRun> nights(4, healthy_night(8));
  change_cases(nights[1], first, [](results::Replicate& r, std::size_t) { r.time->value *= 1.08; });
  change_cases(nights[2], first, [](results::Replicate& r, std::size_t) { r.status = Status::kIncorrect; });
  for (history::MeasuredRun& night : nights) {
    night = thinned(night);
    std::erase_if(night.planned, [&](const auto& planned) {
      return std::ranges::find(night.cases, planned.first, &results::MeasuredCase::key) == night.cases.end();
    });
  }
  nights[3].cases.erase(nights[3].cases.begin());
  std::mt19937_64 random{42};
  const int mutations = kIsSanitized && !support::are_tests_long() ? 500 : 10'000;
  std::vector<GateReport> originals;
  for (const history::MeasuredRun& night : nights) originals.push_back(judge_night(past, night));
  GateOptions options;
  options.night = facts_after(past, nights[0]);
  const AaControlSides control = sound_control();
  for (int i = 0; i < mutations; ++i) {
    const std::size_t which = static_cast<std::size_t>(i) % nights.size();
    history::MeasuredRun run = nights[which];
    mutate(run, random);
    const GateReport report = judge_run(past, run, control, options);
    ASSERT_GE(headline_of(report), headline_of(originals[which])) << i;
    ASSERT_LE(is_good(report), is_good(originals[which])) << i;
    ASSERT_LE(baseline_of(report), baseline_of(originals[which])) << i;
  }
}

}  // namespace
}  // namespace tbench::gate
