// Tests that tbench names the command for a file that was given to another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "profile/nsys_samples.hpp"
#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

using testing::HasSubstr;
using testing::Not;

class FileKinds : public testing::Test {
 protected:
  FileKinds() {
    std::filesystem::create_directory(folder_.file("runs"));
    for (const char* const name : {"run.json", "packed.json.gz", "runs/run.json"}) {
      results::write_result_file(folder_.file(name), support::golden_file());
    }
    profile::write_one_step(folder_.file("step.sqlite"), profile::kNsysVersions[2]);
    support::write_text(folder_.file("step.nsys-rep"), "NVTS");
    EXPECT_EQ(tbench("nsys step.sqlite -o traced").exit_status, 0);
    EXPECT_EQ(tbench("history --import=runs --db=past.db").exit_status, 0);
  }

  /// Runs tbench in the folder.
  [[nodiscard]] support::ChildResult tbench(const std::string& arguments) const {
    return support::run_tool({"sh", "-c", "cd '" + folder_.path() + "' && " TBENCH_TOOL " " + arguments});
  }
  void expect_answer(const std::string& arguments, const std::string& answer) const {
    const support::ChildResult result = tbench(arguments);
    EXPECT_EQ(result.exit_status, 2) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_EQ(result.err, "tbench: " + answer + "\n") << arguments;
  }

  support::TemporaryFolder folder_;
};

TEST_F(FileKinds, AHistoryIsNoResults) {
  for (const char* const command : {"report past.db", "fleet run.json past.db", "durations past.db"}) {
    expect_answer(command, "FILE: 'past.db' is a history; did you mean 'tbench history --db=past.db'?");
  }
  expect_answer("merge past.db run.json -o all.json",
                "FILE: 'past.db' is a history; did you mean 'tbench history --db=past.db'?");
  expect_answer("spreads past.db", "RESULTS: 'past.db' is a history; did you mean 'tbench history --db=past.db'?");
}

TEST_F(FileKinds, AHistoryIsTheDbOfADiff) {
  expect_answer("diff run.json past.db", "BASE: 'past.db' is a history; did you mean '--db=past.db'?");
  expect_answer("diff run.json --to past.db", "--to: 'past.db' is a history; did you mean '--db=past.db'?");
}

TEST_F(FileKinds, ARegularExpressionIsNoFile) {
  expect_answer("history past.db", "REGEX: 'past.db' is a history; did you mean '--db=past.db'?");
  expect_answer("history run.json", "REGEX: 'run.json' is results; did you mean 'tbench report run.json'?");
}

TEST_F(FileKinds, TracesAndResultsHaveCommandsOfTheirOwn) {
  expect_answer("nsys run.json", "FILE: 'run.json' is results; did you mean 'tbench report run.json'?");
  expect_answer("nsys packed.json.gz",
                "FILE: 'packed.json.gz' is results; did you mean 'tbench report packed.json.gz'?");
  expect_answer("nsys past.db", "FILE: 'past.db' is a history; did you mean 'tbench history --db=past.db'?");
  expect_answer("nsys traced/trace.json.gz",
                "FILE: 'traced/trace.json.gz' is a trace; did you mean 'tbench profile traced/trace.json.gz'?");
  expect_answer("profile run.json", "PATH: 'run.json' is results; did you mean 'tbench report run.json'?");
  expect_answer("profile step.sqlite", "PATH: 'step.sqlite' is a database; did you mean 'tbench nsys step.sqlite'?");
  expect_answer("report step.nsys-rep",
                "FILE: 'step.nsys-rep' is a report of nsys; did you mean 'tbench nsys step.nsys-rep'?");
  expect_answer("gate step.sqlite", "RUN: 'step.sqlite' is a database; did you mean 'tbench nsys step.sqlite'?");
}

TEST_F(FileKinds, TheFilesOfACommandAreTaken) {
  for (const char* const command : {"report run.json", "report packed.json.gz", "nsys step.sqlite", "profile traced",
                                    "profile traced/trace.json.gz", "history --db=past.db", "fleet run.json",
                                    "report missing.json", "nsys step.nsys-rep"}) {
    EXPECT_THAT(tbench(command).err, Not(HasSubstr("did you mean"))) << command;
  }
  EXPECT_EQ(tbench("profile traced/trace.json.gz").exit_status, 0);
}

}  // namespace
}  // namespace tbench::tool
