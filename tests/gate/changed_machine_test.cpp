// Tests how the gate evaluates nightly runs on a changed machine, and with a changed way of measuring.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "expected_outcome.hpp"

namespace tbench::gate {
namespace {

using testing::HasSubstr;

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

}  // namespace
}  // namespace tbench::gate
