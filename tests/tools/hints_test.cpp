// Tests that a mistaken command line of tbench gets the right one as an answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

using testing::HasSubstr;

class Hints : public testing::Test {
 protected:
  Hints() {
    results::ResultFile file = support::golden_file();
    file.interrupted = false;
    for (const char* const name : {"a.json", "b.json", "a2.json", "b2.json"}) {
      results::write_result_file(folder_.file(name), file);
    }
    std::filesystem::create_directory(folder_.file("results"));
    std::filesystem::copy_file(folder_.file("a.json"), folder_.file("results/a.json"));
    std::filesystem::create_directory(folder_.file("empty"));
    EXPECT_EQ(tbench("history --db=" + folder_.file("tbench.db") + " --import=" + folder_.file("results")).exit_status,
              0);
  }

  /// Runs tbench in the folder.
  [[nodiscard]] support::ChildResult tbench(const std::string& arguments) const {
    return support::run_tool({"sh", "-c", "cd '" + folder_.path() + "' && " TBENCH_TOOL " " + arguments});
  }
  void expect_answer(const std::string& arguments, const std::string& answer) const {
    const support::ChildResult result = tbench(arguments);
    EXPECT_EQ(result.exit_status, 2) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_THAT(result.err, HasSubstr(answer)) << arguments;
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  }

  support::TemporaryFolder folder_;
};

TEST_F(Hints, KnowsTheCommandsOfOtherPrograms) {
  expect_answer("compare a.json b.json", "unknown command 'compare'; did you mean 'diff'?");
  expect_answer("join a.json b.json -o c.json", "did you mean 'merge'?");
  expect_answer("hist", "did you mean 'history'?");
  expect_answer("help", "did you mean '--help'?");
  expect_answer("-v", "did you mean '--version'?");
  expect_answer("zzz", "unknown command 'zzz'; 'tbench --help' lists the commands");
}

TEST_F(Hints, FindsTheCommandOfFiles) {
  expect_answer("a.json", "'a.json' is a file, not a command; did you mean 'tbench report a.json'?");
  expect_answer("a.json b.json", "did you mean 'tbench diff a.json b.json'?");
  expect_answer("tbench.db", "did you mean 'tbench history --db=tbench.db'?");
  expect_answer("--filter=bf16 report a.json",
                "'--filter=bf16' stands before the command; did you mean 'tbench report --filter=bf16'?");
}

TEST_F(Hints, SuggestsFlagsWithTheirValues) {
  expect_answer("history --days=30", "unknown flag '--days'; did you mean '--nights=30'?");
  expect_answer("report --pviot=ctx a.json", "did you mean '--pivot=ctx'?");
  expect_answer("report a.json --html=a.html", "did you mean '--output=a.html'?");
  expect_answer("diff a.json b.json --threshold=2", "did you mean '--tau=2'?");
  expect_answer("diff a.json b.json --verbose=1", "did you mean '--all'?");
  expect_answer("fleet a.json --days=30", "unknown flag '--days'; see 'tbench fleet --help'");
}

TEST_F(Hints, TakesUnitsOffNumbers) {
  expect_answer("gate b.json --wait=5s", "--wait: '5s' is not a number of seconds; did you mean '5'?");
  expect_answer("gate b.json --wait=2min", "did you mean '120'?");
  expect_answer("gate b.json --wait=soon", "--wait: 'soon' is not a time; give seconds, from 0 to 3600");
  expect_answer("diff a.json b.json --tau=2%", "--tau: '2%' is not a percentage; did you mean '2'?");
  expect_answer("history --nights=30d", "--nights: '30d' is not a whole number of at least 1; did you mean '30'?");
}

TEST_F(Hints, TellsStudiesFromFiles) {
  expect_answer("report --study=softmax a.json", "no such study; did you mean 'softmax_vs_matmul'?");
  expect_answer("report --study=top-kernels a.json", "did you mean 'top_kernels'?");
  expect_answer("report --study=top-kernel", "did you mean 'top_kernels'?");
  expect_answer("report --show=token a.json --pivot=ctx", "did you mean 'tokens'?");
  expect_answer("report --study a.json", "--study: 'a.json' is a file, not a study; write --study=NAME a.json");
}

TEST_F(Hints, TellsWhatAFileIsInsteadOfResults) {
  expect_answer("fleet results", "'results': is a folder; give the files in it: results/*.json");
  expect_answer("fleet empty", "'empty': is a folder; give the results files of another folder");
  expect_answer("gate tbench.db --db=a.json",
                "'tbench.db' is a history; did you mean 'tbench gate a.json "
                "--db=tbench.db'?");
  expect_answer("gate tbench.db", "did you mean 'tbench gate RUN --db=tbench.db'?");
}

TEST_F(Hints, NamesTheSidesOfAComparison) {
  expect_answer("diff a.json a.json", "'a.json' is both base and new; give two different files");
  expect_answer("diff a.json b.json --to ./b.json", "'b.json' is both base and new");
  expect_answer("diff a.json a2.json b.json b2.json",
                "4 files and no --to: put it before the new ones, e.g. a.json "
                "a2.json --to b.json b2.json");
  expect_answer("diff a.json", "e.g. a.json --to NEW");
}

TEST_F(Hints, RefusesAnEndingThatACommandDoesNotWrite) {
  expect_answer("report a.json -o report.md", "-o report.md: writes HTML; for Markdown use --markdown > report.md");
  expect_answer("history -o page.pdf", "-o page.pdf: writes HTML; give a name that ends in .html");
  expect_answer("merge a.json b.json -o joined.csv", "-o joined.csv: writes JSON; give a name that ends in .json");
  expect_answer("durations a.json -o table.json", "-o table.json: writes CSV; give a name that ends in .csv");
  expect_answer("diff a.json b.json --junit=report.html",
                "--junit report.html: writes XML; give a name that ends in .xml");
  EXPECT_EQ(tbench("report a.json -o page.HTML").exit_status, 0);
  EXPECT_EQ(tbench("report a.json -o page").exit_status, 0);
}

}  // namespace
}  // namespace tbench::tool
