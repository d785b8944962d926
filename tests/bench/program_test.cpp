// Tests transformer_bench as a user runs it, on the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_command.hpp"

namespace tbench::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kOneCase = "--benchmark_filter=size:tiny/.*pass:train_step/precision:fp32/impl:eager$";

class Program : public InFolder {
 protected:
  static CommandResult run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {TBENCH_PROGRAM, "--tb_device=cpu"});
    return run_command(flags);
  }
  static nlohmann::json read(const std::string& file) {
    std::ifstream stream{file};
    return nlohmann::json::parse(stream);
  }
};

TEST_F(Program, ExplainsWithoutAGpu) {
  const std::string filter =
      "--benchmark_filter=heads:12/.*seq_len:512/causal:1/pass:forward/precision:bf16/impl:flash$";
  const CommandResult found = run({"--tb_explain=a100", filter});
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("impl:flash\n  device     A100 (8.0, 108 SMs)\n"));
  const CommandResult none = run({"--tb_explain=a100", "--benchmark_filter=NoSuch"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--benchmark_filter=NoSuch: no case of the full suite matches"));
  const CommandResult unknown = run({"--tb_explain=v100"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.err, "transformer_bench: --tb_explain: 'v100' is not a device (devices: here, a100, h100, h200)\n");
}

TEST_F(Program, SmokeMeasuresAModelOnTheCpu) {
  const CommandResult result = run({kOneCase, "--benchmark_out=" + path("a.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");  // it prints nothing if stderr is piped
  EXPECT_THAT(result.out, HasSubstr("Model/size:tiny/ctx:64/batch:4/pass:train_step/precision:fp32/impl:eager"));
  EXPECT_THAT(result.out, HasSubstr("1 case: 1 "));
  const nlohmann::json file = read(path("a.json"));
  ASSERT_EQ(file.at("benchmarks").size(), 1U);
  EXPECT_EQ(file.at("context").at("tbench").at("plan"),
            nlohmann::json::array({"Model/size:tiny/ctx:64/batch:4/pass:train_step/precision:fp32/impl:eager"}));
  const nlohmann::json& entry = file.at("benchmarks")[0];
  EXPECT_TRUE(entry.at("tbench").at("verification").at("passed"));
  EXPECT_GT(entry.at("real_time").get<double>(), 0.0);
  EXPECT_EQ(entry.at("time_unit"), "ms");
  EXPECT_GT(entry.at("tokens_per_second").get<double>(), 0.0);
  EXPECT_GT(entry.at("forward_ms").get<double>(), 0.0);
  EXPECT_GT(entry.at("backward_ms").get<double>(), 0.0);
  EXPECT_GT(entry.at("optimizer_ms").get<double>(), 0.0);
  EXPECT_FALSE(std::filesystem::exists(path("a.json.journal")));
}

TEST_F(Program, GoogleBenchmarksVariablesOfTheEnvironmentSayNothing) {
  const CommandResult result =
      run_command({"/usr/bin/env", "BENCHMARK_FILTER=NoSuch", "BENCHMARK_REPETITIONS=3", "BENCHMARK_LIST_TESTS=true",
                   "BENCHMARK_OUT=" + path("leak.json"), TBENCH_PROGRAM, "--tb_device=cpu", kOneCase, "--tb_samples=1",
                   "--benchmark_out=" + path("a b.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(read(path("a b.json")).at("benchmarks").size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(path("leak.json")));
  EXPECT_THAT(result.out, HasSubstr("next: ./tbench report '" + path("a b.json") + "' -o report.html"));
}

TEST_F(Program, AGpuThatCudaCannotUseIsRefusedWithCudasOwnError) {
  std::filesystem::create_symlink(TBENCH_FAKE_NVML, path("libnvidia-ml.so.1"));
  for (const char* const what : {"--benchmark_list_tests", "--tb_samples=1"}) {
    const CommandResult result = run_command(
        {"/usr/bin/env", "LD_LIBRARY_PATH=" + path(""), TBENCH_PROGRAM, "--benchmark_filter=Kernel/op:swiglu/", what});
    EXPECT_EQ(result.status, 2) << what;
    EXPECT_EQ(result.out, "") << what;
    EXPECT_THAT(result.err,
                ::testing::MatchesRegex("transformer_bench: the driver \\(.*\\) sees a GPU, and CUDA cannot "
                                        "use it: .*\\. Repair the driver, or measure the CPU with "
                                        "--tb_device=cpu\\.\n"))
        << what;
  }
}

TEST_F(Program, SmokeMeasuresAttentionOnTheCpu) {
  const CommandResult result = run(
      {"--benchmark_filter=Attention/.*causal:1/pass:forward_backward/precision:fp32/impl:(naive|sdpa_flash|flash)$",
       "--benchmark_out=" + path("a.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json entries = read(path("a.json")).at("benchmarks");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_THAT(result.out, HasSubstr("1 case needs a GPU\n"));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(entries[i].at("tbench").at("verification").at("passed"));
    EXPECT_GT(entries[i].at("forward_ms").get<double>(), 0.0);
    EXPECT_GT(entries[i].at("backward_ms").get<double>(), 0.0);
    // batch 2, 2 heads, 96 tokens, head_dim 32, causal: forward 4 * 2 * 2 * 96 * 96 * 32 / 2 = 2,359,296; in all 3.5
    // times that
    EXPECT_EQ(entries[i].at("tbench").at("work").at("flop").get<double>(), 8'257'536.0);
    EXPECT_EQ(entries[i].at("tbench").at("work").at("tokens"), 2 * 96);
  }
  ASSERT_EQ(
      run({"--benchmark_filter=Attention/.*precision:fp32/impl:flash$", "--benchmark_out=" + path("b.json")}).status,
      0);
  const nlohmann::json refused = read(path("b.json")).at("benchmarks");
  ASSERT_FALSE(refused.empty()) << "nothing else is selected";
  EXPECT_EQ(refused[0].at("tbench").at("status"), "unsupported");
  EXPECT_THAT(refused[0].at("error_message"), HasSubstr("CPU"));
}

TEST_F(Program, SmokeMeasuresMatrixProductsOnTheCpu) {
  const CommandResult result = run({"--benchmark_filter=Gemm/m:37/.*", "--benchmark_out=" + path("a.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json entries = read(path("a.json")).at("benchmarks");
  ASSERT_EQ(entries.size(), 2U);  // fp32 and bf16; two implementations need a GPU
  for (const nlohmann::json& entry : entries) {
    // 2 * 37 * 53 * 29
    EXPECT_EQ(entry.at("tbench").at("work").at("flop").get<double>(), 113'738.0);
    EXPECT_GT(entry.at("real_time").get<double>(), 0.0);
    EXPECT_GT(entry.at("relative_error").get<double>(), 0.0);
  }
  EXPECT_LT(entries[0].at("relative_error").get<double>(), 1e-6);
  EXPECT_GT(entries[1].at("relative_error").get<double>(), 1e-4);
  EXPECT_EQ(entries[0].at("tbench").at("work").at("ceiling"), "gemm_fp32");
}

TEST_F(Program, WhatTheCpuCannotDoIsUnsupportedWithItsReason) {
  const CommandResult result = run({"--tb_axis=Model.precision=fp16,tf32", "--benchmark_filter=train_step.*eager$",
                                    "--benchmark_out=" + path("a.json")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("unsupported"));
  const nlohmann::json file = read(path("a.json"));
  ASSERT_EQ(file.at("benchmarks").size(), 2U);
  for (const nlohmann::json& entry : file.at("benchmarks")) {
    EXPECT_FALSE(entry.contains("real_time"));
    EXPECT_EQ(entry.at("tbench").at("status"), "unsupported");
    EXPECT_NE(entry.at("error_message"), "");
  }
}

TEST_F(Program, ListsWithoutWorking) {
  const CommandResult result = run({"--benchmark_list_tests", "--tb_suite=full", "--benchmark_filter=2.7B.*eager$"});
  EXPECT_EQ(result.status, 0);
  // 2.7B: 4 contexts x 3 passes x 2 precisions, and 3 passes x {tf32, fp16} at 512
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 4 * 3 * 2 + 3 * 2);
}

TEST_F(Program, BadUsageExits2BeforeAnyWork) {
  const std::vector<std::vector<std::string>> bad{
      {"--tb_suit=full"},
      {"--benchmark_filter=Model/("},
      {"--benchmark_filter=nothing_like_this"},
      {"--tb_axis=Model.ctx=many"},
      {"--tb_size=x:1,2"},
      {"--benchmark_out=" + path("no/such/folder/a.json")},
      {"--tb_resume"},
  };
  for (const auto& flags : bad) {
    const CommandResult result = run(flags);
    EXPECT_EQ(result.status, 2) << flags.front();
    EXPECT_EQ(result.out, "") << flags.front();
    EXPECT_THAT(result.err, HasSubstr("transformer_bench: ")) << flags.front();
  }
}

TEST_F(Program, AskingForAGpuWithoutOneExits2) {
  const CommandResult result =
      run_command({"env", "CUDA_VISIBLE_DEVICES=", TBENCH_PROGRAM, "--tb_device=cuda", "--tb_suite=smoke", kOneCase});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no CUDA device"));
}

TEST_F(Program, ResumeKeepsWhatIsThereAndMeasuresTheRest) {
  const std::string out = "--benchmark_out=" + path("a.json");
  ASSERT_EQ(run({kOneCase, out}).status, 0);
  const double first = read(path("a.json")).at("benchmarks")[0].at("real_time").get<double>();
  const CommandResult resumed = run(
      {"--benchmark_filter=Model/size:tiny/.*pass:train_step/precision:fp32/impl:(eager|sdpa)", out, "--tb_resume"});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  const nlohmann::json file = read(path("a.json"));
  ASSERT_EQ(file.at("benchmarks").size(), 2U);
  EXPECT_EQ(file.at("benchmarks")[0].at("real_time").get<double>(), first);
}

TEST_F(Program, PackedResultsAreWrittenAndResumed) {
  const auto unpacked = [&] { return nlohmann::json::parse(run_command({"gzip", "-dc", path("a.json.gz")}).out); };
  const std::string out = "--benchmark_out=" + path("a.json.gz");
  ASSERT_EQ(run({kOneCase, out}).status, 0);
  const double first = unpacked().at("benchmarks")[0].at("real_time").get<double>();
  const CommandResult resumed = run(
      {"--benchmark_filter=Model/size:tiny/.*pass:train_step/precision:fp32/impl:(eager|sdpa)", out, "--tb_resume"});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  ASSERT_EQ(unpacked().at("benchmarks").size(), 2U);
  EXPECT_EQ(unpacked().at("benchmarks")[0].at("real_time").get<double>(), first);
  EXPECT_FALSE(std::filesystem::exists(path("a.json.gz.journal")));
}

TEST_F(Program, ResumeRefusesResultsOfAnotherBuild) {
  ASSERT_EQ(run({kOneCase, "--benchmark_out=" + path("a.json")}).status, 0);
  std::ifstream in{path("a.json")};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  const std::string digest = nlohmann::json::parse(text)["context"]["tbench"]["environment"]["sources_digest"];
  text.replace(text.find(digest), 4, "0000");
  std::ofstream{path("a.json")} << text;
  const CommandResult result = run({kOneCase, "--benchmark_out=" + path("a.json"), "--tb_resume"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("different build"));
}

TEST_F(Program, JsonOnStdoutIsTheFilesContent) {
  const CommandResult result = run({kOneCase, "--benchmark_format=json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("benchmarks").size(), 1U);
  EXPECT_TRUE(json.at("context").contains("tbench"));
}

TEST_F(Program, FixedCountsAreKept) {
  const CommandResult result = run({kOneCase, "--tb_warmup=2", "--tb_samples=7", "--benchmark_out=" + path("a.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(read(path("a.json")).at("benchmarks")[0].at("iterations"), 7);
}

TEST_F(Program, RunsInThisProcessTheSame) {
  const CommandResult result = run({kOneCase, "--tb_isolate=none", "--benchmark_repetitions=2"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2 cases: "));
}

}  // namespace
}  // namespace tbench::test
