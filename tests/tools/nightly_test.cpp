// Tests ci/nightly.sh over several nights, with a transformer_bench that measures nothing (fake_bench).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class Nightly : public testing::Test {
 protected:
  Nightly() {
    std::filesystem::create_directory(folder_.file("bin"));
    write_program("bin/date", "exec /bin/date -d \"@$FAKE_NOW\" \"$@\"");
  }

  /// Runs the next night. Nights are a day apart, whatever the clock says, because runs are named by the second, and
  /// the heartbeat uses another case each week.
  support::ChildResult night(std::map<std::string, std::string> variables = {}) {
    const std::int64_t now = 1'767'322'800 + number_ * 86'400;
    variables.try_emplace("FAKE_DATE", format_timestamp(now));
    variables.try_emplace("FAKE_NOW", std::to_string(now));
    variables.try_emplace("PATH", folder_.file("bin") + ":" + std::getenv("PATH"));
    variables.try_emplace("FAKE_COMMIT", "night" + std::to_string(number_));
    variables.try_emplace("FAKE_SEED", std::to_string(number_++));
    variables.try_emplace("TBENCH_NIGHT_BENCH", TBENCH_FAKE_BENCH);
    variables.try_emplace("TBENCH_NIGHT_TOOL", TBENCH_TOOL);
    variables.try_emplace("GITHUB_STEP_SUMMARY", folder_.file("summary.md"));
    variables.try_emplace("GITHUB_OUTPUT", folder_.file("output"));
    std::vector<std::string> command{"/usr/bin/env"};
    for (const auto& [name, value] : variables) command.push_back(name + "=" + value);
    command.insert(command.end(), {TBENCH_SOURCE_DIR "/ci/nightly.sh", dir_});
    return support::run_child(command);
  }

  [[nodiscard]] std::string last_run() const {
    std::string last;
    if (!std::filesystem::exists(dir_ + "/runs")) return last;
    for (const auto& entry : std::filesystem::directory_iterator{dir_ + "/runs"})
      last = std::max(last, entry.path().string());
    return last;
  }

  /// Writes a shell script and returns its path.
  std::string write_program(const std::string& name, const std::string& commands) const {
    const std::string path = folder_.file(name);
    support::write_text(path, "#!/bin/sh\n" + commands + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  support::TemporaryFolder folder_;
  std::string dir_ = folder_.file("tbench dir");  // a name with a space
  int number_ = 0;
};

TEST_F(Nightly, AWeekAndAHalf) {
  for (int i = 0; i < 9; ++i) {
    const support::ChildResult result = night();
    ASSERT_EQ(result.exit_status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("PASSED: 8 "));
    // The comparison needs three earlier nights. The fourth night finds the injected slowdown, which is enough for a
    // week.
    EXPECT_EQ(std::filesystem::exists(last_run() + "/heartbeat"), i < 4) << i;
    if (i == 3) {
      EXPECT_THAT(result.out, HasSubstr("heartbeat: found: Model/"));
    }
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{dir_ + "/backups"}, {}), 7);
  EXPECT_TRUE(std::filesystem::exists(dir_ + "/good/bin/transformer_bench"));
  EXPECT_TRUE(std::filesystem::exists(dir_ + "/pinned/bin/transformer_bench"));
  const auto kept = std::filesystem::last_write_time(dir_ + "/good");

  // The fake build reads its speed from the environment, so the kept build is equally slow, and nothing is confirmed.
  const support::ChildResult spike = night({{"FAKE_SLOW", "2\\.7B/.*forward"}});
  EXPECT_EQ(spike.exit_status, 0) << spike.err;
  EXPECT_THAT(spike.out, ContainsRegex("\nRETRIED .*\n  case: Model/size:2.7B"));

  // The next nights run another build than the kept one.
  const std::string slow =
      write_program("slow_bench", "FAKE_SLOW='2\\.7B/.*forward' exec " TBENCH_FAKE_BENCH " \"$@\"");
  const std::map<std::string, std::string> regressed{
      {"TBENCH_NIGHT_BENCH", slow},
      {"TBENCH_NIGHT_HOOK", "cat >'" + folder_.file("hook.json") + "'"},
      {"TBENCH_NIGHT_PUBLISH", "echo >'" + folder_.file("published") + "'"}};
  const support::ChildResult result = night(regressed);
  EXPECT_EQ(result.exit_status, 1) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("\nREGRESSED .*\n  case: Model/size:2.7B"));
  EXPECT_EQ(results::Json::parse(results::read_whole_file(folder_.file("hook.json"))).at("outcome"), "FAILED");
  EXPECT_THAT(results::read_whole_file(folder_.file("published")), HasSubstr(dir_ + "/runs/"));
  EXPECT_THAT(results::read_whole_file(folder_.file("summary.md")), HasSubstr("**FAILED: 1 REGRESSED"));
  EXPECT_THAT(results::read_whole_file(folder_.file("output")), HasSubstr("run=" + last_run()));
  for (const char* name : {"run.json", "report.txt", "report.md", "report.json", "report.xml", "history.html",
                           "null/a2.json", "confirm/good_6_new_2.json"}) {
    EXPECT_TRUE(std::filesystem::exists(last_run() + "/" + name)) << name;
  }
  EXPECT_NE(results::read_whole_file(dir_ + "/good/bin/transformer_bench"), results::read_whole_file(slow))
      << "a bad build is not kept";
  EXPECT_GE(std::filesystem::last_write_time(dir_ + "/good"), kept);

  auto accepted = regressed;
  accepted["TBENCH_NIGHT_ACCEPT"] = "2\\.7B";
  EXPECT_EQ(night(accepted).exit_status, 0);
  EXPECT_EQ(results::read_whole_file(dir_ + "/good/bin/transformer_bench"), results::read_whole_file(slow));
  EXPECT_EQ(results::read_whole_file(dir_ + "/pinned/bin/transformer_bench"), results::read_whole_file(slow));

  // The history can be rebuilt from the folder: ten quiet nights, the bad night and the accepted one.
  const support::ChildResult again =
      support::run_child({TBENCH_TOOL, "history", "--db", folder_.file("again.db"), "--import", dir_ + "/runs"});
  EXPECT_EQ(again.exit_status, 0);
  EXPECT_THAT(again.out, HasSubstr("12 runs added"));
  EXPECT_THAT(again.err, HasSubstr("left out 12 .json files that hold no results,\n  such as '"));
}

TEST_F(Nightly, WhatCannotBeDoneEndsWithTwo) {
  EXPECT_EQ(support::run_child({TBENCH_SOURCE_DIR "/ci/nightly.sh"}).exit_status, 2);
  EXPECT_EQ(night({{"TBENCH_NIGHT_BENCH", "/no/such/program"}}).exit_status, 2);
  const support::ChildResult twice = night({{"TBENCH_NIGHT_ARGUMENTS", "--tb_suite=smoke --benchmark_filter=x"}});
  EXPECT_EQ(twice.exit_status, 2);
  EXPECT_THAT(twice.err, HasSubstr("TBENCH_NIGHT_FILTER"));
  EXPECT_EQ(night({{"TBENCH_NIGHT_FILTER", "no such case"}}).exit_status, 2);
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/history.db"));
}

TEST_F(Nightly, AGateThatDoesNotFindWhatIsPlantedFails) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(night({{"FAKE_DEAF", "1"}}).exit_status, 0) << "nothing can be said of the first nights";
  }
  const support::ChildResult deaf = night({{"FAKE_DEAF", "1"}});
  EXPECT_EQ(deaf.exit_status, 2);
  EXPECT_THAT(deaf.err, HasSubstr("heartbeat: NOT FOUND, the gate is blind"));
  EXPECT_EQ(night().exit_status, 0);
}

TEST_F(Nightly, ARunThatIsNotWholeFailsAndIsNotKept) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(night().exit_status, 0);
  const auto kept = std::filesystem::last_write_time(dir_ + "/good");
  const support::ChildResult result = night({{"FAKE_FAIL", "Ceiling"}});
  EXPECT_EQ(result.exit_status, 7) << result.err;
  EXPECT_THAT(result.out, HasSubstr("FAILED: 8 NOT_JUDGED; INCOMPLETE: the machine was not checked"));
  EXPECT_EQ(std::filesystem::last_write_time(dir_ + "/good"), kept);
  EXPECT_EQ(night().exit_status, 0);
}

TEST_F(Nightly, AMachineInTroubleForAWeekFails) {
  for (int i = 0; i < 4; ++i) ASSERT_EQ(night().exit_status, 0);
  for (int i = 1; i <= 7; ++i) {
    const support::ChildResult result = night({{"FAKE_CEILING", std::to_string(1 + 0.2 * i)}});
    EXPECT_THAT(result.out, HasSubstr("ENVIRONMENT")) << i;
    EXPECT_EQ(result.exit_status, i < 7 ? 0 : 2) << i << result.err;
    if (i >= 4) {
      EXPECT_THAT(result.err, HasSubstr("nothing could be gated in " + std::to_string(i) + " nights"));
    }
  }
}

TEST_F(Nightly, OneAtATime) {
  static_cast<void>(night());
  const support::ChildResult result =
      support::run_child({"/usr/bin/flock", dir_ + "/lock", TBENCH_SOURCE_DIR "/ci/nightly.sh", dir_});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("another night is at work"));
}

TEST_F(Nightly, AFailedNullControlWarnsAndDoesNotFail) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(night().exit_status, 0);
  // Label b of the A/A control is slower, so the machine cannot be trusted.
  const std::string shaky = write_program(
      "shaky_bench", "case \"$*\" in */null/b*) export FAKE_SLOW=Model ;; esac\nexec " TBENCH_FAKE_BENCH " \"$@\"");
  const support::ChildResult result = night({{"TBENCH_NIGHT_BENCH", shaky}, {"GITHUB_ACTIONS", "true"}});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("NULL_CONTROL_FAILED"), HasSubstr("::warning::")));
  EXPECT_NE(results::read_whole_file(dir_ + "/good/bin/transformer_bench"), results::read_whole_file(shaky));
}

}  // namespace
}  // namespace tbench::tool
