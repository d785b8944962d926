// Tests expected cases, known samples, clocks, and the table of labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "support/history_samples.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/history/history.hpp"

namespace tbench::history {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const CaseId kFirst = support::model_id("forward", "sdpa");
const CaseId kSecond = support::model_id("train_step", "sdpa");
const CaseId kThird = support::model_id("train_step", "flash");

MeasuredRun run_with(int night, const std::vector<CaseId>& ids) {
  std::vector<results::MeasuredCase> cases;
  for (const CaseId& id : ids) {
    cases.push_back(support::timed_case(id, {0.01 + 0.001 * night}));
    cases.back().replicates.front().samples_digest = std::hash<std::string>{}(id.name() + std::to_string(night));
  }
  return support::run_of_night(night, std::move(cases));
}

/// Adds a run and records that its cases belong to the baseline.
std::int64_t add_judged(History& history, const MeasuredRun& run) {
  const std::int64_t id = history.add_to_judge(run).id;
  GateVerdict judgement{.epoch = run.epoch, .regressed = {}, .text = "{}"};
  for (const results::MeasuredCase& c : run.cases) judgement.baseline.insert(c.key);
  history.record(id, judgement, {});
  return id;
}

std::vector<std::string> names(const std::vector<ExpectedCase>& cases) {
  std::vector<std::string> all;
  for (const ExpectedCase& c : cases) all.push_back(c.name);
  return all;
}

TEST(ExpectedCases, AreThoseOfEveryBaselineUntilTheyAreRetired) {
  History history = History::in_memory();
  add_judged(history, run_with(0, {kFirst, kSecond}));
  add_judged(history, run_with(1, {kFirst}));
  const MeasuredRun tonight = run_with(2, {kFirst});
  EXPECT_THAT(names(history.expected(tonight, 0)), ElementsAre(kFirst.name(), kSecond.name()));
  EXPECT_EQ(history.expected(tonight, 0).front().since, run_with(0, {}).started);
  history.retire(tonight, {results::match_key(kSecond)});
  EXPECT_THAT(names(history.expected(tonight, 0)), ElementsAre(kFirst.name()));
  add_judged(history, run_with(3, {kSecond}));
  EXPECT_THAT(names(history.expected(run_with(4, {}), 0)), ElementsAre(kFirst.name(), kSecond.name())) << "it is back";
}

TEST(ExpectedCases, AreThoseOfTheLastImportedRunTooButNoCeilings) {
  History history = History::in_memory();
  history.add(run_with(0, {kFirst, kSecond}));
  history.add(run_with(1, {kFirst, CaseId{"Ceiling", {{"what", "copy"}}}}));
  const std::vector<ExpectedCase> expected = history.expected(run_with(2, {}), 0);
  EXPECT_THAT(names(expected), ElementsAre(kFirst.name()));
  EXPECT_EQ(expected.front().since, run_with(0, {}).started);
  history.retire(run_with(2, {}), {results::match_key(kFirst)});
  EXPECT_THAT(history.expected(run_with(2, {}), 0), IsEmpty());
}

TEST(ExpectedCases, OfAnotherModelAreNotExpectedHere) {
  History history = History::in_memory();
  add_judged(history, run_with(0, {kFirst}));
  MeasuredRun other = run_with(1, {});
  other.environment.gpu->name = "Another GPU";
  other.fingerprint = fingerprint_of(other.environment);
  EXPECT_THAT(history.expected(other, 0), IsEmpty());
}

TEST(RenamedCase, ContinuesItsSeries) {
  History history = History::in_memory();
  add_judged(history, run_with(0, {kFirst, kSecond}));
  const MeasuredRun tonight = run_with(1, {kFirst, kThird});
  history.rename(kSecond, kThird);
  EXPECT_THAT(names(history.expected(tonight, 0)), testing::UnorderedElementsAre(kFirst.name(), kThird.name()));
  EXPECT_EQ(history.past(tonight.fingerprint, tonight.epoch, {}, 10).front().run.cases.at(1).id, kThird);
}

TEST(RenamedCase, MayHaveItsNewNameInARunAlready) {
  History history = History::in_memory();
  add_judged(history, run_with(0, {kFirst, kSecond}));
  add_judged(history, run_with(1, {kFirst, kThird}));
  history.rename(kSecond, kThird);
  const auto past = history.past(run_with(0, {}).fingerprint, run_with(0, {}).epoch, {}, 10);
  ASSERT_EQ(past.size(), 2U);
  for (const PastRun& run : past) EXPECT_EQ(run.run.cases.at(1).id, kThird);
}

std::string refusal_of_rename(History& history, const CaseId& from, const CaseId& to) {
  try {
    history.rename(from, to);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(RenamedCase, IsRefusedWhereNobodyKnowsItOrBothWereThere) {
  History history = History::in_memory();
  add_judged(history, run_with(0, {kFirst, kSecond}));
  EXPECT_THAT(refusal_of_rename(history, kThird, kFirst), HasSubstr("no run has '" + kThird.name() + "'"));
  EXPECT_THAT(refusal_of_rename(history, kFirst, kSecond), HasSubstr("are both in the run of 2026-01-02"));
}

TEST(KnownSamples, AreThoseOfJudgedRuns) {
  History history = History::in_memory();
  const std::int64_t id = add_judged(history, run_with(0, {kFirst}));
  history.add_to_judge(run_with(1, {kSecond}));
  const MeasuredRun again = run_with(0, {kFirst});
  EXPECT_THAT(history.runs_with_samples(again.cases, 0),
              ElementsAre(testing::Pair(again.cases.front().replicates.front().samples_digest.value(), again.started)));
  EXPECT_THAT(history.runs_with_samples(again.cases, id), IsEmpty()) << "its own";
  EXPECT_THAT(history.runs_with_samples(run_with(1, {kSecond}).cases, 0), IsEmpty()) << "of a run that nobody judged";
}

TEST(LaterRuns, AreThoseThatCountAndCameBefore) {
  History history = History::in_memory();
  for (int night = 5; night < 8; ++night) add_judged(history, run_with(night, {kFirst}));
  const MeasuredRun early = run_with(6, {});
  EXPECT_EQ(history.later_runs(early.fingerprint, early.started, 100), 1);
  EXPECT_EQ(history.later_runs(early.fingerprint, run_with(0, {}).started, 100), 3);
  EXPECT_EQ(history.later_runs(early.fingerprint, run_with(0, {}).started, 2), 1) << "before the second run";
}

TEST(BackUp, HasWhatTheWriteAheadLogHolds) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("history.db");
  const History open = [&] {
    History history = History::open(path);
    history.add(run_with(0, {kFirst}));
    return history;
  }();
  ASSERT_TRUE(std::filesystem::exists(path + "-wal"));
  History::back_up(path, folder.file("copy.db"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("copy.db-wal")));
  EXPECT_EQ(History::open_copy(folder.file("copy.db")).runs(run_with(0, {}).fingerprint).size(), 1U);
}

TEST(BackUp, ReplacesNothingAndNamesWhatIsWrong) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("history.db");
  static_cast<void>(History::open(path));
  EXPECT_THROW(History::back_up(path, path), UsageError);
  EXPECT_THROW(History::back_up(folder.file("none.db"), folder.file("copy.db")), UsageError);
  EXPECT_THROW(History::back_up(path, folder.file("none/copy.db")), UsageError);
  EXPECT_FALSE(std::filesystem::exists(folder.file("copy.db")));
}

}  // namespace
}  // namespace tbench::history
