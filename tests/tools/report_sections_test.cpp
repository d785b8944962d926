// Tests that `tbench report` writes and checks the sections of Markdown files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench_command.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

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

}  // namespace
}  // namespace tbench::tool
