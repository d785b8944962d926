// Tests the answers of tbench to mistaken command lines: a table of arguments and of what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "profile/nsys_samples.hpp"
#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/help.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

class Mistakes : public testing::Test {
 protected:
  Mistakes() {
    results::ResultFile file = support::golden_file();
    file.interrupted = false;
    std::filesystem::create_directory(folder_.file("results"));
    std::filesystem::create_directory(folder_.file("empty"));
    for (const char* const name : {"a.json", "b.json", "a2.json", "b2.json", "results/a.json"}) {
      results::write_result_file(folder_.file(name), file);
    }
    profile::write_one_step(folder_.file("step.sqlite"), profile::kNsysVersions[2]);
    support::write_text(folder_.file("step.nsys-rep"), "NVTS");
    support::write_text(folder_.file("step.ncu-rep"), "NVTS");
    support::write_text(folder_.file("page.html"), "<!DOCTYPE html>");
    support::write_text(folder_.file("table.csv"), "a,b");
    support::write_text(folder_.file("names.txt"), "sgemm");
    EXPECT_EQ(tbench("history --db=tbench.db --import=results").exit_status, 0);
    EXPECT_EQ(tbench("nsys step.sqlite -o traced").exit_status, 0);
  }

  /// Runs tbench in the folder.
  [[nodiscard]] support::ChildResult tbench(const std::string& arguments) const {
    return support::run_child({"sh", "-c", "cd '" + folder_.path() + "' && " TBENCH_TOOL " " + arguments});
  }

  support::TemporaryFolder folder_;
};

TEST_F(Mistakes, AreAnsweredWithWhatIsMeant) {
  std::ifstream table{TBENCH_SOURCE_DIR "/tests/data/mistakes_tbench.tsv"};
  std::size_t rows = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> columns = split(line, '\t');
    ASSERT_EQ(columns.size(), 2U) << line;
    const support::ChildResult result = tbench(columns[0]);
    EXPECT_EQ(result.exit_status, 2) << columns[0];
    EXPECT_EQ(result.err, "tbench: " + columns[1] + "\n") << columns[0];
    EXPECT_LE(render::display_width(result.err), render::kHelpWidth + 1) << columns[0];
    ++rows;
  }
  EXPECT_GT(rows, 150U);
}

}  // namespace
}  // namespace tbench::tool
