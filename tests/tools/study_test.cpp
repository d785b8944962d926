// Tests `tbench report --study` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
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
