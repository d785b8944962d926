// Tests packed, unfinished and unreadable files as inputs of tbench.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_writer.hpp"
#include "tbench_command.hpp"

namespace tbench::tool {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

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
    EXPECT_THAT(result.err, HasSubstr("warning: skipped: '" + folder.file("cut.json") + "': the file is cut off"));
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

}  // namespace
}  // namespace tbench::tool
