// Tests that a run that is killed at any moment loses no finished record, and that resuming completes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/long_tests.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::results {
namespace {

using std::chrono::microseconds;
using testing::ElementsAre;

constexpr std::int64_t kRecords = 80;
constexpr int kKilled = 128 + 9;

std::vector<std::string> command(const std::string& path, const char* how) {
  return {TBENCH_SERIES_WRITER, path, std::to_string(kRecords), how};
}

/// Expects every record to be as it was written, and every printed name to be among the records.
void expect_nothing_lost(const std::string& path, const std::string& printed) {
  std::vector<std::string> finished = split(printed, '\n');
  finished.pop_back();
  const std::optional<ResultFile> kept = load_for_resume(path);
  if (!kept) {
    EXPECT_TRUE(finished.empty());
    return;
  }
  EXPECT_NO_THROW(static_cast<void>(read_result_file(path)));
  for (std::size_t i = 0; i < kept->records.size(); ++i) {
    EXPECT_EQ(kept->records[i], support::numbered_record(static_cast<std::int64_t>(i)));
  }
  EXPECT_GE(kept->records.size(), finished.size());
  for (const std::string& name : finished) {
    EXPECT_TRUE(std::ranges::any_of(kept->records, [&](const Record& r) { return r.id.name() == name; })) << name;
  }
}

void expect_complete(const support::TemporaryFolder& folder, const std::string& path) {
  EXPECT_THAT(folder.names(), ElementsAre("results.json"));
  const ResultFile file = read_result_file(path);
  ASSERT_EQ(file.records.size(), static_cast<std::size_t>(kRecords));
  for (std::int64_t i = 0; i < kRecords; ++i)
    EXPECT_EQ(file.records[static_cast<std::size_t>(i)], support::numbered_record(i));
}

class RandomMoments {
 public:
  /// After two such moments, half of the records remain, so the run is not yet finished.
  support::KillMoment next() {
    return {.lines = static_cast<std::size_t>(lines_(random_)), .delay = microseconds{delay_us_(random_)}};
  }

 private:
  std::mt19937 random_{20260101};
  std::uniform_int_distribution<std::int64_t> lines_{0, kRecords / 4};
  std::uniform_int_distribution<std::int64_t> delay_us_{0, 3000};
};

TEST(KilledRun, LosesNothingAndIsCompletedByResume) {
  const int runs = support::are_tests_long() ? 50 : 8;  // each is killed up to twice
  RandomMoments moments;
  int kills = 0;
  for (int i = 0; i < runs; ++i) {
    const support::TemporaryFolder folder;
    const std::string path = folder.file("results.json");
    support::ChildResult killed = support::run_child(command(path, "fresh"), moments.next());
    kills += killed.exit_status == kKilled ? 1 : 0;
    expect_nothing_lost(path, killed.out);
    // A resumed run may also be killed.
    killed = support::run_child(command(path, "resume"), moments.next());
    kills += killed.exit_status == kKilled ? 1 : 0;
    expect_nothing_lost(path, killed.out);

    const support::ChildResult completed = support::run_child(command(path, "resume"));
    EXPECT_EQ(completed.exit_status, 0) << completed.err;
    expect_complete(folder, path);
  }
  EXPECT_GE(kills, runs) << "too few runs were killed while they worked";
}

}  // namespace
}  // namespace tbench::results
