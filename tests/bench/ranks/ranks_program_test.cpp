// Tests two ranks as a launcher starts them, on the CPU with gloo: the output of a run, whatever happens to one rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../../support/free_port.hpp"
#include "../run_command.hpp"

namespace tbench::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

using Words = std::vector<std::string>;

/// A fixed number of steps, because their spread does not matter here.
constexpr const char* kWarmUp = "--tb_warmup=4";
constexpr const char* kSamples = "--tb_samples=20";

/// Results of both ranks; `first` is rank 0.
struct RanksResult {
  CommandResult first;
  int second_status{};
  std::string second_said;  // its output on stdout and stderr
};

class Ranks : public InFolder {
 protected:
  /// Returns the variables that torchrun sets, without an agent, so that rank 0 serves the store.
  [[nodiscard]] static Words torchrun_variables(int rank) {
    const std::string number = std::to_string(rank);
    return {"RANK=" + number, "LOCAL_RANK=" + number, "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1"};
  }
  [[nodiscard]] static Words slurm_variables(int rank) {
    const std::string number = std::to_string(rank);
    return {"SLURM_PROCID=" + number, "SLURM_LOCALID=" + number, "SLURM_NTASKS=2", "SLURM_STEP_NODELIST=localhost"};
  }

  /// @param differing  flags that only rank 1 gets
  /// @param after      shell commands that run next to both ranks, with their process ids in $first and $second
  [[nodiscard]] RanksResult run(const std::string& program, Words flags, const Words& differing = {},
                                Words (*variables)(int) = torchrun_variables, const std::string& after = "") const {
    flags.insert(flags.begin(),
                 {program, "--tb_device=cpu", "--benchmark_min_warmup_time=0.02", "--benchmark_min_time=0.02"});
    const std::string port = std::to_string(support::free_port());
    const auto quoted = [](const Words& words) {
      std::string text;
      for (const std::string& word : words) text += "'" + word + "' ";
      return text;
    };
    const auto command = [&](int rank, const Words& more) {
      Words words = variables(rank);
      words.insert(words.begin(), {"env", "RES_OPTIONS=" + std::string{support::kImpatientResolver}});
      words.push_back("MASTER_PORT=" + port);
      words.insert(words.end(), flags.begin(), flags.end());
      words.insert(words.end(), more.begin(), more.end());
      return quoted(words);
    };
    const std::string script =
        command(1, differing) + " > " + path("second.txt") + " 2>&1 & second=$!; " + command(0, {}) + " & first=$!; " +
        after + " wait $first; status=$?; wait $second; echo $? > " + path("second.status") + "; exit $status";
    RanksResult result{.first = run_command({"sh", "-c", script}), .second_status = -1, .second_said = {}};
    std::ifstream{path("second.status")} >> result.second_status;
    std::ostringstream said;
    said << std::ifstream{path("second.txt")}.rdbuf();
    result.second_said = said.str();
    return result;
  }
  [[nodiscard]] nlohmann::json results() const {
    std::ifstream stream{out_};
    return nlohmann::json::parse(stream);
  }
  [[nodiscard]] std::string out_flag() const { return "--benchmark_out=" + out_; }
};

TEST_F(Ranks, MeasureEveryCollectiveOperationVerifiedOnBoth) {
  const RanksResult result =
      run(TBENCH_PROGRAM, {"--benchmark_filter=Collective/.*bytes:1024/", kWarmUp, kSamples, out_flag()});
  ASSERT_EQ(result.first.status, 0) << result.first.err << result.first.out;
  EXPECT_EQ(result.first.err, "");
  EXPECT_EQ(result.second_status, 0);
  EXPECT_EQ(result.second_said, "");  // rank 0 prints for all ranks
  const nlohmann::json file = results();
  EXPECT_EQ(file.at("context").at("tbench").at("options").at("ranks"), "2");
  EXPECT_EQ(file.at("context").at("tbench").at("options").at("launcher"), "torchrun");
  int records = 0;
  for (const nlohmann::json& entry : file.at("benchmarks")) {
    if (!entry.contains("tbench")) continue;
    ++records;
    const std::string name = entry.at("run_name");
    const nlohmann::json& record = entry.at("tbench");
    EXPECT_EQ(record.at("status"), "ok") << name;
    EXPECT_TRUE(record.at("verification").at("passed")) << name;
    EXPECT_EQ(record.at("parameters").at("gpus"), "2");
    EXPECT_EQ(record.at("work").at("bytes"), 1024) << name;
    EXPECT_EQ(record.at("findings").at("backend"), "gloo");
    // all_reduce: 2 (n - 1) / n = 1. all_gather, reduce_scatter, all_to_all: (n - 1) / n = 1/2. broadcast, send_recv:
    // 1.
    const bool is_half = name.find("all_gather") != std::string::npos ||
                         name.find("reduce_scatter") != std::string::npos ||
                         name.find("all_to_all") != std::string::npos;
    const double algorithm = entry.at("bytes_per_second");
    EXPECT_NEAR(algorithm, 1024.0 / (entry.at("real_time").get<double>() * 1e-3), algorithm * 1e-9);
    EXPECT_NEAR(entry.at("bus_bytes_per_second").get<double>(), algorithm * (is_half ? 0.5 : 1.0), algorithm * 1e-9)
        << name;
  }
  EXPECT_EQ(records, 6 * 2);  // operations, precisions
}

TEST_F(Ranks, RepeatACaseVerifiedOnBoth) {
  const RanksResult result = run(TBENCH_PROGRAM, {"--benchmark_filter=op:all_gather/bytes:1024/",
                                                  "--benchmark_repetitions=2", kWarmUp, kSamples, out_flag()});
  ASSERT_EQ(result.first.status, 0) << result.first.err << result.first.out;
  EXPECT_EQ(result.second_status, 0);
  EXPECT_EQ(result.second_said, "");
  std::map<std::string, int> records;
  const nlohmann::json entries = results().at("benchmarks");
  for (const nlohmann::json& entry : entries) {
    if (!entry.contains("tbench")) continue;
    ++records[entry.at("run_name")];
    EXPECT_EQ(entry.at("tbench").at("repetitions"), 2);
    EXPECT_EQ(entry.at("tbench").at("status"), "ok");
    EXPECT_TRUE(entry.at("tbench").at("verification").at("passed"));
  }
  EXPECT_THAT(records, UnorderedElementsAre(Pair("Collective/op:all_gather/bytes:1024/precision:fp32/gpus:2", 2),
                                            Pair("Collective/op:all_gather/bytes:1024/precision:bf16/gpus:2", 2)));
}

TEST_F(Ranks, OneThatWaitsForAHostThatIsNotThereSaysSoAndEndsAtOneSignal) {
  for (const std::string signal : {"TERM", "INT"}) {
    const CommandResult result =
        run_command({"sh", "-c",
                     "env RES_OPTIONS='" + std::string{support::kImpatientResolver} +
                         "' WORLD_SIZE=2 RANK=1 LOCAL_RANK=1 MASTER_ADDR=nosuchhost.invalid "
                         "MASTER_PORT=29512 " TBENCH_PROGRAM
                         " --tb_suite=smoke --tb_device=cpu --benchmark_filter=^Collective/ 2> " +
                         path("said.txt") + " & rank=$!; for i in $(seq 600); do sleep 0.1; grep -q waits " +
                         path("said.txt") + " && break; done; kill -" + signal + " $rank; wait $rank"});
    EXPECT_EQ(result.status, 130) << signal;
    std::ostringstream said;
    said << std::ifstream{path("said.txt")}.rdbuf();
    EXPECT_THAT(said.str(),
                AllOf(StartsWith("transformer_bench: rank 1 of 2 waits for rank 0 to serve the ranks' store at "
                                 "nosuchhost.invalid:29512 (MASTER_ADDR, MASTER_PORT): 'nosuchhost.invalid' "
                                 "has no address ("),
                      HasSubstr("It gives up after 180 s; Ctrl-C ends it now.\n")));
  }
}

TEST_F(Ranks, TrainAModelTogetherByEveryStrategyVerifiedOnBoth) {
  const RanksResult result = run(TBENCH_PROGRAM, {"--benchmark_filter=DataParallel/.*precision:fp32", "--tb_warmup=1",
                                                  "--tb_samples=2", out_flag()});
  ASSERT_EQ(result.first.status, 0) << result.first.err << result.first.out;
  EXPECT_EQ(result.first.err, "");
  EXPECT_EQ(result.second_status, 0);
  EXPECT_EQ(result.second_said, "");
  const nlohmann::json entries = results().at("benchmarks");
  ASSERT_EQ(entries.size(), 7U);
  for (const nlohmann::json& entry : entries) {
    const nlohmann::json& record = entry.at("tbench");
    const std::string strategy = record.at("parameters").at("strategy");
    EXPECT_EQ(record.at("status"), "ok") << strategy;
    EXPECT_TRUE(record.at("verification").at("passed")) << strategy;
    EXPECT_EQ(record.at("findings").at("backend"), "gloo");
    EXPECT_EQ(record.at("work").at("tokens"), 2 * 4 * 64) << strategy;  // ranks, sequences, tokens per sequence
    EXPECT_EQ(entry.at("communication_bytes").get<double>() > 0, strategy != "none");
    EXPECT_FALSE(entry.contains("communication_ms"));  // nothing was traced
  }
}

TEST_F(Ranks, TakeTheSameNumberOfStepsAlthoughOneIsSlower) {
  const RanksResult result = run(TBENCH_PLANTED_PROGRAM, {"--benchmark_filter=fault:none", out_flag()});
  ASSERT_EQ(result.first.status, 0) << result.first.err
                                    << result.first.out;  // the case compares the counts, and would be incorrect
  const nlohmann::json entry = results().at("benchmarks").at(0);
  EXPECT_GT(entry.at("steps").get<double>(), 20.0);
  EXPECT_GT(entry.at("tbench").at("harness_s").get<double>(), 0.0);
  EXPECT_GE(entry.at("median_ms").get<double>(), 2.0);  // a step of rank 1 takes at least 2 ms, of rank 0 1 ms
}

/// Expects exactly the cases of these faults on rank 1, each with its status and the beginning of its reason.
void expect_faults(const nlohmann::json& entries,
                   const std::map<std::string, std::pair<std::string, std::string>>& expected) {
  ASSERT_EQ(entries.size(), expected.size());
  for (const nlohmann::json& entry : entries) {
    const nlohmann::json& record = entry.at("tbench");
    const auto& [status, reason] = expected.at(record.at("parameters").at("fault"));
    EXPECT_EQ(record.at("status"), status) << record;
    EXPECT_THAT(record.value("reason", ""), StartsWith(reason));
  }
}

/// Runs each fault, and after it a correct case, which fresh workers must measure.
TEST_F(Ranks, AFaultOnOneOfThemIsTheStatusOfItsCaseAlone) {
  const RanksResult result =
      run(TBENCH_PLANTED_PROGRAM,
          {"--benchmark_filter=.", "--tb_axis=PlantedRanks.fault=kill,throw,oom,incorrect,incorrect_later,none",
           kWarmUp, kSamples, out_flag()});
  EXPECT_EQ(result.first.status, 1) << result.first.err;
  EXPECT_EQ(result.second_status, 0);
  EXPECT_EQ(result.second_said, "");
  expect_faults(results().at("benchmarks"),
                {{"none", {"ok", ""}},
                 {"kill", {"crashed", "rank 1: killed by signal 9 (Killed)"}},
                 {"throw", {"crashed", "rank 1: planted exception"}},
                 {"oom", {"oom", "rank 1: planted: tried to allocate 1 TiB"}},
                 {"incorrect", {"incorrect", "rank 1: output[3] is 2"}},
                 {"incorrect_later", {"incorrect", "rank 1: found after the timing, on other data: output[3] is 2"}}});
}

/// The workers meet within half of the timeout. On two busy cores, this takes seconds after their start.
TEST_F(Ranks, AHangOfOneOfThemIsATimeoutOfItsCaseAlone) {
  const RanksResult result =
      run(TBENCH_PLANTED_PROGRAM, {"--benchmark_filter=.", "--tb_axis=PlantedRanks.fault=hang,none", "--tb_timeout=24",
                                   kWarmUp, kSamples, out_flag()});
  EXPECT_EQ(result.first.status, 1) << result.first.err;
  EXPECT_EQ(result.second_status, 0);
  EXPECT_EQ(result.second_said, "");
  expect_faults(results().at("benchmarks"),
                {{"none", {"ok", ""}}, {"hang", {"timeout", "rank 1: no sign of life for 24 s"}}});
}

TEST_F(Ranks, AFaultOfRankZeroIsNamedToo) {
  const RanksResult result =
      run(TBENCH_PLANTED_PROGRAM,
          {"--benchmark_filter=fault:(kill|none)", "--tb_axis=PlantedRanks.on=0", kWarmUp, kSamples, out_flag()});
  EXPECT_EQ(result.first.status, 1);
  EXPECT_EQ(result.second_status, 0);
  const nlohmann::json entries = results().at("benchmarks");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].at("tbench").at("status"), "ok");
  EXPECT_THAT(entries[1].at("tbench").at("reason").get<std::string>(), StartsWith("rank 0: killed by signal 9"));
}

TEST_F(Ranks, OfDifferentOptionsAreRefusedBeforeAnyWork) {
  const RanksResult result =
      run(TBENCH_PLANTED_PROGRAM, {"--benchmark_filter=fault:none", out_flag()}, {"--tb_seed=2"}, slurm_variables);
  EXPECT_EQ(result.first.status, 2);
  EXPECT_EQ(result.second_status, 2);
  EXPECT_EQ(result.second_said, "");
  EXPECT_THAT(result.first.err, AllOf(StartsWith("transformer_bench: rank 1 cannot run with rank 0"),
                                      HasSubstr("'--tb_seed=2' against nothing")));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(Ranks, OneThatRefusesItsOptionsIsNamedByRankZero) {
  const RanksResult result = run(TBENCH_PLANTED_PROGRAM, {"--benchmark_filter=fault:none"}, {"--tb_sede=2"});
  EXPECT_EQ(result.first.status, 2);
  EXPECT_EQ(result.second_status, 2);
  EXPECT_EQ(result.second_said, "");
  EXPECT_THAT(result.first.err,
              StartsWith("transformer_bench: rank 1: unknown flag '--tb_sede'; did you mean '--tb_seed'?"));
}

TEST_F(Ranks, OneWhoseWorkerCannotStartIsNamedByRankZero) {
  const RanksResult result =
      run(TBENCH_PLANTED_PROGRAM, {"--benchmark_filter=fault:none"}, {}, torchrun_variables,
          "while kill -0 $second && ! kill -KILL $(cat /proc/$second/task/$second/children); do :; done 2> /dev/null;");
  EXPECT_EQ(result.first.status, 2);
  EXPECT_EQ(result.second_status, 1);
  EXPECT_EQ(result.second_said, "");
  EXPECT_THAT(result.first.err, AllOf(StartsWith("transformer_bench: rank 1: the worker process"),
                                      HasSubstr("did not start: killed by signal 9")));
}

TEST_F(Ranks, RefuseFamiliesThatDoNotSpanThem) {
  const RanksResult result = run(TBENCH_PROGRAM, {"--benchmark_filter=Gemm/"});
  EXPECT_EQ(result.first.status, 2);
  EXPECT_EQ(result.second_said, "");
  EXPECT_THAT(result.first.err, AllOf(HasSubstr("--benchmark_filter=Gemm/"), HasSubstr("without a launcher")));
}

TEST_F(Ranks, RefuseWhatTheyCannotServe) {
  for (const char* flag :
       {"--tb_isolate=none", "--tb_profile=profiles", "--tb_plant=PlantedRanks/fault:none/on:1/gpus:2:0.05"}) {
    const RanksResult result = run(TBENCH_PLANTED_PROGRAM, {"--benchmark_filter=fault:none", flag});
    EXPECT_EQ(result.first.status, 2) << flag;
    EXPECT_THAT(result.first.err, HasSubstr("not with 2 ranks (torchrun)")) << flag;
  }
}

TEST_F(Ranks, AreNeededByTheFamiliesThatSpanThem) {
  const CommandResult result = run_command({TBENCH_PROGRAM, "--benchmark_filter=Collective/"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("torchrun --no-python --nproc-per-node=2 ./transformer_bench"));
}

TEST_F(Ranks, TakeAStudyOfTheirs) {
  const Words flags{"--benchmark_list_tests", "--tb_study=collectives", "--benchmark_filter=op:broadcast/bytes:1024/"};
  const RanksResult result = run(TBENCH_PROGRAM, flags);
  EXPECT_EQ(result.first.status, 0) << result.first.err;
  EXPECT_EQ(result.first.out,
            "Collective/op:broadcast/bytes:1024/precision:fp32/gpus:2\n"
            "Collective/op:broadcast/bytes:1024/precision:bf16/gpus:2\n");
  const CommandResult alone = run_command({TBENCH_PROGRAM, "--benchmark_list_tests", "--tb_study=collectives"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("--tb_study=collectives: its cases need several ranks"),
                               HasSubstr("torchrun --no-python --nproc-per-node=2 ./transformer_bench")));
  const RanksResult other = run(TBENCH_PROGRAM, {"--benchmark_list_tests", "--tb_study=scaling"});
  EXPECT_EQ(other.first.status, 2);
  EXPECT_THAT(other.first.err, AllOf(HasSubstr("no family 'Model'"), HasSubstr("without a launcher")));
}

TEST_F(Ranks, ListTheirCasesOnce) {
  const RanksResult result =
      run(TBENCH_PROGRAM, {"--benchmark_list_tests", "--benchmark_filter=op:broadcast/bytes:1024/"});
  EXPECT_EQ(result.first.status, 0);
  EXPECT_EQ(result.first.out,
            "Collective/op:broadcast/bytes:1024/precision:fp32/gpus:2\n"
            "Collective/op:broadcast/bytes:1024/precision:bf16/gpus:2\n");
  EXPECT_EQ(result.second_said, "");
}

TEST_F(Ranks, InterruptedKeepWhatIsFinishedAndResume) {
  const RanksResult interrupted =
      run(TBENCH_PLANTED_PROGRAM, {"--benchmark_filter=fault:(none|hang)", kWarmUp, kSamples, out_flag()}, {},
          torchrun_variables, "while ! test -e " + out_ + "; do sleep 0.05; done; sleep 1; kill -INT $first $second;");
  EXPECT_EQ(interrupted.first.status, 130) << interrupted.first.err;
  ASSERT_EQ(results().at("benchmarks").size(), 1U);
  EXPECT_EQ(results().at("benchmarks")[0].at("tbench").at("status"), "ok");

  const RanksResult done = run(TBENCH_PLANTED_PROGRAM,
                               {"--benchmark_filter=fault:(none|kill)", kWarmUp, kSamples, out_flag(), "--tb_resume"});
  EXPECT_EQ(done.first.status, 1) << done.first.err;
  EXPECT_THAT(done.first.out, Not(HasSubstr("fault:none")));  // it was already measured
  ASSERT_EQ(results().at("benchmarks").size(), 2U);
  EXPECT_EQ(results().at("benchmarks")[1].at("tbench").at("status"), "crashed");
}

TEST_F(Ranks, StartUnderTorchrun) {
  if (std::string{TBENCH_TORCHRUN}.empty()) GTEST_SKIP() << "there is no torchrun";
  const CommandResult result =
      run_command({TBENCH_TORCHRUN, "--no-python", "--nproc-per-node=2",
                   "--master-port=" + std::to_string(support::free_port()), TBENCH_PROGRAM, "--tb_device=cpu",
                   "--benchmark_filter=op:all_reduce/bytes:1024/precision:bf16", kWarmUp, kSamples, out_flag()});
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json file = results();
  ASSERT_EQ(file.at("benchmarks").size(), 1U);
  EXPECT_EQ(file.at("benchmarks")[0].at("name"), "Collective/op:all_reduce/bytes:1024/precision:bf16/gpus:2");
  EXPECT_EQ(file.at("benchmarks")[0].at("tbench").at("status"), "ok");
  EXPECT_EQ(file.at("context").at("tbench").at("options").at("omp_num_threads"), "1");
}

}  // namespace
}  // namespace tbench::test
