// Tests that databases of every older version are upgraded to the newest one and keep their contents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/history_samples.hpp"
#include "tbench/core/error.hpp"
#include "tbench/gate/gate.hpp"
#include "tbench/history/history.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::history {
namespace {

/// Executes SQL directly, like another program that writes to the database.
void execute(const std::string& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_free(message);
  sqlite3_close(connection);
}

std::int64_t number_in(const std::string& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sql;
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  const std::int64_t number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(connection);
  return number;
}

/// Makes a database from the text that `sqlite3 history.db .dump` printed for a database of that version.
void make_from_dump(const std::string& path, const std::string& dump) { execute(path, results::read_whole_file(dump)); }

/// The parameter is the path of a dump.
class OlderHistory : public testing::TestWithParam<std::string> {};
class OutdatedHistory : public OlderHistory {};

TEST_P(OlderHistory, IsBroughtUpToDateAndKeepsItsRuns) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("history.db");
  make_from_dump(path, GetParam());
  for (int time = 0; time < 2; ++time) {
    History history = History::open(path);
    const MeasuredRun known = support::run_of_night(0, {});
    std::vector<StoredRun> runs = history.runs(known.fingerprint);
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[1].environment, support::run_of_night(1, {}).environment);
    history.load_cases(runs[0]);
    ASSERT_EQ(runs[0].cases.size(), 2U);
    EXPECT_EQ(runs[0].cases[0].id, support::model_id("forward", "sdpa"));
    EXPECT_DOUBLE_EQ(runs[0].cases[0].replicates.at(1).time->value, 0.0102);
    EXPECT_EQ(runs[0].cases[1].replicates.at(0).status, Status::kOom);
    EXPECT_EQ(runs[0].cases[0].replicates.at(1).device_time,
              GetParam() >= std::string{TBENCH_TEST_DATA "/history/version5.sql"} ? std::optional{Seconds{0.00918}}
                                                                                  : std::nullopt);
    EXPECT_FALSE(history.add(known).is_new);
    const auto past = history.past(known.fingerprint, known.epoch, {}, 10);
    ASSERT_EQ(past.size(), 2U);
    EXPECT_TRUE(past[0].is_valid);
    const std::set<std::string> noted = GetParam().ends_with("version1.sql")
                                            ? std::set<std::string>{}
                                            : std::set{results::match_key(support::model_id("forward", "sdpa"))};
    EXPECT_EQ(past[1].regressed, noted) << "nothing was judged before version 2";
    EXPECT_EQ(past[1].baseline_of, noted);
    EXPECT_EQ(gate::recorded_judgement(history, past[1].run.id).has_value(), !noted.empty());
  }
}

TEST_P(OutdatedHistory, IsBackedUpBeforeItIsChanged) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("history.db");
  make_from_dump(path, GetParam());
  const std::int64_t version = number_in(path, "PRAGMA user_version");
  static_cast<void>(History::open(path));
  EXPECT_GT(number_in(path, "PRAGMA user_version"), version);
  const std::string copy = path + ".version" + std::to_string(version);
  ASSERT_TRUE(std::filesystem::exists(copy));
  EXPECT_EQ(number_in(copy, "PRAGMA user_version"), version);
  EXPECT_EQ(number_in(copy, "SELECT count(*) FROM measurement"), 12);
  EXPECT_EQ(number_in(path, "SELECT count(*) FROM measurement"), 12);
  EXPECT_EQ(number_in(path, "SELECT count(device_time_s) + count(requested_peak_bytes) FROM measurement"),
            version < 5 ? 0 : 12)
      << "nobody measured them before version 5";
  EXPECT_EQ(number_in(path, "SELECT count(*) FROM sample_digest"), 0);
}

TEST_P(OutdatedHistory, IsLeftAsItWasWhereItsMigrationFails) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("history.db");
  make_from_dump(path, GetParam());
  // The last step of the upgrade adds a table with this name, after all other steps.
  execute(path, "PRAGMA journal_mode = WAL; CREATE TABLE sample_digest (digest TEXT)");
  const std::string before = results::read_whole_file(path);
  EXPECT_THROW(static_cast<void>(History::open(path)), UsageError);
  EXPECT_EQ(results::read_whole_file(path), before);
}

TEST(HistoryVersions, AnOlderOneIsBackedUpAndItsSeriesAreNamedAnew) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("history.db");
  make_from_dump(path, TBENCH_TEST_DATA "/history/version2.sql");
  const std::string known = support::run_of_night(0, {}).fingerprint;
  EXPECT_THAT(History::open(path).fingerprints(), testing::ElementsAre(known));
  ASSERT_TRUE(std::filesystem::exists(path + ".version2"));
  EXPECT_EQ(History::open(path + ".version2").fingerprints(), std::vector{known}) << "it is a history itself";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder.file("")}, {}), 3)
      << "the history, its backup, and the backup's own";
}

TEST(HistoryVersions, AMigrationThatFailsLeavesTheFileAsItWas) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("history.db");
  make_from_dump(path, TBENCH_TEST_DATA "/history/version2.sql");
  execute(path, "UPDATE run SET environment = 'no JSON' WHERE id = 2");
  EXPECT_THROW(static_cast<void>(History::open(path)), UsageError);
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(connection, "SELECT ceiling_share FROM measurement", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_NE(sqlite3_exec(connection, "SELECT mfu FROM measurement", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(connection);
}

/// A history of the newest version that the test then changes.
class ChangedHistory : public testing::Test {
 protected:
  ChangedHistory() { static_cast<void>(History::open(path_)); }

  /// Returns the message of the refusal to read, which must equal the refusal to write.
  std::string refusal() const {
    std::string to_read = message_of([&] { static_cast<void>(History::open_copy(path_)); });
    EXPECT_EQ(message_of([&] { static_cast<void>(History::open(path_)); }), to_read);
    return to_read;
  }

  support::TemporaryFolder folder_;
  std::string path_{folder_.file("history.db")};

 private:
  template <class Work>
  static std::string message_of(const Work& work) {
    try {
      work();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(ChangedHistory, AViewForATableIsRefused) {
  execute(path_,
          "DROP TABLE pin; CREATE VIEW pin AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
          "SELECT i AS run, i AS bench_case FROM n");
  EXPECT_EQ(refusal(), "history '" + path_ +
                           "': it has the view 'pin', which no history has; restore a backup, or make a new history "
                           "from the results: 'tbench history --import=FOLDER'");
}

TEST_F(ChangedHistory, ATriggerIsRefused) {
  execute(path_, "CREATE TRIGGER quiet BEFORE INSERT ON finding BEGIN SELECT raise(IGNORE); END");
  EXPECT_THAT(refusal(), testing::HasSubstr("it has the trigger 'quiet', which no history has"));
}

TEST_F(ChangedHistory, AGeneratedColumnIsRefused) {
  execute(path_, "ALTER TABLE run ADD COLUMN name TEXT AS (hex(started))");
  EXPECT_THAT(refusal(), testing::HasSubstr("it has the generated column 'name' of 'run', which no history has"));
}

TEST(HistoryVersions, AShareOfTheDatasheetsRateIsNoLongerCalledAShareOfTheCeiling) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("history.db");
  make_from_dump(path, TBENCH_TEST_DATA "/history/version2.sql");
  execute(path, "UPDATE measurement SET ceiling_share = 0.42 WHERE status = 'ok'");
  const History history = History::open(path);
  StoredRun run = history.runs(support::run_of_night(0, {}).fingerprint).front();
  history.load_cases(run);
  const results::Replicate& kept = run.cases.at(0).replicates.at(1);
  EXPECT_EQ(kept.peak_share_at_clock, 0.42);
  EXPECT_FALSE(kept.ceiling_share.has_value());
  EXPECT_FALSE(run.cases.at(1).replicates.at(0).peak_share_at_clock.has_value()) << "it did not fit";
}

std::vector<std::string> dumps() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator{TBENCH_TEST_DATA "/history"}) {
    paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

std::string version_of(const testing::TestParamInfo<std::string>& dump) {
  return std::filesystem::path{dump.param}.stem().string();
}

/// Returns all dumps except the newest.
std::vector<std::string> outdated_dumps() {
  std::vector<std::string> paths = dumps();
  paths.pop_back();
  return paths;
}

INSTANTIATE_TEST_SUITE_P(Versions, OlderHistory, testing::ValuesIn(dumps()), version_of);
INSTANTIATE_TEST_SUITE_P(Versions, OutdatedHistory, testing::ValuesIn(outdated_dumps()), version_of);

TEST(HistoryVersions, ThereIsOneOfEveryVersion) {
  const support::TemporaryFolder folder;
  static_cast<void>(History::open(folder.file("new.db")));
  EXPECT_EQ(dumps().size(), static_cast<std::size_t>(number_in(folder.file("new.db"), "PRAGMA user_version")));
}

}  // namespace
}  // namespace tbench::history
