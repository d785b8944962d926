// Tests `tbench durations` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/results/durations.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

using ::testing::HasSubstr;

class TbenchDurations : public testing::Test {
 protected:
  TbenchDurations() {
    write("a.json.gz", "NVIDIA H200");
    write("b.json", "NVIDIA H200");
    write("other.json", "NVIDIA H100");
  }
  void write(const std::string& name, const std::string& gpu) const {
    results::ResultFile file = support::golden_file();
    file.environment.gpu->name = gpu;
    results::write_result_file(folder_.file(name), file);
  }
  [[nodiscard]] support::ChildResult durations(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {TBENCH_TOOL, "durations"});
    return support::run_tool(arguments);
  }

  support::TemporaryFolder folder_;
};

TEST_F(TbenchDurations, WritesTheTableOfTheFiles) {
  const support::ChildResult printed = durations({folder_.file("a.json.gz"), folder_.file("b.json")});
  EXPECT_EQ(printed.exit_status, 0) << printed.err;
  const results::DurationTable table = results::DurationTable::parse(printed.out, "printed");
  EXPECT_EQ(table.gpu(), "NVIDIA H200");
  EXPECT_GT(table.size(), 1U);
  const std::string out = folder_.file("h200.csv");
  const support::ChildResult written = durations({folder_.file("a.json.gz"), folder_.file("b.json"), "-o" + out});
  ASSERT_EQ(written.exit_status, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr(" of an NVIDIA H200, recorded by runs as h200@" + table.digest()));
  EXPECT_EQ(results::read_text(out), printed.out);

  const CaseId id = support::golden_file().records.front().id;
  support::write_text(folder_.file("names.txt"), id.name() + "\n");
  const support::ChildResult one = durations({folder_.file("b.json"), "--cases=" + folder_.file("names.txt")});
  EXPECT_EQ(one.exit_status, 0) << one.err;
  EXPECT_EQ(results::DurationTable::parse(one.out, "printed").size(), 1U);
}

TEST_F(TbenchDurations, WrongUse) {
  const auto expect_error = [&](std::vector<std::string> arguments, const std::string& message) {
    const support::ChildResult result = durations(std::move(arguments));
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(result.out, "");
  };
  const std::string file = folder_.file("b.json");
  expect_error({}, "FILE is required");
  expect_error({file, folder_.file("other.json")}, "of an NVIDIA H100: a table is of one GPU model.");
  expect_error({file, "-o" + file}, "is one of the inputs. Give another name.");
  expect_error({file, "-o" + folder_.file("none/a.csv")}, "Choose a folder that exists");
  support::write_text(folder_.file("empty.txt"), "\n");
  expect_error({file, "--cases=" + folder_.file("empty.txt")}, "empty.txt' has no names");
  expect_error({file, "--cases=" + folder_.file("none.txt")}, "none.txt'");
}

}  // namespace
}  // namespace tbench::tool
