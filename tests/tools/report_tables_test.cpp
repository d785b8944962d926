// Tests the tables that `tbench report` prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench_command.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(TbenchReport, PrintsTables) {
  const support::ChildResult result = tbench({"report", kGolden});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, AllOf(StartsWith("GPU "), HasSubstr("\nModel, batch:4 precision:bf16\n"), HasSubstr("25.31"),
                                HasSubstr("oom"), HasSubstr("\nGemm, ")));
}

TEST(TbenchReport, PrintsMarkdownAndPivots) {
  const support::ChildResult result = tbench(
      {"report", "--markdown", "--no-environment", "--filter=^Model", "--pivot=size,ctx", "--show=tokens", kGolden});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.out,
            "**Model, batch:4 precision:bf16, tokens/s (* unstable or throttled; h limited by the host)**\n\n"
            "| pass | impl | size:small ctx:512 | size:2.7B ctx:1024 | marks |\n"
            "| --- | --- | ---: | ---: | --- |\n"
            "| train_step | sdpa | 80,910 |  | small/512 h |\n"
            "| train_step | eager |  | OOM |  |\n"
            "| forward | eager |  |  |  |\n");
}

TEST(TbenchReport, SaysWhatLimitsATracedStep) {
  const support::ChildResult result = tbench({"report", "--limits", kGolden, "--markdown"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("| host |"), HasSubstr("1234 launches"), HasSubstr("as a CUDA graph")));
  expect_usage_error({"report", "--limits", kGolden, "--filter=2.7B"}, HasSubstr("measure with --tb_trace=on"));
  expect_usage_error({"report", "--limits", "--repeat", kGolden},
                     HasSubstr("--repeat and --limits exclude each other"));
}

TEST(TbenchReport, TablesSideBySideShowWhatTheFilterSelects) {
  const support::ChildResult result = tbench({"report", "--repeat", kGolden, kGolden, kGolden, "--filter=^Gemm/"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("\n4096 tf32 "), Not(HasSubstr("train_step"))));
  expect_usage_error({"report", "--manifest", "manifest.json", "--filter=a"}, HasSubstr("leave out one of them"));
}

TEST(TbenchReport, TablesThatCompareHaveEveryFormat) {
  const std::string models = TBENCH_SOURCE_DIR "/bench/results/nvidia_h100/attention/models.json.gz";
  const auto ratios = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"report", models, "--of=impl:sdpa_cudnn", "--over=impl:flash"});
    const support::ChildResult result = tbench(flags);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    return result.out;
  };
  EXPECT_THAT(ratios({"--csv"}),
              StartsWith("case,\"flash, ms\",TFLOP/s,sdpa_cudnn / flash,best other,marks\nbatch:4 heads:12 "));
  const results::Json json = results::Json::parse(ratios({"--json"}));
  EXPECT_EQ(json.at("schema"), "tbench.study/2");
  EXPECT_EQ(json.at("title"), "Time of sdpa_cudnn over that of flash; above 1, flash is faster");
  EXPECT_GT(json.at("tables").at(0).at("rows").at(0).at(3).at("value"), 1.0);
  const results::Json pivoted =
      results::Json::parse(ratios({"--json", "--pivot=seq_len", "--rows=heads,pass,causal,precision"}));
  EXPECT_EQ(pivoted.at("tables").at(0).at("columns").at(0), "heads pass mask precision");
  EXPECT_TRUE(pivoted.at("tables").at(0).at("rows").at(0).at(1).at("value").is_number());
  EXPECT_THAT(ratios({"--latex", "--pivot=seq_len", "--rows=heads,pass"}), HasSubstr("\\begin{longtable}{lr"));
  expect_usage_error({"report", models, "--of=impl:sdpa_cudnn", "--over=impl:flash", "--pivot=seq_len", "--rows=heads"},
                     HasSubstr("--rows=heads: cases that differ in pass have the same row; add pass"));
  EXPECT_THAT(tbench({"report", "--repeat", kGolden, kGolden, kGolden, "--csv"}).out, StartsWith("case,"));
  EXPECT_THAT(tbench({"report", "--host-times", models, "--csv"}).out, StartsWith("family,entries,s,"));
  expect_usage_error(
      {"report", models, "--of=impl:sdpa_cudnn", "--over=impl:flash", "--pivot=seq_len", "--rows=heads", "--csv"},
      HasSubstr("leave out --pivot and --rows"));
  expect_usage_error({"report", "--limits", kGolden, "--csv"},
                     HasSubstr("--csv and --latex are for studies and comparisons"));
  expect_usage_error({"report", "--host-times", models, "--csv", "--json"}, HasSubstr("exclude each other"));
}

TEST(TbenchReport, TablesThatCompareArePages) {
  const support::TemporaryFolder folder;
  const std::string models = TBENCH_SOURCE_DIR "/bench/results/nvidia_h100/attention/models.json.gz";
  const std::string page = folder.file("page.html");
  const support::ChildResult result = tbench({"report", models, "--of=impl:sdpa_cudnn", "--over=impl:flash",
                                              "--pivot=seq_len", "--rows=heads,pass", "-o", page});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(results::read_whole_file(page), AllOf(HasSubstr("<th scope=\"col\">heads pass</th>"),
                                                    HasSubstr("NVIDIA H100"), HasSubstr("~ not sharp: ")));
  expect_usage_error({"report", "--limits", kGolden, "-o", page}, HasSubstr("--limits: there is no page of it"));
}

TEST(TbenchReport, TheHeadlineComparesTheGpusOfCommittedResults) {
  const std::string h100 = TBENCH_SOURCE_DIR "/bench/results/nvidia_h100/model/suite_6.json.gz";
  const std::string h200 = TBENCH_SOURCE_DIR "/bench/results/nvidia_h200/model/step_5.json.gz";
  const support::ChildResult result =
      tbench({"report", "--headline", h100, h200, "--price=H100=2", "--price=H200=2.60"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(StartsWith("H200 against H100 (5 sizes, geometric mean): "), HasSubstr("\n2.7B    H200  "),
                    HasSubstr("with H100 at 2.00 per hour, H200\n  breaks even at "),
                    HasSubstr(" more on H200 than on H100.")));
  expect_usage_error({"report", "--headline", h100, "--price=A100=2"}, HasSubstr("'A100' is no GPU of the files"));
  expect_usage_error({"report", h100, "--price=H100=2"}, HasSubstr("--price is for --headline"));
  expect_usage_error({"report", "--headline", h100, "--study=step"}, HasSubstr("--study and --headline exclude"));
  expect_usage_error({"report", "--headline", h100, "--csv", "--json"}, HasSubstr("--headline: --markdown, --csv"));
}

TEST(TbenchReport, ShowsTheCommittedExperimentsWithKernels) {
  const std::string file = TBENCH_SOURCE_DIR "/src/kernels/experiments.csv";
  const support::ChildResult result =
      tbench({"report", "--experiments", file, "--filter=^rmsnorm_backward_kernel: fused"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(StartsWith("1 experiment"), HasSubstr("fused kernel instead of the aten operators")));
  expect_usage_error({"report", "--experiments", kGolden}, HasSubstr("line 1: the columns are not date,commit"));
}

}  // namespace
}  // namespace tbench::tool
