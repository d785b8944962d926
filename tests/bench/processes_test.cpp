// Tests --tb_processes as a user runs it on the CPU: each replicate is a process, interrupted runs can be resumed, and
// `tbench diff` accepts the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "run_command.hpp"

namespace tbench::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Processes : public InFolder {
 protected:
  /// Runs cases of a few milliseconds with a fixed number of steps, so that none is unstable on a busy machine. All
  /// cases of the full suite are correct.
  CommandResult run(const std::string& file, std::vector<std::string> flags, const char* suite = "full") const {
    return run_command(command(file, std::move(flags), suite));
  }
  /// Interrupts the run as soon as the first result is on the disk.
  [[nodiscard]] CommandResult run_interrupted(const std::string& file, std::vector<std::string> flags) const {
    std::vector<std::string> words = command(file, std::move(flags), "full");
    const std::string script =
        "\"$@\" & while ! test -e " + path(file) + " && kill -0 $!; do sleep 0.02; done; kill -TERM $!; wait $!";
    words.insert(words.begin(), {"sh", "-c", script, "sh"});
    return run_command(words);
  }
  [[nodiscard]] std::vector<std::string> command(const std::string& file, std::vector<std::string> flags,
                                                 const char* suite) const {
    const auto is_filter = [](const std::string& flag) { return flag.starts_with("--benchmark_filter"); };
    if (std::string_view{suite} == "full" && std::ranges::none_of(flags, is_filter))
      flags.insert(flags.begin(), "--benchmark_filter=^Planted/");
    flags.insert(flags.begin(), {TBENCH_PLANTED_PROGRAM, "--tb_device=cpu", std::string{"--tb_suite="} + suite,
                                 "--tb_warmup=3", "--tb_samples=20", "--benchmark_out=" + path(file)});
    return flags;
  }
  [[nodiscard]] nlohmann::json read(const std::string& file) const {
    std::ifstream stream{path(file)};
    return nlohmann::json::parse(stream);
  }
  /// Returns the entries that have a record, which aggregates have not.
  [[nodiscard]] std::vector<nlohmann::json> records(const std::string& file) const {
    std::vector<nlohmann::json> found;
    const nlohmann::json whole = read(file);
    for (const nlohmann::json& entry : whole.at("benchmarks")) {
      if (entry.contains("tbench")) found.push_back(entry.at("tbench"));
    }
    return found;
  }
};

/// Returns the case and process of every record. The test fails if a pair occurs twice.
std::set<std::pair<std::string, int>> runs_of(const std::vector<nlohmann::json>& records) {
  std::set<std::pair<std::string, int>> runs;
  for (const nlohmann::json& record : records) {
    const std::string index = record.at("parameters").at("index");
    EXPECT_TRUE(runs.emplace(index, record.at("repetition_index").get<int>()).second) << index;
  }
  return runs;
}

TEST_F(Processes, AReplicateIsAFreshProcessWithAllCasesInItsOwnOrder) {
  const CommandResult result = run("a.json", {"--tb_processes=3", "--tb_axis=Planted.index=1,2,3,4,5,6"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(read("a.json").at("context").at("tbench").at("options").at("processes"), "3");
  EXPECT_EQ(read("a.json").at("context").at("tbench").at("options").at("seed"), "1");
  std::map<int, std::set<double>> process_ids;
  std::map<int, std::vector<std::string>> orders;
  for (const nlohmann::json& record : records("a.json")) {
    const int process = record.at("repetition_index");
    EXPECT_EQ(record.at("repetitions"), 3);
    process_ids[process].insert(record.at("counters").at("process_id").get<double>());
    orders[process].push_back(record.at("parameters").at("index"));
  }
  EXPECT_EQ(runs_of(records("a.json")).size(), 18U);
  std::set<double> all;
  for (const auto& [process, ids] : process_ids) {
    EXPECT_EQ(ids.size(), 1U) << "one process measures all cases of replicate " << process;
    all.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(all.size(), 3U);
  EXPECT_NE(orders[0], orders[1]);
}

TEST_F(Processes, TheFileIsOneSideOfADiff) {
  for (const char* file : {"base.json", "new.json"}) {
    ASSERT_EQ(run(file, {"--tb_processes=3", "--tb_axis=Planted.index=1,2"}).status, 0);
  }
  const CommandResult diff = run_command({TBENCH_TOOL, "diff", path("base.json"), path("new.json"), "--csv"});
  EXPECT_LE(diff.status, 1) << diff.err << diff.out;  // a busy machine may slow one side down, which is a result, too
  EXPECT_THAT(diff.err, Not(HasSubstr("share a process")));
  EXPECT_THAT(diff.out, HasSubstr("Planted/fault:none/index:1,Planted,"));
  EXPECT_THAT(diff.out, HasSubstr(",3,3,"));  // replicates on either side
  EXPECT_THAT(diff.out, Not(HasSubstr("INSUFFICIENT")));
}

TEST_F(Processes, AnInterruptKeepsWhatIsDoneAndResumeMeasuresTheRest) {
  const std::vector<std::string> flags{"--tb_processes=3", "--tb_axis=Planted.index=1,2,3,4,5,6,7,8"};
  const CommandResult result = run_interrupted("a.json", flags);
  ASSERT_EQ(result.status, 130) << result.err;
  const std::vector<nlohmann::json> before = records("a.json");
  ASSERT_GE(before.size(), 1U);
  ASSERT_LT(before.size(), 24U);
  std::vector<std::string> resume = flags;
  resume.emplace_back("--tb_resume");
  const CommandResult resumed = run("a.json", resume);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(runs_of(records("a.json")).size(), 24U);
  EXPECT_EQ(records("a.json").front(), before.front());
  // A file of three replicates cannot be continued with two.
  resume.front() = "--tb_processes=2";
  const CommandResult other = run("a.json", resume);
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("was started with --tb_processes=3"));
}

TEST_F(Processes, AProgramWhoseFileIsReplacedMeanwhileGoesOnAsItWas) {
  std::vector<std::string> words =
      command("a.json", {"--tb_isolate=case", "--tb_axis=Planted.index=1,2,3,4,5,6"}, "full");
  const std::string program = path("program");
  const std::string script = "cp " + words.front() + " " + program + "; shift; " + program +
                             " \"$@\" & while ! test -e " + path("a.json") +
                             " && kill -0 $!; do sleep 0.02; done; printf '#!/bin/sh\nexit 9\n' > " + path("other") +
                             "; chmod +x " + path("other") + "; mv " + path("other") + " " + program + "; wait $!";
  words.insert(words.begin(), {"sh", "-c", script, "sh"});
  const CommandResult result = run_command(words);
  ASSERT_EQ(result.status, 0) << result.err;
  std::set<double> process_ids;
  for (const nlohmann::json& record : records("a.json")) {
    process_ids.insert(record.at("counters").at("process_id").get<double>());
  }
  EXPECT_EQ(process_ids.size(), 6U);
}

TEST_F(Processes, AFamilyThatAsksForItGetsOneForEveryCase) {
  ASSERT_EQ(run("a.json", {"--benchmark_filter=Fresh/"}, "standard").status, 0);
  std::set<double> process_ids;
  for (const nlohmann::json& record : records("a.json")) {
    EXPECT_EQ(record.at("family"), "Fresh");
    process_ids.insert(record.at("counters").at("process_id").get<double>());
    // The family prescribes these counts, not the command line.
    EXPECT_EQ(record.at("timing").at("samples_s").size(), 3U);
    EXPECT_EQ(record.at("timing").at("warm_up").at("steps"), 2);
  }
  EXPECT_EQ(process_ids.size(), 3U);
  const CommandResult here = run("b.json", {"--tb_isolate=none"}, "standard");
  EXPECT_EQ(here.status, 2);
  EXPECT_THAT(here.err, HasSubstr("is measured in a fresh process"));
  const CommandResult repeated = run("b.json", {"--benchmark_repetitions=2"}, "standard");
  EXPECT_EQ(repeated.status, 2);
  EXPECT_THAT(repeated.err, HasSubstr("use --tb_processes"));
}

TEST_F(Processes, ACrashCostsTheReplicateThatCaseAlone) {
  const CommandResult result =
      run("a.json", {"--tb_processes=2", "--benchmark_filter=fault:(none|abort)/index"}, "smoke");
  EXPECT_EQ(result.status, 1) << result.err;
  std::map<std::string, int> statuses;
  for (const nlohmann::json& record : records("a.json")) ++statuses[record.at("status")];
  EXPECT_EQ(statuses["ok"], 2);
  EXPECT_EQ(statuses["crashed"], 2);
}

class Shards : public Processes, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Of, Shards, ::testing::Values("1", "2"),
                         [](const auto& shards) { return std::string{shards.param} + "Processes"; });

TEST_P(Shards, JoinToTheUndividedRun) {
  const auto measure = [&](const std::string& file, std::vector<std::string> more) {
    more.insert(more.begin(), {"--tb_axis=Planted.index=1,2,3,4,5,6,7", "--tb_processes=" + std::string{GetParam()}});
    return run(file, std::move(more));
  };
  ASSERT_EQ(measure("whole.json", {}).status, 0);
  for (const char* shard : {"1", "2", "3"}) {
    const std::string file = std::string{shard} + ".json";
    ASSERT_EQ(measure(file, {"--tb_shard=" + std::string{shard} + "/3"}).status, 0);
  }
  const CommandResult merged =
      run_command({TBENCH_TOOL, "merge", path("3.json"), path("1.json"), path("2.json"), "-o", path("all.json")});
  ASSERT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(read("all.json").at("context").at("tbench").at("options"),
            read("whole.json").at("context").at("tbench").at("options"));
  const std::vector<nlohmann::json> whole = records("whole.json");
  const std::vector<nlohmann::json> all = records("all.json");
  ASSERT_EQ(all.size(), whole.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].at("parameters"), whole[i].at("parameters")) << i;
    EXPECT_EQ(all[i].at("repetition_index"), whole[i].at("repetition_index")) << i;
  }
  // The file is complete, so no case is measured.
  EXPECT_EQ(measure("all.json", {"--tb_resume"}).status, 0);
  EXPECT_EQ(records("all.json"), all);
}

TEST_F(Processes, AShardGoesOnAsTheSameShardOfTheSameCases) {
  const std::vector<std::string> flags{"--tb_axis=Planted.index=1,2,3,4", "--tb_shard=1/2", "--tb_resume"};
  ASSERT_EQ(run("a.json", {flags[0], flags[1]}).status, 0);
  EXPECT_EQ(run("a.json", flags).status, 0);
  const CommandResult other = run("a.json", {flags[0], "--tb_shard=2/2", flags[2]});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("was started with --tb_shard=1/2"));
  const CommandResult fewer = run("a.json", {"--tb_axis=Planted.index=1,2,3", flags[1], flags[2]});
  EXPECT_EQ(fewer.status, 2);
  EXPECT_THAT(fewer.err, HasSubstr("is a shard of other cases (shared_cases 4, and now 3)"));
  const CommandResult wrong = run("b.json", {flags[0], "--tb_shard=3/2"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--tb_shard: '3/2' is not I/N with 1 <= I <= N"));
}

}  // namespace
}  // namespace tbench::test
