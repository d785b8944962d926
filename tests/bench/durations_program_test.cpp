// Tests how durations of cases are used in a run on the CPU: the estimate, the shards and --tb_stop_after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "run_command.hpp"

namespace tbench::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// Uses seven correct cases of a few milliseconds. The tables give one of the first six cases a longer duration than
/// the 1 s of the others, and have no entry for the seventh.
class RunByDurations : public InFolder {
 protected:
  RunByDurations() { write_table("gpu.csv", 1, "10"); }

  void write_table(const std::string& name, int longest, const std::string& seconds) const {
    std::ofstream file{path(name)};
    file << "# format: 1\n# gpu: NVIDIA H100 80GB HBM3\n# memory_bytes: 1\ncase,seconds,status\n";
    for (int i = 1; i <= 6; ++i) {
      file << "Planted/fault:none/index:" << i << "," << (i == longest ? seconds : "1") << ",ok\n";
    }
  }
  [[nodiscard]] CommandResult run(std::vector<std::string> flags) const {
    const auto is_filter = [](const std::string& flag) { return flag.starts_with("--benchmark_filter"); };
    if (std::ranges::none_of(flags, is_filter)) flags.insert(flags.begin(), "--benchmark_filter=^Planted/");
    flags.insert(flags.begin(), {TBENCH_PLANTED_PROGRAM, "--tb_device=cpu", "--tb_suite=full",
                                 "--tb_axis=Planted.index=1,2,3,4,5,6,7", "--tb_warmup=2", "--tb_samples=20"});
    return run_command(flags);
  }
  [[nodiscard]] std::string out(const std::string& name) const { return "--benchmark_out=" + path(name); }
  [[nodiscard]] std::string table(const std::string& name = "gpu.csv") const { return "--tb_durations=" + path(name); }
  [[nodiscard]] nlohmann::json read(const std::string& name) const {
    std::ifstream stream{path(name)};
    return nlohmann::json::parse(stream);
  }
  [[nodiscard]] std::vector<std::string> indexes_in(const std::string& name) const {
    std::vector<std::string> indexes;
    const nlohmann::json file = read(name);
    for (const nlohmann::json& entry : file.at("benchmarks")) {
      indexes.push_back(entry.at("tbench").at("parameters").at("index"));
    }
    return indexes;
  }
};

TEST_F(RunByDurations, TheEstimateComesFirstAndAListHasNamesAlone) {
  const std::string estimate =
      "7 cases, about 16 s on an NVIDIA H100 80GB HBM3; 1 case without a measured duration is estimated from its "
      "neighbours\n";
  const CommandResult list = run({table(), "--benchmark_list_tests"});
  EXPECT_EQ(list.status, 0);
  EXPECT_THAT(list.out, AllOf(::testing::StartsWith("Planted/fault:none/index:1\n"), EndsWith("index:7\n")));
  EXPECT_THAT(list.err, EndsWith("\n" + estimate));
  const CommandResult measured = run({table(), "--benchmark_filter=index:[67]"});
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_THAT(measured.out, HasSubstr("\n2 cases, about 2 s on an NVIDIA H100"));
  EXPECT_THAT(measured.out.substr(0, measured.out.find('\n')), AllOf(HasSubstr(" cores | "), HasSubstr(", LibTorch ")));
  EXPECT_THAT(measured.err, HasSubstr("gpu.csv: of an NVIDIA H100 80GB HBM3, and not of this machine"));
  const CommandResult json = run({table(), "--benchmark_filter=index:7", "--benchmark_format=json"});
  EXPECT_TRUE(nlohmann::json::accept(json.out));
  const CommandResult none = run({"--benchmark_list_tests"});
  EXPECT_EQ(none.err, "7 cases\n");
}

TEST_F(RunByDurations, ABadTableIsRefusedBeforeAnyWork) {
  std::ofstream{path("empty.csv")} << "";
  const CommandResult empty = run({table("empty.csv"), out("a.json")});
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.err, AllOf(HasSubstr("empty.csv': it has no durations."), HasSubstr("tbench durations")));
  const CommandResult missing = run({table("missing.csv"), out("a.json")});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("missing.csv'"));
  EXPECT_FALSE(std::filesystem::exists(path("a.json")));
}

TEST_F(RunByDurations, ShardsJoinToTheUndividedRun) {
  ASSERT_EQ(run({"--tb_shard=1/2", table(), out("1.json")}).status, 0);
  ASSERT_EQ(run({"--tb_shard=2/2", table(), out("2.json")}).status, 0);
  EXPECT_EQ(indexes_in("1.json"), std::vector<std::string>{"1"});
  const nlohmann::json options = read("2.json").at("context").at("tbench").at("options");
  EXPECT_EQ(options.at("shard_places"), "1-6");
  EXPECT_THAT(options.at("durations").get<std::string>(), ::testing::MatchesRegex("gpu@[0-9a-f]{12}"));
  const auto merge = [&](const std::string& first, const std::string& second) {
    CommandResult result = run_command({TBENCH_TOOL, "merge", path(first), path(second), "-o", path("all.json")});
    result.err = std::regex_replace(result.err, std::regex{"\n  "}, " ");  // messages are wrapped
    return result;
  };
  const CommandResult merged = merge("2.json", "1.json");
  ASSERT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(indexes_in("all.json"), (std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7"}));

  // An edited table counts as another table.
  write_table("edited.csv", 1, "11");
  ASSERT_EQ(run({"--tb_shard=2/2", table("edited.csv"), out("edited.json")}).status, 0);
  const CommandResult refused = merge("1.json", "edited.json");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("1.json' is a shard made with the durations gpu@"), HasSubstr("with edited@")));
  const CommandResult other = run({"--tb_shard=2/2", table("edited.csv"), out("2.json"), "--tb_resume"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err,
              AllOf(HasSubstr("2.json' is a shard made with the durations gpu@"), HasSubstr("and now edited@")));
  const CommandResult off = run({"--tb_shard=2/2", out("2.json"), "--tb_resume"});
  EXPECT_THAT(off.err, HasSubstr("and now none would decide"));
  EXPECT_EQ(run({"--tb_shard=2/2", table(), out("2.json"), "--tb_resume"}).status, 0);
}

TEST_F(RunByDurations, StopsBeforeACaseThatWouldEndTooLateAndGoesOn) {
  write_table("third.csv", 3, "1000");
  const CommandResult stopped = run({table("third.csv"), out("a.json"), "--tb_stop_after=60"});
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_EQ(indexes_in("a.json"), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(read("a.json").at("context").at("tbench").at("interrupted").get<bool>());
  EXPECT_THAT(stopped.out, HasSubstr("interrupted\n"));
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("--tb_stop_after=60: 5 of 7 cases are left. Go on with: "),
                                 HasSubstr(TBENCH_PLANTED_PROGRAM), EndsWith("--tb_stop_after=60 --tb_resume\n")));
  // The first case of a run is measured in any case.
  const CommandResult again = run({table("third.csv"), out("a.json"), "--tb_stop_after=1", "--tb_resume"});
  EXPECT_EQ(again.status, 130) << again.err;
  EXPECT_EQ(indexes_in("a.json"), (std::vector<std::string>{"1", "2", "3"}));
  const CommandResult resumed = run({table(), out("a.json"), "--tb_stop_after=1000", "--tb_resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, Not(HasSubstr("are left")));
  EXPECT_EQ(indexes_in("a.json").size(), 7U);
}

TEST_F(RunByDurations, WithoutATableStopsWhenTheTimeIsOver) {
  const CommandResult stopped = run({out("a.json"), "--tb_stop_after=0.01"});
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_EQ(indexes_in("a.json"), std::vector<std::string>{"1"});
  EXPECT_FALSE(read("a.json").at("context").at("tbench").at("options").contains("durations"));
  EXPECT_EQ(run({out("b.json"), "--tb_stop_after=1000"}).status, 0);
  const CommandResult lost = run({"--tb_stop_after=0.01"});
  EXPECT_THAT(lost.err, HasSubstr("Nothing was kept to go on with: add --benchmark_out=FILE."));
  EXPECT_THAT(run({"--tb_stop_after=0"}).err, HasSubstr("--tb_stop_after=0: leaves no time for a case."));
}

TEST_F(RunByDurations, ACaseHasTheStartOfItsProcess) {
  ASSERT_EQ(run({out("shared.json")}).status, 0);
  ASSERT_EQ(run({out("own.json"), "--benchmark_filter=index:[67]", "--tb_isolate=case"}).status, 0);
  const auto harness_of = [&](const std::string& name) {
    std::vector<double> seconds;
    const nlohmann::json file = read(name);
    for (const nlohmann::json& entry : file.at("benchmarks")) {
      seconds.push_back(entry.at("tbench").at("harness_s").get<double>());
    }
    return seconds;
  };
  // A process that loads LibTorch takes a good part of a second to start. A busy machine may delay one case of a shared
  // process equally long, but not all seven.
  EXPECT_GT(harness_of("own.json").back(), std::ranges::min(harness_of("shared.json")) + 0.05);
}

}  // namespace
}  // namespace tbench::test
