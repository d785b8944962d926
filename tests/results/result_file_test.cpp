// Tests that the message for every kind of unreadable results file names the file, the problem and a hint.
#include "tbench/results/result_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::results {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& path) {
  try {
    static_cast<void>(read_result_file(path));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ResultFile, SurvivesTheDisk) {
  const support::TemporaryFolder folder;
  write_result_file(folder.file("a.json"), support::golden_file());
  EXPECT_EQ(read_result_file(folder.file("a.json")), support::golden_file());
}

TEST(ResultFile, SaysWhatIsWrongAndWhatToDo) {
  const std::string good = read_whole_file(TBENCH_TEST_DATA "/results_golden.json");
  std::string future = good;
  const std::string version = "\"schema_version\": 11";
  future.replace(future.find(version), version.size(), "\"schema_version\": 12");
  std::string wrong_field = good;
  const std::string status = "\"status\": \"oom\"";
  wrong_field.replace(wrong_field.find(status), status.size(), "\"status\": \"lost\"");
  struct Expected {
    const char* what;
    std::string content;
    const char* problem;
    const char* remedy;
  };
  const std::vector<Expected> cases{
      {"empty", "", "the file is empty", "--benchmark_out"},
      {"cut off in the middle", good.substr(0, good.size() / 2), "cut off after", "--tb_resume"},
      {"cut off before the end", good.substr(0, good.size() - 3), "cut off after", "--tb_resume"},
      {"no JSON", "name,iterations,real_time\n", "not JSON, at byte", "--benchmark_out"},
      {"JSON and more", good + "x", "not JSON, at byte", "--benchmark_out"},
      {"a number too large", R"({"context": 1e999})", "not JSON", "--benchmark_out"},
      {"other JSON", R"({"a": 1})", "not of a benchmark", "--benchmark_out"},
      {"a JSON array", "[]", "not of a benchmark", "--benchmark_out"},
      {"Google Benchmark's", R"({"context": {"date": ""}, "benchmarks": []})", "without 'context.tbench'",
       "--benchmark_out"},
      {"another version", future, "schema version 12, and this program reads versions 1 to 11",
       "use the program of the build"},
      {"a wrong field", wrong_field, "benchmarks[1].tbench.status: unknown value 'lost'", "measure again"},
  };
  const support::TemporaryFolder folder;
  const std::string path = folder.file("results.json");
  for (const Expected& expected : cases) {
    support::write_text(path, expected.content);
    EXPECT_THAT(error_of(path), AllOf(HasSubstr(path), HasSubstr(expected.problem), HasSubstr(expected.remedy)))
        << expected.what;
  }
  EXPECT_THAT(error_of(folder.file("none.json")), AllOf(HasSubstr("none.json"), HasSubstr("no such file")));
  EXPECT_THAT(error_of(folder.path()), HasSubstr("is a folder; give the files in it: "));
}

}  // namespace
}  // namespace tbench::results
