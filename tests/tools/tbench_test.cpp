// Tests tbench as a user runs it: exit statuses and messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kGolden = TBENCH_TEST_DATA "/results_golden.json";

support::ChildResult tbench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TBENCH_TOOL);
  return support::run_tool(arguments);
}

/// Expects exit status 2, nothing on stdout, and one line on stderr.
void expect_usage_error(const std::vector<std::string>& arguments, const testing::Matcher<std::string>& message) {
  const support::ChildResult result = tbench(arguments);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(StartsWith("tbench: "), message));
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
}

TEST(Tbench, HelpAndVersion) {
  EXPECT_THAT(tbench({"--help"}).out, HasSubstr("report"));
  EXPECT_EQ(tbench({"--help"}).exit_status, 0);
  const support::ChildResult help = tbench({"report", "--help"});
  EXPECT_EQ(help.exit_status, 0);
  for (const char* flag : {"--markdown", "--filter", "--pivot", "--show", "--update", "--section"}) {
    EXPECT_THAT(help.out, HasSubstr(flag));
  }
  EXPECT_EQ(tbench({"--version"}).exit_status, 0);
  EXPECT_THAT(tbench({"--version"}).out, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Tbench, AFullDiskIsSeenHoweverShortTheOutput) {
  for (const std::string& command :
       {" report " + kGolden, std::string{" --version"}, std::string{" durations --help"}}) {
    const support::ChildResult result = support::run_tool({"/bin/sh", "-c", TBENCH_TOOL + command + " > /dev/full"});
    EXPECT_EQ(result.exit_status, 2) << command;
    EXPECT_EQ(
        result.err,
        "tbench: cannot write the output: No space left on device. Free some space there, or choose another folder.\n")
        << command;
  }
}

TEST(Tbench, WrongCommandLines) {
  expect_usage_error({"repotr", kGolden}, AllOf(HasSubstr("'repotr'"), HasSubstr("did you mean 'report'?")));
  expect_usage_error({"zzz"},
                     AllOf(HasSubstr("unknown command 'zzz'"), HasSubstr("'tbench --help' lists the commands")));
  expect_usage_error({"report"}, HasSubstr("FILE"));
  expect_usage_error({"report", kGolden, "--repeat", "--study=precision"}, HasSubstr("--study and --repeat exclude"));
  expect_usage_error({"report", kGolden, "--over=impl:flash"}, HasSubstr("--of and --over belong together"));
  expect_usage_error({"report", kGolden, "--check=README.md"}, HasSubstr("take commands from the page"));
  expect_usage_error({"report", kGolden, "--markdwon"},
                     AllOf(HasSubstr("unknown flag '--markdwon'"), HasSubstr("did you mean '--markdown'?")));
  expect_usage_error({"report", kGolden, "--pivto=ctx"},
                     AllOf(HasSubstr("unknown flag '--pivto'"), HasSubstr("did you mean '--pivot=ctx'?")));
  expect_usage_error({"report", kGolden, "more.json"}, HasSubstr("add -o FILE.html"));
  expect_usage_error({"report", kGolden, "--show=memroy", "--pivot=ctx"},
                     AllOf(HasSubstr("--show"), HasSubstr("'memroy'"), HasSubstr("did you mean 'memory'?")));
  expect_usage_error({"report", kGolden, "--pivot=ctxt"}, AllOf(HasSubstr("'ctxt'"), HasSubstr("did you mean 'ctx'?")));
  expect_usage_error({"report", kGolden, "--filter=("}, HasSubstr("is not an extended regular expression"));
  expect_usage_error({"report", kGolden, "--filter=none"}, HasSubstr("no case of 6 matches 'none'"));
  expect_usage_error({"report", kGolden, "--section=a"}, HasSubstr("--update=FILE.md and --section=NAME"));
}

TEST(Tbench, UnreadableInput) {
  const support::TemporaryFolder folder;
  expect_usage_error({"report", folder.file("a.json")}, AllOf(HasSubstr("a.json"), HasSubstr("no such file")));
  support::write_text(folder.file("a.json"), "{\"context\": ");
  expect_usage_error({"report", folder.file("a.json")}, HasSubstr("cut off"));
}

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

TEST(TbenchReport, UpdatesASectionOfAMarkdownFile) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("README.md");
  support::write_text(path, "before\n<!-- tbench:gemm -->\nold\n<!-- /tbench:gemm -->\nafter\n");
  const std::vector<std::string> command{"report", kGolden, "--filter=Gemm", "--update=" + path, "--section=gemm"};
  const support::ChildResult result = tbench(command);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const std::string updated = results::read_whole_file(path);
  EXPECT_THAT(updated, StartsWith("before\n<!-- tbench:gemm -->\nGPU NVIDIA H200, driver"));
  EXPECT_THAT(updated, HasSubstr("| ok | 0.5000 |"));
  EXPECT_THAT(updated, testing::EndsWith("|\n<!-- /tbench:gemm -->\nafter\n"));
  EXPECT_EQ(tbench(command).exit_status, 0);
  EXPECT_EQ(results::read_whole_file(path), updated);
  expect_usage_error({"report", kGolden, "--update=" + path, "--section=other"},
                     AllOf(HasSubstr("README.md"), HasSubstr("'<!-- tbench:other -->' is missing")));
  expect_usage_error({"report", kGolden, "--update=" + folder.file("none.md"), "--section=a"}, HasSubstr("none.md"));
}

TEST(TbenchReport, WritesAndChecksTheTablesOfADocument) {
  const support::TemporaryFolder folder;
  results::write_result_file(folder.file("a.json.gz"), support::golden_file());
  const std::string path = folder.file("README.md");
  support::write_text(path,
                      "before\n<!-- tbench:gemm report a.json.gz\n     --filter=Gemm --no-environment -->\nold\n"
                      "<!-- /tbench:gemm -->\nafter\n");
  const support::ChildResult stale = tbench({"report", "--check=" + path});
  EXPECT_EQ(stale.exit_status, 1);
  EXPECT_THAT(stale.out, AllOf(HasSubstr("README.md: not what the results say"), HasSubstr("line 4:\n-old\n+")));
  const support::ChildResult updated = tbench({"report", "--update=" + path});
  EXPECT_EQ(updated.exit_status, 0) << updated.err;
  EXPECT_THAT(
      results::read_whole_file(path),
      AllOf(StartsWith("before\n<!-- tbench:gemm report a.json.gz\n     --filter=Gemm --no-environment -->\n**Gemm"),
            HasSubstr("| ok | 0.5000 |"), HasSubstr("|\n\nFrom " + support::golden_file().environment.gpu.value().name),
            testing::EndsWith(", build Release " + build_name(support::golden_file().environment) +
                              "\n<!-- /tbench:gemm -->\nafter\n")));
  EXPECT_EQ(tbench({"report", "--check=" + path}).exit_status, 0);
  support::write_text(path, results::read_whole_file(path) + "<!-- tbench:b -->\n<!-- /tbench:b -->\n");
  const support::ChildResult bare = tbench({"report", "--check=" + path});
  EXPECT_EQ(bare.exit_status, 1);
  EXPECT_THAT(bare.out, HasSubstr("the section 'b' has no command"));
  support::write_text(path, "<!-- tbench:c report a.json.gz --pivto=ctx -->\n<!-- /tbench:c -->\n");
  expect_usage_error({"report", "--check=" + path},
                     AllOf(HasSubstr("section 'c'"), HasSubstr("did you mean '--pivot=ctx'?")));
  support::write_text(path, "nothing\n");
  expect_usage_error({"report", "--update=" + path}, HasSubstr("no section has a command"));
}

/// Returns results whose samples are longer by 0.1 %.
results::ResultFile of_another_process(results::ResultFile file) {
  for (Record& record : file.records) {
    if (record.timing) support::scale_samples(*record.timing, 1.001);
  }
  return file;
}

TEST(TbenchReport, ADocumentHoldsAComparison) {
  const support::TemporaryFolder folder;
  results::ResultFile file = support::golden_file();
  file.interrupted = true;
  results::write_result_file(folder.file("a.json"), file);
  results::write_result_file(folder.file("b.json"), of_another_process(file));
  const std::string path = folder.file("README.md");
  support::write_text(path, "<!-- tbench:sides diff a.json --to b.json --filter=Gemm -->\n<!-- /tbench:sides -->\n");
  EXPECT_EQ(tbench({"report", "--update=" + path}).exit_status, 0);
  const std::string document = results::read_whole_file(path);
  // The document names the files as the marker does, wherever the document is.
  EXPECT_THAT(document, AllOf(HasSubstr("\n- base: a.json ("),
                              HasSubstr("\n- warning: 'a.json' and 1 other: the run was interrupted\n"),
                              HasSubstr("| outcome | case |"), HasSubstr("| Gemm/m:")));
  EXPECT_EQ(tbench({"report", "--check=" + path}).exit_status, 0);
  support::write_text(path, "<!-- tbench:c diff a.json b.json --json -->\n<!-- /tbench:c -->\n");
  expect_usage_error({"report", "--check=" + path},
                     AllOf(HasSubstr("section 'c'"), HasSubstr("unknown flag '--json'")));
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

TEST(TbenchReport, DiffReadsPackedResultsLikePlainOnes) {
  const support::TemporaryFolder folder;
  results::write_result_file(folder.file("a.json"), support::golden_file());
  for (const char* name : {"b.json", "b.json.gz"}) {
    results::write_result_file(folder.file(name), of_another_process(support::golden_file()));
  }
  const support::ChildResult plain = tbench({"diff", folder.file("a.json"), folder.file("b.json"), "--markdown"});
  const support::ChildResult packed = tbench({"diff", folder.file("a.json"), folder.file("b.json.gz"), "--markdown"});
  EXPECT_EQ(packed.exit_status, plain.exit_status);
  EXPECT_THAT(packed.out, HasSubstr("b.json.gz"));
  std::string out = packed.out;
  for (auto at = out.find(".gz"); at != std::string::npos; at = out.find(".gz")) out.erase(at, 3);
  EXPECT_EQ(out, plain.out);
}

TEST(TbenchReport, ShowsWhatAKilledRunLeftInTheJournal) {
  const support::TemporaryFolder folder;
  results::ResultFile start = support::golden_file();
  start.records.clear();
  results::ResultWriter writer{folder.file("a.json"), start, std::chrono::hours{1}};
  for (std::int64_t i = 0; i < 3; ++i) writer.add(support::numbered_record(i));
  const support::ChildResult result = tbench({"report", folder.file("a.json")});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.err, HasSubstr("2 of 3 cases come from"));
  EXPECT_THAT(result.out, HasSubstr("3.000"));
}

TEST(TbenchReport, OfSeveralFilesOnesThatCannotBeReadArePassedOver) {
  const support::TemporaryFolder folder;
  const std::string golden = results::read_whole_file(kGolden);
  support::write_text(folder.file("whole.json"), golden);
  support::write_text(folder.file("cut.json"), golden.substr(0, 2'000));
  support::write_text(folder.file("notes.json"), "[]");
  const std::string page = folder.file("page.html");
  for (const std::vector<std::string>& files :
       {std::vector{folder.path()}, {folder.file("cut.json"), folder.file("whole.json")}}) {
    std::vector<std::string> arguments{"report", "-o", page};
    arguments.insert(arguments.end(), files.begin(), files.end());
    const support::ChildResult result = tbench(arguments);
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_THAT(result.err, HasSubstr("warning: passed over: '" + folder.file("cut.json") + "': the file is cut off"));
    const std::string left_out = "note: '" + folder.path() +
                                 "': left out 1 .json file that holds no results, such as '" +
                                 folder.file("notes.json") + "'\n";
    EXPECT_EQ(result.err.find(left_out) != std::string::npos, files.size() == 1);
    EXPECT_THAT(results::read_whole_file(page), StartsWith("<!doctype html>"));
    std::filesystem::remove(page);
  }
  EXPECT_EQ(tbench({"report", folder.path(), "--study=scaling"}).exit_status, 1);
  expect_usage_error({"report", folder.file("cut.json"), "-o", page}, HasSubstr("cut.json': the file is cut off"));
  expect_usage_error({"report", folder.file("cut.json"), folder.file("notes.json"), "-o", page},
                     HasSubstr("cut.json'"));
  support::write_text(folder.file("page.md"),
                      "<!-- tbench:a report cut.json whole.json --repeat -->\n<!-- /tbench:a -->\n");
  expect_usage_error({"report", "--update=" + folder.file("page.md")}, HasSubstr("cut.json': the file is cut off"));
}

TEST(TbenchStudy, PrintsATableInEveryFormat) {
  const support::TemporaryFolder folder;
  const auto run = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"report", "--study", "scaling", "--filter=size:small/.*bf16", kGolden});
    const support::ChildResult result = tbench(flags);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    return result.out;
  };
  EXPECT_THAT(run({}), AllOf(StartsWith("scaling: "), HasSubstr("[1] ./transformer_bench --tb_study=scaling")));
  EXPECT_THAT(run({"--markdown"}), AllOf(StartsWith("**scaling: "), HasSubstr("| pass | ctx:128 | ctx:256 |")));
  EXPECT_THAT(run({"--csv"}),
              StartsWith("table,size,batch,pass,precision,impl,ctx:128,ctx:256,ctx:512,ctx:1024,exponent of ctx,r²,"));
  EXPECT_THAT(run({"--latex"}), AllOf(HasSubstr("\\begin{longtable}{lrrrrrrl}"), HasSubstr("forward\\_backward")));
  EXPECT_THAT(run({"--markdown"}), HasSubstr("LibTorch"));
  EXPECT_THAT(run({"--markdown", "--no-environment"}), Not(HasSubstr("LibTorch")));
  EXPECT_EQ(results::Json::parse(run({"--json"})).at("tables").size(), 3U);
  EXPECT_EQ(run({"-o", folder.file("page.html")}), "");
  EXPECT_THAT(results::read_whole_file(folder.file("page.html")), StartsWith("<!doctype html>"));
  for (const auto& [file, flag] :
       {std::pair{"page.md", "--markdown"}, {"page.csv", "--csv"}, {"page.tex", "--latex"}, {"page.json", "--json"}}) {
    EXPECT_EQ(run({"-o", folder.file(file)}), "");
    EXPECT_EQ(results::read_whole_file(folder.file(file)), run({flag})) << file;
  }
  support::write_text(folder.file("README.md"), "<!-- tbench:s -->\n<!-- /tbench:s -->\n");
  EXPECT_EQ(run({"--update=" + folder.file("README.md"), "--section=s"}), "");
  EXPECT_THAT(results::read_whole_file(folder.file("README.md")), StartsWith("<!-- tbench:s -->\n**scaling: "));
  EXPECT_THAT(run({"--axis=Model.impl=sdpa", "--csv"}), HasSubstr("--tb_axis=Model.impl=sdpa"));
}

TEST(TbenchStudy, KernelsComeFromTheTracesOfAFile) {
  const support::ChildResult traced = tbench({"report", "--study=top_kernels", "--axis=Model.impl=sdpa",
                                              "--filter=small/ctx:512/.*train_step.*bf16", kGolden, "--csv"});
  EXPECT_EQ(traced.exit_status, 0) << traced.err;
  EXPECT_THAT(traced.out, HasSubstr("forward,gemm,85,12.30,100.0,144.7,3.333,100.0,200.0,gemm\n"));
  const support::ChildResult untraced =
      tbench({"report", "--study=top_kernels", "--filter=small/ctx:512/.*pass:forward/.*bf16", kGolden});
  EXPECT_EQ(untraced.exit_status, 0) << untraced.err;
  EXPECT_THAT(untraced.out, AllOf(HasSubstr("1 of 1 cases have a time and no trace: --tb_trace=on records one."),
                                  HasSubstr("[1] ./transformer_bench --tb_study=top_kernels --tb_trace=on")));
}

TEST(TbenchStudy, WithoutAnyOfItsCasesWarns) {
  for (const char* const format : {"--markdown", "--json", "--csv"}) {
    const support::ChildResult result = tbench({"report", "--study=accumulation", kGolden, format});
    EXPECT_EQ(result.exit_status, 1) << format;
    EXPECT_THAT(result.err, AllOf(HasSubstr("warning: --study=accumulation: no case of it is measured in '"),
                                  HasSubstr("Measure it: transformer_bench --tb_study=accumulation\n")));
    EXPECT_NE(result.out, "") << "the table has the command";
  }
}

TEST(TbenchStudy, WrongCommandLines) {
  const std::vector<std::string> study{"report", "--study=scaling", kGolden};
  const auto with = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), study.begin(), study.end());
    return flags;
  };
  expect_usage_error({"report", "--study=scalin", kGolden}, HasSubstr("did you mean 'scaling'?"));
  expect_usage_error({"report", "--csv", kGolden}, HasSubstr("add --study=NAME"));
  expect_usage_error({"report", "--axis=Model.ctx=1", kGolden}, HasSubstr("add --study=NAME"));
  expect_usage_error(with({"--csv", "--latex"}), HasSubstr("exclude each other"));
  expect_usage_error(with({"--csv", "--json"}), HasSubstr("exclude each other"));
  expect_usage_error(with({"--markdown", "-o", "x.html"}), HasSubstr("exclude each other"));
  expect_usage_error(with({"--pivot=heads"}), HasSubstr("no such parameter of the study"));
  expect_usage_error(with({"--top=3"}), HasSubstr("--top=3: scaling has no ranking"));
  expect_usage_error(with({"--axis=Model.ctx"}), AllOf(HasSubstr("--axis=Model.ctx"), HasSubstr("no '='")));
  expect_usage_error(with({"--axis=Model.ctxt=1"}), HasSubstr("did you mean 'Model.ctx'?"));
  expect_usage_error(with({"-o", kGolden}), HasSubstr("is one of the inputs"));
}

}  // namespace
}  // namespace tbench::tool
