// Tests `tbench merge` as a user runs it: with a program's shards, and whether the other commands accept the merged
// file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

support::ChildResult tbench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TBENCH_TOOL);
  return support::run_tool(arguments);
}

class TbenchMerge : public testing::Test {
 protected:
  std::string measure(const std::string& name, const std::vector<std::string>& flags = {}) {
    std::vector<std::string> command{TBENCH_FAKE_BENCH, "--benchmark_out=" + folder_.file(name)};
    command.insert(command.end(), flags.begin(), flags.end());
    EXPECT_EQ(support::run_tool(command).exit_status, 0);
    return folder_.file(name);
  }
  std::vector<std::string> shards(int count) {
    std::vector<std::string> paths;
    for (int i = 1; i <= count; ++i) {
      paths.push_back(measure("shard" + std::to_string(i) + ".json.gz",
                              {"--tb_shard=" + std::to_string(i) + "/" + std::to_string(count)}));
    }
    return paths;
  }
  support::ChildResult merge(std::vector<std::string> files, const std::string& out) {
    files.insert(files.begin(), "merge");
    files.push_back("-o" + folder_.file(out));
    return tbench(std::move(files));
  }
  [[nodiscard]] std::vector<std::string> names_in(const std::string& name) const {
    std::vector<std::string> names;
    for (const Record& record : results::read_result_file(folder_.file(name)).records)
      names.push_back(record.id.name());
    return names;
  }

  support::TemporaryFolder folder_;
};

TEST_F(TbenchMerge, ShardsOfAProgramAreItsUndividedRun) {
  measure("whole.json");
  results::ResultFile whole = results::read_result_file(folder_.file("whole.json"));
  std::ranges::stable_partition(whole.records, [](const Record& record) { return is_ceiling(record.id); });
  const support::ChildResult result = merge(shards(3), "all.json.gz");
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, testing::EndsWith("all.json.gz: 9 cases of 3 files\n"));
  EXPECT_THAT(result.err, StartsWith("note: 2 ceilings that several files have are taken from the first"));
  const results::ResultFile merged = results::read_result_file(folder_.file("all.json.gz"));
  EXPECT_EQ(merged.environment, whole.environment);
  EXPECT_EQ(merged.options, whole.options);
  ASSERT_EQ(merged.records.size(), whole.records.size());
  for (std::size_t i = 0; i < merged.records.size(); ++i) EXPECT_EQ(merged.records[i].id, whole.records[i].id);
}

TEST_F(TbenchMerge, ReportAndDiffTakeTheFile) {
  measure("whole.json");
  ASSERT_EQ(merge(shards(2), "all.json").exit_status, 0);
  const support::ChildResult report = tbench({"report", folder_.file("all.json")});
  EXPECT_EQ(report.exit_status, 0) << report.err;
  EXPECT_THAT(report.out, AllOf(HasSubstr("2.7B"), HasSubstr("train_step")));
  const support::ChildResult diff = tbench({"diff", folder_.file("whole.json"), folder_.file("all.json")});
  EXPECT_EQ(diff.exit_status, 0) << diff.err;
  EXPECT_THAT(diff.out, AllOf(HasSubstr("    8 UNDECIDED"), HasSubstr("    1 NOT_JUDGED")));
}

TEST_F(TbenchMerge, AMissingShardIsNamedAndTheRestIsWritten) {
  std::vector<std::string> files = shards(4);
  files.erase(files.begin() + 1);
  const support::ChildResult result = merge(files, "all.json");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.err, HasSubstr("incomplete: missing shard 2/4, 2 cases; "));
  EXPECT_EQ(names_in("all.json").size(), 7U);
  const std::vector<std::string> whole = shards(1);
  EXPECT_THAT(tbench({"diff", folder_.file("all.json"), whole.front()}).err, HasSubstr("was interrupted"));
}

TEST_F(TbenchMerge, AKilledShardsJournalIsRead) {
  const std::vector<std::string> files = shards(2);
  results::ResultFile second = results::read_result_file(files[1]);
  const Record last = second.records.front();
  second.records.erase(second.records.begin());
  results::write_result_file(files[1], second);
  std::string journal = results::compact(results::header_to_json(second)) + "\n";
  support::write_text(files[1] + ".journal", journal);
  EXPECT_EQ(merge(files, "a.json").exit_status, 1);
  journal += results::compact(results::record_to_json(last)) + "\n";
  support::write_text(files[1] + ".journal", journal);
  EXPECT_EQ(merge(files, "b.json").exit_status, 0);
  EXPECT_EQ(names_in("b.json").size(), names_in("a.json").size() + 1);
}

TEST_F(TbenchMerge, WhatCannotBeMergedIsRefusedBeforeAnythingIsWritten) {
  std::vector<std::string> files = shards(2);
  results::ResultFile other = results::read_result_file(files[1]);
  other.environment.versions["driver"] = "590.1";
  results::write_result_file(files[1], other);
  const support::ChildResult driver = merge(files, "all.json");
  EXPECT_EQ(driver.exit_status, 3);
  EXPECT_THAT(driver.err, AllOf(StartsWith("tbench: cannot be merged: different builds: driver: 580.1 in '"),
                                HasSubstr("590.1 in '"), HasSubstr("or measure again with one")));
  files[1] = files[0];
  EXPECT_EQ(merge(files, "all.json").exit_status, 2);
  EXPECT_THAT(merge(files, "all.json").err, HasSubstr("are both shard 1/2"));
  EXPECT_EQ(merge({folder_.file("none.json")}, "all.json").exit_status, 2);
  EXPECT_THAT(merge({files[0]}, "shard1.json.gz").err, HasSubstr("is one of the inputs"));
  EXPECT_THAT(merge({files[0]}, "none/all.json").err, HasSubstr("there is no folder"));
  support::write_text(folder_.file("killed.json.journal"), "{");
  EXPECT_THAT(merge({files[0]}, "killed.json").err, HasSubstr("resume it with --tb_resume"));
  for (const std::string& name : folder_.names()) EXPECT_NE(name, "all.json");
}

}  // namespace
}  // namespace tbench::tool
