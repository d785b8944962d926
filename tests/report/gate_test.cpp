// The gate's rules, one by one, on nights without noise. How it does on noise is gate_simulation_test.cpp's.
#include "tbench/report/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "history_samples.hpp"

namespace tbench::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const CaseId kCase = model_id("forward", "sdpa");
const CaseId kOther = model_id("train_step", "sdpa");
constexpr double kTime = 0.025;

/// Five processes that differ by up to 0.2 %.
std::vector<double> around(double seconds) {
  return {seconds * 0.998, seconds * 0.999, seconds, seconds * 1.001, seconds * 1.002};
}

ComparedCase with_memory(ComparedCase c, std::int64_t bytes) {
  for (Replicate& replicate : c.replicates) replicate.peak_bytes = bytes;
  return c;
}

ComparedCase with_work(ComparedCase c, double flop) {
  for (Replicate& replicate : c.replicates) replicate.work = Flop{flop};
  return c;
}

PastRun past_of(const MeasuredRun& run) {
  PastRun past;
  past.run = {.id = 1,
              .started = run.started,
              .fingerprint = run.fingerprint,
              .epoch = run.epoch,
              .environment = run.environment,
              .cases = run.cases};
  return past;
}

/// So many quiet nights of two cases, with a wobble of 0.1 %.
std::vector<PastRun> quiet_nights(int count, double seconds = kTime) {
  std::vector<PastRun> past;
  for (int night = 0; night < count; ++night) {
    const double time = seconds * (1 + 0.001 * ((night % 3) - 1));
    past.push_back(past_of(run_of_night(night, {timed_case(kCase, around(time)), timed_case(kOther, around(time))})));
  }
  return past;
}

MeasuredRun tonight(std::vector<ComparedCase> cases, int night = 50) { return run_of_night(night, std::move(cases)); }

NightReport judge(const std::vector<PastRun>& past, std::vector<ComparedCase> cases, const GateOptions& options = {}) {
  return judge_night(past, tonight(std::move(cases)), std::nullopt, options);
}

/// Blocks in which the new build takes `factor` times as long, or has what `change` makes of its replicates.
Confirm confirming(double factor, double clock_factor = 1) {
  return [=](const std::vector<std::string>& names) {
    std::vector<ConfirmationBlock> blocks(kConfirmationBlocks);
    double wobble = 0;
    for (ConfirmationBlock& block : blocks) {
      wobble = wobble > 0 ? -0.0005 : 0.0005;
      for (const std::string& name : names) {
        const CaseId id = CaseId::parse(name);
        block.base.resize(2);
        block.next.resize(2);
        for (ComparedRun& run : block.base) run.observations.push_back({id, timed_replicate(kTime, 1.98e9)});
        for (ComparedRun& run : block.next) {
          run.observations.push_back({id, timed_replicate(kTime * factor * (1 + wobble), 1.98e9 * clock_factor)});
        }
      }
    }
    return blocks;
  };
}

GateOptions with_last_good(Confirm confirm) {
  GateOptions options;
  options.confirm_last_good = std::move(confirm);
  return options;
}

TEST(Gate, AFirstNightIsNew) {
  const NightReport report = judge({}, {timed_case(kCase, around(kTime))});
  EXPECT_EQ(report.cases.at(0).verdict, NightVerdict::kNew);
  EXPECT_EQ(exit_status(report, true), 0);
  EXPECT_EQ(report.nights, 0);
  EXPECT_EQ(report.processes, 5);
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("no Ceiling cases")));
  EXPECT_FALSE(report.epoch_shift.has_value());
}

TEST(Gate, AConfirmedRegressionFailsTheNight) {
  const NightReport report =
      judge(quiet_nights(20), {timed_case(kCase, around(kTime * 1.05)), timed_case(kOther, around(kTime))},
            with_last_good(confirming(1.05)));
  const NightCase& c = report.cases.at(0);
  EXPECT_EQ(c.verdict, NightVerdict::kRegressed);
  EXPECT_EQ(c.found_by, "history");
  EXPECT_NEAR(*c.ratio, 1.05, 1e-9);
  // No night repeats better than 0.25 %: z = ln(1.05) / (0.0025 sqrt(1 + 1.57 / 20)); the spread of the past is less
  EXPECT_NEAR(*c.z, std::log(1.05) / (0.0025 * std::sqrt(1 + 1.57 / 20)), 0.01);
  EXPECT_NEAR(*c.confirmed_ratio, 1.05, 0.001);
  EXPECT_LE(*c.adjusted_p, 0.01);
  EXPECT_EQ(c.blocks, 6);
  EXPECT_EQ(c.first_bad->commit, "commit50");
  EXPECT_EQ(report.cases.at(1).verdict, NightVerdict::kPassed);
  EXPECT_EQ(exit_status(report, false), 1);
  EXPECT_FALSE(is_good(report));
}

TEST(Gate, WhatIsNotConfirmedFailsNothing) {
  const std::vector<ComparedCase> slow{timed_case(kCase, around(kTime * 1.05))};
  const NightReport retried = judge(quiet_nights(20), slow, with_last_good(confirming(1.001)));
  EXPECT_EQ(retried.cases.at(0).verdict, NightVerdict::kRetried);
  EXPECT_EQ(exit_status(retried, true), 0);
  EXPECT_TRUE(is_good(retried));
  const NightReport unconfirmed = judge(quiet_nights(20), slow);
  EXPECT_EQ(unconfirmed.cases.at(0).verdict, NightVerdict::kUnconfirmed);
  EXPECT_EQ(exit_status(unconfirmed, false), 0);
  EXPECT_EQ(exit_status(unconfirmed, true), 4);
  EXPECT_FALSE(is_good(unconfirmed));
  const NightReport clock = judge(quiet_nights(20), slow, with_last_good(confirming(1.05, 1 / 1.05)));
  EXPECT_EQ(clock.cases.at(0).verdict, NightVerdict::kClock) << "the time moved, the cycles did not";
  const NightReport below = judge(quiet_nights(20), slow, with_last_good(confirming(1.015)));
  EXPECT_EQ(below.cases.at(0).verdict, NightVerdict::kRetried) << "certain, but less than matters";
}

TEST(Gate, AScoreAndAThresholdAreBothNeeded) {
  const auto verdict = [](double factor) {
    return judge(quiet_nights(20), {timed_case(kCase, around(kTime * factor))}).cases.at(0).verdict;
  };
  EXPECT_EQ(verdict(1.019), NightVerdict::kPassed);
  EXPECT_EQ(verdict(1.021), NightVerdict::kUnconfirmed);
  EXPECT_EQ(verdict(1 / 1.021), NightVerdict::kImproved);
  std::vector<PastRun> noisy = quiet_nights(20);
  for (std::size_t i = 0; i < noisy.size(); i += 2)
    noisy[i] = past_of(run_of_night(static_cast<int>(i), {timed_case(kCase, around(kTime * 1.03))}));
  EXPECT_EQ(judge(noisy, {timed_case(kCase, around(kTime * 1.05))}).cases.at(0).verdict, NightVerdict::kPassed);
}

TEST(Gate, FewNightsAreComparedWithTheirBaseline) {
  const auto report = [](double factor) { return judge(quiet_nights(4), {timed_case(kCase, around(kTime * factor))}); };
  EXPECT_EQ(report(1.05).cases.at(0).verdict, NightVerdict::kUnconfirmed);
  EXPECT_EQ(report(1.05).cases.at(0).found_by, "baseline");
  EXPECT_EQ(report(1).cases.at(0).verdict, NightVerdict::kPassed);
  EXPECT_EQ(report(0.9).cases.at(0).verdict, NightVerdict::kImproved);
  EXPECT_EQ(judge(quiet_nights(4), {timed_case(kCase, {kTime})}).cases.at(0).verdict, NightVerdict::kNew);
}

TEST(Gate, MemoryIsExact) {
  std::vector<PastRun> past;
  for (int night = 0; night < 10; ++night) {
    past.push_back(past_of(run_of_night(night, {with_memory(timed_case(kCase, around(kTime)), 1'000'000'000)})));
  }
  const auto tonight_with = [&](std::int64_t bytes, const GateOptions& options = {}) {
    return judge(past, {with_memory(timed_case(kCase, around(kTime)), bytes)}, options).cases.at(0);
  };
  EXPECT_EQ(tonight_with(1'004'000'000).verdict, NightVerdict::kPassed);
  EXPECT_EQ(tonight_with(1'006'000'000).verdict, NightVerdict::kUnconfirmed);
  EXPECT_EQ(tonight_with(1'006'000'000).found_by, "memory");
  const auto blocks = [](std::int64_t bytes) {
    return with_last_good([bytes](const std::vector<std::string>& names) {
      std::vector<ConfirmationBlock> all = confirming(1)(names);
      for (ConfirmationBlock& block : all) {
        for (ComparedRun& run : block.base) run.observations[0].replicate.peak_bytes = 1'000'000'000;
        for (ComparedRun& run : block.next) run.observations[0].replicate.peak_bytes = bytes;
      }
      return all;
    });
  };
  EXPECT_EQ(tonight_with(1'006'000'000, blocks(1'006'000'000)).verdict, NightVerdict::kRegressed);
  EXPECT_EQ(tonight_with(1'006'000'000, blocks(1'000'000'000)).verdict, NightVerdict::kRetried);
}

TEST(Gate, AFailureThatComesBackIsARegression) {
  const std::vector<ComparedCase> failed{
      compared_case(kCase, {timed_replicate(kTime), failed_replicate(Status::kCrashed, "signal 11")})};
  const auto blocks = [](bool next_fails, bool base_fails) {
    return with_last_good([=](const std::vector<std::string>& names) {
      std::vector<ConfirmationBlock> all = confirming(1)(names);
      if (next_fails) all[2].next[1].observations[0].replicate = failed_replicate(Status::kCrashed, "signal 11");
      if (base_fails) all[3].base[0].observations[0].replicate = failed_replicate(Status::kCrashed, "signal 11");
      return all;
    });
  };
  const NightCase again = judge(quiet_nights(10), failed, blocks(true, false)).cases.at(0);
  EXPECT_EQ(again.verdict, NightVerdict::kRegressed);
  EXPECT_EQ(again.found_by, "status");
  EXPECT_THAT(again.note, HasSubstr("crashed: signal 11"));
  EXPECT_EQ(judge(quiet_nights(10), failed, blocks(false, false)).cases.at(0).verdict, NightVerdict::kRetried);
  EXPECT_EQ(judge(quiet_nights(10), failed, blocks(true, true)).cases.at(0).verdict, NightVerdict::kInvalid);
  EXPECT_EQ(judge({}, failed).cases.at(0).verdict, NightVerdict::kInvalid) << "never was ok";
  const std::vector<ComparedCase> throttled{compared_case(kCase, {failed_replicate(Status::kThrottled, "hot")})};
  EXPECT_EQ(judge(quiet_nights(10), throttled, blocks(true, false)).cases.at(0).verdict, NightVerdict::kInvalid);
}

TEST(Gate, OtherWorkIsNotCompared) {
  std::vector<PastRun> past;
  for (int night = 0; night < 10; ++night)
    past.push_back(past_of(run_of_night(night, {with_work(timed_case(kCase, around(kTime)), 1e12)})));
  const NightCase c = judge(past, {with_work(timed_case(kCase, around(2 * kTime)), 2e12)}).cases.at(0);
  EXPECT_EQ(c.verdict, NightVerdict::kInvalid);
  EXPECT_THAT(c.note, HasSubstr("other work"));
}

TEST(Gate, ConfirmedNightsAreNotWhatIsUsual) {
  std::vector<PastRun> past = quiet_nights(20);
  for (int night = 20; night < 35; ++night) {
    past.push_back(past_of(run_of_night(night, {timed_case(kCase, around(kTime * 1.05))})));
    past.back().regressed = {match_key(kCase)};
  }
  const NightCase c =
      judge(past, {timed_case(kCase, around(kTime * 1.05))}, with_last_good(confirming(1.05))).cases.at(0);
  EXPECT_EQ(c.verdict, NightVerdict::kRegressed);
  EXPECT_EQ(c.first_bad->commit, "commit20");
  EXPECT_EQ(c.last_good->commit, "commit19");
  EXPECT_THAT(c.since, ElementsAre("commit: commit19 against commit20"));
}

TEST(Gate, APinnedNightStartsTheHistoryAnew) {
  std::vector<PastRun> past = quiet_nights(20);
  past.push_back(
      past_of(run_of_night(30, {timed_case(kCase, around(kTime * 1.05)), timed_case(kOther, around(kTime))})));
  past.back().baseline_of = {match_key(kCase)};
  const NightReport report =
      judge(past, {timed_case(kCase, around(kTime * 1.05)), timed_case(kOther, around(kTime * 1.05))});
  EXPECT_EQ(report.cases.at(0).verdict, NightVerdict::kPassed);
  EXPECT_EQ(report.cases.at(0).nights, 1);
  EXPECT_EQ(report.cases.at(1).verdict, NightVerdict::kUnconfirmed);
}

TEST(Gate, WhatIsAcceptedIsNotRunAgain) {
  GateOptions options = with_last_good([](const auto&) -> std::vector<ConfirmationBlock> {
    ADD_FAILURE() << "run again";
    return {};
  });
  options.accepted = {match_key(kCase)};
  const NightReport report = judge(quiet_nights(20), {timed_case(kCase, around(kTime * 1.05))}, options);
  EXPECT_EQ(report.cases.at(0).verdict, NightVerdict::kPassed);
  EXPECT_THAT(report.cases.at(0).note, HasSubstr("accepted"));
}

TEST(Gate, TooManyCandidatesAreCutToTheGravest) {
  std::vector<PastRun> past;
  const auto cases = [](double step) {
    std::vector<ComparedCase> all;
    for (int i = 0; i < 6; ++i) {
      all.push_back(timed_case(CaseId{"Model", {{"size", std::to_string(i)}}}, around(kTime * (1 + step * i))));
    }
    return all;
  };
  for (int night = 0; night < 10; ++night) past.push_back(past_of(run_of_night(night, cases(0))));
  std::vector<std::string> again;
  GateOptions options = with_last_good([&](const std::vector<std::string>& names) {
    again = names;
    return confirming(1.1)(names);
  });
  options.most_candidates = 2;
  const NightReport report = judge(past, cases(0.03), options);
  EXPECT_THAT(again, ElementsAre("Model/size:5", "Model/size:4"));
  EXPECT_EQ(count_of(report, NightVerdict::kRegressed), 2U);
  EXPECT_EQ(count_of(report, NightVerdict::kUnconfirmed), 3U);
  EXPECT_THAT(report.cases.at(1).note, HasSubstr("one of 5 candidates"));
}

TEST(Gate, TooFewBlocksConfirmNothing) {
  const auto broken = [](const std::vector<std::string>& names) {
    std::vector<ConfirmationBlock> all = confirming(1.05)(names);
    for (std::size_t i = 2; i < all.size(); ++i) all[i].base.clear();
    return all;
  };
  const NightCase c =
      judge(quiet_nights(20), {timed_case(kCase, around(kTime * 1.05))}, with_last_good(broken)).cases.at(0);
  EXPECT_EQ(c.verdict, NightVerdict::kInvalid);
  EXPECT_THAT(c.note, HasSubstr("only 2 of 6 blocks"));
}

NullControlSides sides(const std::vector<double>& factors) {
  NullControlSides result;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const CaseId id{"Model", {{"size", std::to_string(i)}}};
    result.a.cases.push_back(timed_case(id, around(kTime)));
    result.b.cases.push_back(timed_case(id, around(kTime * factors[i])));
  }
  return result;
}

TEST(Gate, MoreThanOneRejectionOfTheNullControlStopsEveryFailure) {
  const auto report = [](const std::vector<double>& factors) {
    return judge_night(quiet_nights(20), tonight({timed_case(kCase, around(kTime * 1.05))}), sides(factors),
                       with_last_good(confirming(1.05)));
  };
  EXPECT_EQ(exit_status(report({1, 1, 1, 1}), false), 1);
  EXPECT_EQ(exit_status(report({1, 1.02, 1, 1}), false), 1) << "one in a hundred may";
  const NightReport failed = report({1, 1.02, 1, 0.98});
  EXPECT_EQ(exit_status(failed, false), 5);
  EXPECT_EQ(outcome_of(failed), "NULL_CONTROL_FAILED");
  EXPECT_EQ(failed.null_control->cases, 4);
  EXPECT_THAT(failed.null_control->rejected, ElementsAre(HasSubstr("size:1 (+2.00 %)"), HasSubstr("size:3 (-2.00 %)")));
  EXPECT_FALSE(is_good(failed));
}

std::vector<PastRun> nights_with_ceiling(int count, double wobble) {
  std::vector<PastRun> past;
  for (int night = 0; night < count; ++night) {
    past.push_back(past_of(run_of_night(
        night, {timed_case(kCase, around(kTime)), timed_case(CaseId{"Ceiling", {{"what", "copy"}, {"regime", "burst"}}},
                                                             {0.001 * (1 + wobble * ((night % 3) - 1))})})));
  }
  return past;
}

TEST(Gate, AMachineThatIsNotAsItWasGatesNothing) {
  const auto report = [](double ceiling, double wobble, int nights = 20) {
    return judge(nights_with_ceiling(nights, wobble),
                 {timed_case(kCase, around(kTime * 1.05)),
                  timed_case(CaseId{"Ceiling", {{"what", "copy"}, {"regime", "burst"}}}, {0.001 * ceiling})},
                 with_last_good(confirming(1.05)));
  };
  EXPECT_EQ(outcome_of(report(1.009, 0.001)), "REGRESSED");
  const NightReport off = report(1.011, 0.001);
  EXPECT_EQ(outcome_of(off), "ENVIRONMENT");
  EXPECT_EQ(exit_status(off, false), 0);
  EXPECT_EQ(exit_status(off, true), 4);
  EXPECT_EQ(off.cases.size(), 1U) << "ceilings are not gated";
  EXPECT_EQ(off.cases.at(0).verdict, NightVerdict::kInvalid);
  EXPECT_EQ(outcome_of(report(0.98, 0.001)), "ENVIRONMENT") << "faster is as odd as slower";
  EXPECT_EQ(outcome_of(report(1.03, 0.02)), "REGRESSED") << "it never was that steady";
  EXPECT_EQ(outcome_of(report(1.05, 0.001, 2)), "REGRESSED") << "two nights are no median";
}

TEST(Gate, NightsThatWereNotValidTellNothing) {
  std::vector<PastRun> past = quiet_nights(12);
  for (int night = 12; night < 20; ++night) {
    past.push_back(past_of(run_of_night(night, {timed_case(kCase, around(kTime * 1.2))})));
    past.back().is_valid = false;
  }
  const NightReport report = judge(past, {timed_case(kCase, around(kTime))});
  EXPECT_EQ(report.nights, 12);
  EXPECT_EQ(report.cases.at(0).nights, 12);
  EXPECT_EQ(report.cases.at(0).verdict, NightVerdict::kPassed);
}

TEST(Gate, MissingAndStaleCasesAreNamed) {
  const std::vector<PastRun> past = quiet_nights(10);
  const NightReport next_night = judge_night(past, tonight({timed_case(kCase, around(kTime))}, 10), std::nullopt, {});
  EXPECT_THAT(next_night.missing, ElementsAre(kOther.name()));
  EXPECT_THAT(next_night.stale, IsEmpty());
  const NightReport later = judge_night(past, tonight({timed_case(kCase, around(kTime))}, 12), std::nullopt, {});
  EXPECT_THAT(later.stale, ElementsAre(HasSubstr(kOther.name())));
  const NightReport much_later = judge_night(past, tonight({timed_case(kCase, around(kTime))}, 60), std::nullopt, {});
  EXPECT_THAT(much_later.stale, IsEmpty()) << "was taken away";
}

TEST(Gate, SpreadsComeFromInsideTheNights) {
  const auto spreads = known_spreads(quiet_nights(5), run_of_night(0, {}).epoch);
  // Around the mean: -0.2, -0.1, 0, 0.1, 0.2 %: variance (2 * 0.04 + 2 * 0.01) / 4 = 0.025 %^2
  EXPECT_NEAR(spreads.at(match_key(kCase)), 0.00158, 0.00001);
  EXPECT_TRUE(known_spreads(quiet_nights(2), run_of_night(0, {}).epoch).empty()) << "eight degrees of freedom are few";
  EXPECT_TRUE(known_spreads(quiet_nights(5), "another epoch").empty());
}

}  // namespace
}  // namespace tbench::report
