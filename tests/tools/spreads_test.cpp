// Tests `tbench spreads` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/compare/known_spreads.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class TbenchSpreads : public testing::Test {
 protected:
  /// Writes a file with eight graphs that take `factor` times as long as usual, and returns its path.
  std::string graphs(const std::string& name, double factor) {
    results::ResultFile file;
    file.environment = support::gpu_environment();
    for (int i = 1; i <= 8; ++i) {
      const CaseId id{"Model", {{"size", "small"}, {"ctx", std::to_string(i)}, {"exec", "graph"}}};
      file.records.push_back(support::timed_record(id, Seconds{0.01 * i * factor}));
    }
    std::filesystem::create_directories(std::filesystem::path{folder_.file(name)}.parent_path());
    results::write_result_file(folder_.file(name), file);
    return folder_.file(name);
  }

  static support::ChildResult spreads(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TBENCH_TOOL, "spreads"});
    return support::run_tool(arguments);
  }

  static compare::KnownDispersion graph_of(const std::string& path) {
    return compare::read_spreads(path).classes.at({compare::SpreadClass::kGraph, compare::Apart::kProcesses});
  }

  support::TemporaryFolder folder_;
  std::string a_ = graphs("runs/a.json", 1);
  std::string b_ = graphs("runs/b.json.gz", 1.01);
  std::string out_ = folder_.file("out.json");
};

TEST_F(TbenchSpreads, WritesAFileAndPrintsItsTable) {
  const support::ChildResult result = spreads({a_, b_, "-o", out_});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("graph, clock free"), HasSubstr("(8, 8)")));
  EXPECT_EQ(graph_of(out_).pairs, 8);
  EXPECT_TRUE(compare::read_spreads(out_).samples.empty());
}

TEST_F(TbenchSpreads, TakesFoldersAndLeavesOutWhatIsExcludedOrNoResult) {
  graphs("runs/deeper/updates_1.json", 2);
  support::write_text(folder_.file("runs/manifest.json"), "{}");
  const support::ChildResult result = spreads({folder_.file("runs"), "--exclude=updates_", "-o", out_});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("warning: left out: '" + folder_.file("runs/manifest.json")));
  EXPECT_EQ(graph_of(out_).pairs, 8);
  EXPECT_EQ(compare::read_spreads(out_).excluded, "updates_");
  EXPECT_EQ(spreads({folder_.file("runs"), folder_.file("runs/manifest.json"), "-o", out_}).exit_status, 2);
}

TEST_F(TbenchSpreads, AddsToTheProcessesOfAFile) {
  const std::string mine = folder_.file("mine.json");
  EXPECT_EQ(spreads({"--add", mine, a_, b_}).exit_status, 0);
  EXPECT_EQ(graph_of(mine).pairs, 8);
  EXPECT_EQ(spreads({"--add", mine, graphs("c.json", 1.02)}).exit_status, 0);
  EXPECT_EQ(graph_of(mine).pairs, 24);  // three pairs of three processes
  const support::ChildResult twice = spreads({"--add", mine, a_});
  EXPECT_EQ(twice.exit_status, 2);
  EXPECT_THAT(twice.err, HasSubstr("a.json': all of its cases were added before (8). Give each file once."));
}

void expect_refusal(const support::ChildResult& result, const testing::Matcher<std::string>& message) {
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(StartsWith("tbench: "), message));
}

TEST_F(TbenchSpreads, RefusesWhatMakesNoSpreads) {
  expect_refusal(spreads({a_, b_}), HasSubstr("-o FILE writes spreads, --add FILE adds"));
  expect_refusal(spreads({a_, "-o", out_, "--add", out_}), HasSubstr("give one of the two"));
  expect_refusal(spreads({a_, "-o", a_}), HasSubstr("a.json"));
  expect_refusal(spreads({a_, "--exclude=(", "-o", out_}), HasSubstr("--exclude"));
  expect_refusal(spreads({folder_.file("none.json"), "-o", out_}), HasSubstr("none.json"));
  results::ResultFile on_cpu;
  on_cpu.environment = support::cpu_environment();
  on_cpu.records = {support::timed_record(support::model_id("forward", "sdpa"), Seconds{0.01})};
  results::write_result_file(folder_.file("cpu.json"), on_cpu);
  expect_refusal(spreads({folder_.file("cpu.json"), "-o", out_}), HasSubstr("no case whose spread can be known"));
  EXPECT_EQ(spreads({a_, b_, "-o", out_}).exit_status, 0);
  expect_refusal(spreads({"--add", out_, a_}), HasSubstr("does not hold the processes"));
  support::write_text(out_, R"({"schema": "other/1"})");
  expect_refusal(spreads({"--add", out_, a_}), HasSubstr("schema 'other/1'"));
}

}  // namespace
}  // namespace tbench::tool
