// Tests the exit statuses and messages of tbench for help, mistakes and a full disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench_command.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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

}  // namespace
}  // namespace tbench::tool
