// Tests that tables and messages take at most 100 columns, on a terminal and in a pipe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/page.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

const std::string kResults = TBENCH_SOURCE_DIR "/bench/results/nvidia_h100/";

support::ChildResult tbench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TBENCH_TOOL);
  return support::run_child(arguments);
}

/// Returns whether a line is a single word of a command, which cannot be divided.
bool is_one_word(std::string line) {
  if (line.ends_with(" \\")) line.resize(line.size() - 2);
  line.erase(0, line.find_first_not_of(' '));
  return line.find(' ') == std::string::npos || line.find('\'') != std::string::npos;
}

void expect_narrow(const std::string& text, const std::string& what) {
  for (const std::string& line : split(text, '\n')) {
    EXPECT_TRUE(render::display_width(line) <= render::kConsoleWidth || is_one_word(line)) << what << "\n" << line;
  }
}

/// Expects narrow output of a command that does not fail.
std::string expect_narrow_output(const std::vector<std::string>& arguments) {
  const support::ChildResult result = tbench(arguments);
  const std::string what = join(arguments, " ");
  EXPECT_LE(result.exit_status, 1) << what << result.err;
  EXPECT_NE(result.out, "") << what;
  expect_narrow(result.out + result.err, what);
  return result.out;
}

TEST(Widths, OfAReport) {
  const std::string file = kResults + "model/suite_4.json.gz";
  const std::string page = expect_narrow_output({"report", file});
  EXPECT_THAT(page, testing::Not(testing::HasSubstr("…"))) << "nothing is cut";
  expect_narrow_output({"report", file, "--pivot=pass,impl,precision", "--filter=^Model/"});
  expect_narrow_output({"report", file, "--limits"});
  const std::string off = kResults + "model/updates_off_";
  expect_narrow_output({"report", "--repeat", off + "1.json.gz", off + "2.json.gz", off + "3.json.gz"});
  expect_narrow_output({"report", file, "--host-times"});
  expect_narrow_output({"report", kResults + "manifest.json", "--manifest"});
  expect_narrow_output({"report", "--headline", file, "--price=H100=2"});
}

/// The commands that make the tables of a page of results, one per study and per table that compares.
TEST(Widths, OfStudiesAndComparisons) {
  const std::string folder = kResults + "studies";
  const std::string page = results::read_whole_file(folder + "/README.md");
  std::size_t count = 0;
  for (const render::MarkdownSection& section : render::sections_of(page)) {
    if (section.command.empty()) continue;
    std::vector<std::string> command{"sh", "-c", "cd \"$0\" && exec \"$@\"", folder, TBENCH_TOOL};
    command.insert(command.end(), section.command.begin(), section.command.end());
    const support::ChildResult result = support::run_child(command);
    EXPECT_EQ(result.exit_status, 0) << section.name << result.err;
    expect_narrow(result.out + result.err, section.name);
    ++count;
  }
  EXPECT_GT(count, 10U);
}

class WidthsOfFiles : public testing::Test {
 protected:
  /// Writes a run of five processes, whose times are `factor` times the usual ones.
  std::string run_file(const std::string& name, int day, double factor) {
    results::ResultFile file = support::golden_file();
    file.interrupted = false;
    file.environment.date = fmt_date(day);
    for (Record& record : file.records) {
      if (record.timing) support::scale_samples(*record.timing, factor * (1 + 0.0001 * day));
    }
    results::write_result_file(folder_.file(name), file);
    return folder_.file(name);
  }

  static std::string fmt_date(int day) { return std::string{"2026-01-0"} + std::to_string(day) + "T03:00:00Z"; }

  support::TemporaryFolder folder_;
};

TEST_F(WidthsOfFiles, OfTheGateAndTheHistory) {
  const std::string db = "--db=" + folder_.file("history.db");
  for (int day = 1; day < 9; ++day) {
    const std::string name = "night" + std::to_string(day) + ".json";
    const support::ChildResult night = tbench({"gate", run_file(name, day, day < 8 ? 1 : 1.5), db});
    expect_narrow(night.out + night.err, "gate");
    EXPECT_THAT(night.out, testing::HasSubstr("machine"));
  }
  expect_narrow_output({"history", db});
  expect_narrow_output({"history", db, "pass:train_step.*"});
}

TEST_F(WidthsOfFiles, OfWarningsAndErrors) {
  const std::string old = run_file("old.json", 1, 1);
  const std::string next = run_file("new.json", 2, 1.1);
  expect_narrow_output({"diff", old, next});
  const std::string far = folder_.file("a_folder_of_a_very_long_name_that_nobody_made/and_a_file_in_it.json");
  for (const std::vector<std::string>& mistake : std::vector<std::vector<std::string>>{
           {"report", far}, {"diff", old, far}, {"report", old, "-o", far}, {"gate", old, "--db=" + far}}) {
    const support::ChildResult result = tbench(mistake);
    EXPECT_EQ(result.exit_status, 2);
    expect_narrow(result.err, join(mistake, " "));
  }
}

}  // namespace
}  // namespace tbench::tool
