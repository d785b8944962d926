#include "tbench/history/history.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/child_process.hpp"
#include "support/history_samples.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::history {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A second connection, as another program has one.
class OtherProgram {
 public:
  explicit OtherProgram(const std::string& path) { EXPECT_EQ(sqlite3_open(path.c_str(), &connection_), SQLITE_OK); }
  OtherProgram(const OtherProgram&) = delete;
  OtherProgram& operator=(const OtherProgram&) = delete;
  ~OtherProgram() { sqlite3_close(connection_); }
  void execute(const std::string& sql) {
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << (message ? message : "");
    sqlite3_free(message);
  }

 private:
  sqlite3* connection_{};
};

std::string refusal(const std::string& path, Seconds wait = {0.05}) {
  try {
    History::open(path, wait).add(support::numbered_run(0));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> starts(const History& history) {
  std::vector<std::string> all;
  for (const std::string& fingerprint : history.fingerprints()) {
    for (const StoredRun& run : history.runs(fingerprint)) all.push_back(run.started);
  }
  return all;
}

class HistoryFile : public testing::Test {
 protected:
  support::TemporaryFolder folder_;
  std::string path_ = folder_.file("history.db");
};

TEST_F(HistoryFile, KeepsWhatWasMeasured) {
  MeasuredRun run = support::numbered_run(3);
  results::Replicate full = support::timed_replicate(0.0253, 1.98e9);
  full.relative_half_width = 0.002;
  full.peak_bytes = 3'221'225'472;
  full.requested_peak_bytes = 3'221'000'192;
  full.device_time = Seconds{0.0241};
  full.work = Flop{1.5e12};
  full.peak_share_at_clock = 0.42;
  full.ceiling_share = 0.56;
  full.status = Status::kUnstable;
  full.reason = "half width of 7 %";
  run.cases.push_back(support::compared_case(support::model_id("forward", "sdpa"),
                                             {full, support::failed_replicate(Status::kOom, "3 GiB")}));
  EXPECT_TRUE(History::open(path_).add(run).is_new);

  const History history = History::open(path_);
  ASSERT_THAT(history.fingerprints(), ElementsAre(run.fingerprint));
  std::vector<StoredRun> runs = history.runs(run.fingerprint);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].started, run.started);
  EXPECT_EQ(runs[0].epoch, run.epoch);
  EXPECT_EQ(runs[0].environment, run.environment);
  history.load_cases(runs[0]);
  ASSERT_EQ(runs[0].cases.size(), static_cast<std::size_t>(support::kNumberedCases + 1));
  EXPECT_EQ(runs[0].cases[7].id, run.cases[7].id);
  EXPECT_EQ(runs[0].cases[7].replicates.size(), 3U);
  EXPECT_DOUBLE_EQ(runs[0].cases[7].replicates[2].time->value, 4.007);
  const results::MeasuredCase& last = runs[0].cases.back();
  EXPECT_EQ(last.key, run.cases.back().key);
  ASSERT_EQ(last.replicates.size(), 2U);
  const results::Replicate& kept = last.replicates[0];
  EXPECT_EQ(kept.status, Status::kUnstable);
  EXPECT_EQ(kept.reason, full.reason);
  EXPECT_EQ(kept.time, full.time);
  EXPECT_EQ(kept.relative_half_width, full.relative_half_width);
  EXPECT_EQ(kept.sm_clock, full.sm_clock);
  EXPECT_EQ(kept.peak_bytes, full.peak_bytes);
  EXPECT_EQ(kept.requested_peak_bytes, full.requested_peak_bytes);
  EXPECT_EQ(kept.device_time, full.device_time);
  EXPECT_EQ(kept.work, full.work);
  EXPECT_EQ(kept.peak_share_at_clock, full.peak_share_at_clock);
  EXPECT_EQ(kept.ceiling_share, full.ceiling_share);
  EXPECT_EQ(last.replicates[1].status, Status::kOom);
  EXPECT_FALSE(last.replicates[1].device_time.has_value());
  EXPECT_FALSE(last.replicates[1].requested_peak_bytes.has_value());
  EXPECT_FALSE(last.replicates[1].time || last.replicates[1].peak_bytes || last.replicates[1].work);
}

TEST_F(HistoryFile, ASecondTimeChangesNothing) {
  const std::int64_t id = History::open(path_).add(support::numbered_run(1)).id;
  const std::string before = results::read_whole_file(path_);
  const History::Added again = History::open(path_).add(support::numbered_run(1));
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.id, id);
  EXPECT_EQ(results::read_whole_file(path_), before);
  EXPECT_THAT(folder_.names(), ElementsAre("history.db"));
}

TEST_F(HistoryFile, APartOfARunIsRefused) {
  History history = History::open(path_);
  history.add(support::numbered_run(1));
  MeasuredRun part = support::numbered_run(1);
  part.digest = "other";
  part.files.push_back({.path = "more.json", .digest = "more", .started = part.started});
  try {
    history.add(part);
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'run1.json' is in the history already"), HasSubstr(part.started)));
  }
  EXPECT_THAT(starts(history), ElementsAre(part.started));
}

TEST_F(HistoryFile, RunsComeInOrderOfTimeAndBySeries) {
  History history = History::open(path_);
  for (const int night : {5, 2, 9}) history.add(support::numbered_run(night));
  MeasuredRun other = support::numbered_run(3);
  other.fingerprint = "another machine";
  history.add(other);
  const std::string fingerprint = support::numbered_run(5).fingerprint;
  std::vector<std::string> nights;
  for (const StoredRun& run : history.runs(fingerprint)) nights.push_back(run.environment.commit);
  EXPECT_THAT(nights, ElementsAre("commit2", "commit5", "commit9"));
  EXPECT_EQ(history.runs(fingerprint, support::numbered_run(9).started).size(), 2U);
  EXPECT_THAT(history.fingerprints(), ElementsAre(fingerprint, "another machine"));
}

TEST_F(HistoryFile, SeveralRunsAreAddedTogetherOrNotAtAll) {
  MeasuredRun clash = support::numbered_run(2);
  clash.digest = "other";
  {
    History history = History::open(path_);
    history.add(support::numbered_run(2));
    EXPECT_THROW(history.add(std::vector{support::numbered_run(1), clash}), UsageError);
  }
  EXPECT_EQ(starts(History::open(path_)).size(), 1U);
  EXPECT_EQ(History::open(path_).add(std::vector{support::numbered_run(1), support::numbered_run(2)})[1].is_new, false);
  EXPECT_EQ(starts(History::open(path_)).size(), 2U);
}

TEST_F(HistoryFile, ACopyLeavesTheFileAlone) {
  History::open(path_).add(support::numbered_run(1));
  const std::string before = results::read_whole_file(path_);
  History copy = History::open_copy(path_);
  copy.add(support::numbered_run(2));
  EXPECT_EQ(starts(copy).size(), 2U);
  EXPECT_EQ(results::read_whole_file(path_), before);
  EXPECT_THROW(static_cast<void>(History::open_copy(folder_.file("none.db"))), UsageError);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("none.db")));
}

TEST_F(HistoryFile, WritersThatMakeItAtOnceWaitForEachOther) {
  constexpr std::size_t kWriters = 8, kEach = 8;
  std::vector<std::thread> writers;
  for (std::size_t writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      const support::ChildResult result =
          support::run_child({TBENCH_HISTORY_WRITER, path_, std::to_string(writer * kEach), std::to_string(kEach)});
      EXPECT_EQ(result.exit_status, 0) << result.err;
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(starts(History::open(path_)).size(), kWriters * kEach);
}

TEST_F(HistoryFile, ALockedOneIsRefusedAfterAWhile) {
  History::open(path_).add(support::numbered_run(5));
  OtherProgram other{path_};
  other.execute("BEGIN IMMEDIATE");
  EXPECT_THAT(refusal(path_), AllOf(HasSubstr(path_), HasSubstr("another program is writing"), HasSubstr("--wait")));
  EXPECT_EQ(starts(History::open_copy(path_)).size(), 1U) << "readers are not disturbed";
  other.execute("ROLLBACK");
  EXPECT_EQ(refusal(path_), "no error");
}

TEST_F(HistoryFile, ANewerOneIsRefusedAndLeftAlone) {
  static_cast<void>(History::open(path_));
  OtherProgram{path_}.execute("PRAGMA user_version = 99");
  const std::string before = results::read_whole_file(path_);
  EXPECT_THAT(refusal(path_), AllOf(HasSubstr("version 99"), HasSubstr("newer tbench")));
  EXPECT_EQ(results::read_whole_file(path_), before);
  EXPECT_THROW(static_cast<void>(History::open_copy(path_)), UsageError);
}

TEST_F(HistoryFile, AnotherDatabaseIsRefusedAndLeftAlone) {
  OtherProgram{path_}.execute("CREATE TABLE theirs (a)");
  const std::string before = results::read_whole_file(path_);
  EXPECT_THAT(refusal(path_), HasSubstr("not a history of tbench"));
  EXPECT_EQ(results::read_whole_file(path_), before);
}

TEST_F(HistoryFile, WhatIsNoDatabaseIsRefusedAndLeftAlone) {
  support::write_text(path_, "{\"context\": {}}, which is longer than a hundred bytes " + std::string(200, '.'));
  const std::string before = results::read_whole_file(path_);
  EXPECT_THAT(refusal(path_), HasSubstr("not a SQLite database"));
  EXPECT_EQ(results::read_whole_file(path_), before);
  EXPECT_THAT(refusal(folder_.path()), HasSubstr("a folder"));
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("a device or a pipe; give a file"));
  EXPECT_THAT(refusal(""), HasSubstr("no file name"));
  EXPECT_THAT(refusal(folder_.file("no/such/folder.db")),
              HasSubstr("cannot be opened (No such file or directory); give a file in a folder that exists"));
}

TEST_F(HistoryFile, ADamagedOneIsRefusedAndLeftAlone) {
  {
    History history = History::open(path_);
    for (int night = 0; night < 10; ++night) history.add(support::numbered_run(night));
  }
  std::string text = results::read_whole_file(path_);
  std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(text.size() / 2), 8192, '\x5a');
  support::write_text(path_, text);
  EXPECT_THAT(refusal(path_), AllOf(HasSubstr("damaged"), HasSubstr("--import")));
  EXPECT_EQ(results::read_whole_file(path_), text);
  support::write_text(path_, text.substr(0, text.size() / 3));
  EXPECT_THAT(refusal(path_), HasSubstr("damaged"));
}

/// Drops the rights of root while it lives, because permissions of files do not restrict root.
class AsNobody {
 public:
  AsNobody() {
    if (is_root_) set_user(65534);
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (is_root_) set_user(0);
  }

 private:
  static void set_user(uid_t user) { EXPECT_EQ(::seteuid(user), 0); }
  bool is_root_ = ::geteuid() == 0;
};

TEST_F(HistoryFile, AReadOnlyOneIsReadAndNotWritten) {
  History::open(path_).add(support::numbered_run(5));
  ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  {
    const AsNobody nobody;
    EXPECT_THAT(refusal(path_), AllOf(HasSubstr(path_), HasSubstr("read-only"), HasSubstr("--dry-run")));
    EXPECT_EQ(starts(History::open_copy(path_)).size(), 1U);
    EXPECT_THAT(refusal(folder_.file("new.db")), HasSubstr("cannot be opened (Permission denied)"));
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_THAT(folder_.names(), ElementsAre("history.db"));
}

TEST_F(HistoryFile, AFullDiskChangesNothing) {
  History::open(path_).add(support::numbered_run(0));
  // No file may grow beyond 64 KiB, so the write fails as on a full disk.
  const support::ChildResult result = support::run_child(
      {"/bin/sh", "-c",
       std::string{"trap '' XFSZ; ulimit -f 64; exec "} + TBENCH_HISTORY_WRITER + " " + path_ + " 1 100"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("history '" + path_ + "'"), HasSubstr("full"), HasSubstr("make room")));
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1);
  const auto added = static_cast<std::size_t>(std::ranges::count(result.out, '\n'));
  EXPECT_LT(added, 100U);
  EXPECT_EQ(starts(History::open(path_)).size(), added + 1);
}

/// Expects that every reported run is in the history, and that every run in it is complete.
void expect_whole(const std::string& path, const std::string& printed) {
  const History history = History::open(path);
  std::vector<std::string> there;
  for (StoredRun& run : history.runs(support::numbered_run(0).fingerprint)) {
    history.load_cases(run);
    ASSERT_EQ(run.cases.size(), static_cast<std::size_t>(support::kNumberedCases)) << run.started;
    for (const results::MeasuredCase& c : run.cases) ASSERT_EQ(c.replicates.size(), 3U);
    there.push_back(run.environment.commit);
  }
  std::vector<std::string> finished = split(printed, '\n');
  finished.pop_back();
  for (const std::string& night : finished) EXPECT_THAT(there, testing::Contains("commit" + night));
}

TEST_F(HistoryFile, SurvivesFiftyKills) {
  constexpr int kNights = 12;
  constexpr int kKilled = 128 + 9;
  std::mt19937 random{20260101};
  std::uniform_int_distribution<std::size_t> lines{0, kNights / 2};
  std::uniform_int_distribution<int> delay_us{0, 3000};
  int kills = 0;
  for (int round = 0; kills < 50 && round < 80; ++round) {
    const std::string path = folder_.file("kill" + std::to_string(round % 5) + ".db");  // several kills per database
    const std::string first = std::to_string(round * kNights);
    const support::ChildResult killed =
        support::run_child({TBENCH_HISTORY_WRITER, path, first, std::to_string(kNights)},
                           support::KillMoment{lines(random), std::chrono::microseconds{delay_us(random)}});
    kills += killed.exit_status == kKilled ? 1 : 0;
    expect_whole(path, killed.out);
  }
  EXPECT_GE(kills, 50);
}

}  // namespace
}  // namespace tbench::history
