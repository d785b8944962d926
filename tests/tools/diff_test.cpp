// Tests `tbench diff` as a user runs it: arguments, exit statuses, and what is written where.
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
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

support::ChildResult diff(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {TBENCH_TOOL, "diff"});
  return support::run_tool(arguments);
}

class TbenchDiff : public testing::Test {
 protected:
  /// Writes files of one process each, and returns their paths. Each file has one case with one of the given times.
  std::vector<std::string> processes(const std::string& prefix, const std::vector<double>& milliseconds,
                                     const std::string& clock_policy = "default",
                                     const std::string& gpu = "NVIDIA H200") {
    std::vector<std::string> paths;
    for (const double time : milliseconds) {
      results::ResultFile file;
      file.environment = support::gpu_environment();
      file.environment.clock_policy = clock_policy;
      file.environment.gpu->name = gpu;
      file.records = {support::timed_record(support::model_id("train_step", "sdpa"), Seconds{time / 1e3})};
      paths.push_back(folder_.file(prefix + std::to_string(paths.size()) + ".json"));
      results::write_result_file(paths.back(), file);
    }
    return paths;
  }

  static support::ChildResult diff_of(const std::vector<std::string>& base, const std::vector<std::string>& next,
                                      const std::vector<std::string>& flags = {}) {
    std::vector<std::string> arguments = base;
    arguments.emplace_back("--to");
    arguments.insert(arguments.end(), next.begin(), next.end());
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return diff(arguments);
  }

  support::TemporaryFolder folder_;
  std::vector<std::string> base_ = processes("base", {25.0, 25.02, 24.98});
  std::vector<std::string> same_ = processes("same", {25.01, 25.0, 24.99});
  std::vector<std::string> slow_ = processes("slow", {26.0, 26.02, 25.98});
  std::vector<std::string> noisy_ = processes("noisy", {24.0, 25.0, 26.0});
};

TEST_F(TbenchDiff, ExitStatuses) {
  EXPECT_EQ(diff_of(base_, same_).exit_status, 0);
  EXPECT_EQ(diff_of(base_, same_, {"--strict"}).exit_status, 0);
  EXPECT_EQ(diff_of(base_, slow_).exit_status, 1);
  EXPECT_EQ(diff_of(slow_, base_).exit_status, 0);
  EXPECT_EQ(diff_of(base_, slow_, {"--tau=5"}).exit_status, 0);
  EXPECT_EQ(diff_of(base_, noisy_).exit_status, 0);
  EXPECT_EQ(diff_of(base_, noisy_, {"--strict"}).exit_status, 4);
  EXPECT_EQ(diff({base_[0], slow_[0]}).exit_status, 0);
  EXPECT_EQ(diff({base_[0], slow_[0], "--strict"}).exit_status, 4);
  EXPECT_EQ(diff_of(base_, slow_, {"--cross"}).exit_status, 0);
}

TEST_F(TbenchDiff, CopiesAreNoReplicates) {
  const auto file_of = [&](const std::string& name, double factor) {
    results::ResultFile file;
    file.environment = support::gpu_environment();
    file.records = {support::full_record()};
    support::scale_samples(*file.records.front().timing, factor);
    results::write_result_file(folder_.file(name), file);
    return folder_.file(name);
  };
  const std::string a = file_of("a.json", 1);
  const std::string b = file_of("b.json", 1.06);
  EXPECT_EQ(diff({a, b}).exit_status, 0);
  for (const auto& [base, next] : std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>{
           {{a, a, a}, {b, b, b}}, {{a}, {b, file_of("c.json", 1.06)}}, {{a}, {file_of("d.json", 1)}}}) {
    const support::ChildResult result = diff_of(base, next);
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_THAT(result.err, AllOf(StartsWith("tbench: '"), HasSubstr("hold the same samples of Model/size:small"),
                                  HasSubstr("give each file once")));
  }
}

TEST_F(TbenchDiff, SaysWhatRegressed) {
  const support::ChildResult result = diff_of(base_, slow_);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out,
              AllOf(StartsWith("1 case is slower, by "), ContainsRegex("\nREGRESSED +[+]4[.]0 .*  Model small"),
                    HasSubstr("\n    1 REGRESSED\n"), Not(HasSubstr("\033"))));
  EXPECT_THAT(diff({base_[0], slow_[0]}).out, AllOf(StartsWith("Nothing is known of"), HasSubstr("1 UNDECIDED")));
  EXPECT_THAT(diff_of(base_, slow_, {"--all"}).out, ContainsRegex("\nREGRESSED .*  Model/size:small"));
}

TEST_F(TbenchDiff, NotComparable) {
  const std::vector<std::string> locked = processes("locked", {25, 25, 25}, "locked");
  const support::ChildResult refused = diff_of(base_, locked);
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err,
              AllOf(StartsWith("tbench: not comparable: "), HasSubstr("clock policies"), HasSubstr("--force")));
  const support::ChildResult forced = diff_of(base_, locked, {"--force"});
  EXPECT_EQ(forced.exit_status, 0);
  EXPECT_THAT(forced.err, StartsWith("warning: different clock policies"));
}

TEST_F(TbenchDiff, AnotherGpuIsComparedWithoutVerdicts) {
  const support::ChildResult result = diff_of(base_, processes("h100", {50, 50, 50}, "default", "NVIDIA H100"));
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("2.000"), HasSubstr("No outcomes"), Not(HasSubstr("REGRESSED"))));
}

TEST_F(TbenchDiff, Formats) {
  EXPECT_THAT(diff_of(base_, slow_, {"--markdown"}).out, StartsWith("**1 case: 1 REGRESSED**\n"));
  EXPECT_THAT(diff_of(base_, slow_, {"--csv"}).out, StartsWith("case,family,outcome,"));
  const support::ChildResult json = diff_of(base_, slow_, {"--json", "--junit=" + folder_.file("junit.xml")});
  EXPECT_EQ(json.exit_status, 1);
  EXPECT_EQ(results::Json::parse(json.out).at("cases").at(0).at("outcome"), "REGRESSED");
  EXPECT_THAT(results::read_whole_file(folder_.file("junit.xml")), HasSubstr("<failure message=\"REGRESSED +4.00 %"));
}

TEST_F(TbenchDiff, PlainGoogleBenchmarkJson) {
  const std::string path = folder_.file("plain.json");
  support::write_text(path,
                      R"({"context": {}, "benchmarks": [{"name": "BM_a/8", "real_time": 5, "time_unit": "ns"}]})");
  const std::string other = folder_.file("other.json");
  std::filesystem::copy_file(path, other);
  const support::ChildResult result = diff({path, other});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.err, HasSubstr("warning: '" + path + "' and 1 other: plain Google Benchmark JSON"));
  EXPECT_THAT(result.out, ContainsRegex("UNDECIDED .*  BM_a/8"));
}

/// Writes a file with a CUDA graph. One process per side is enough to judge it.
std::string graph_file(const support::TemporaryFolder& folder, const std::string& name, double milliseconds,
                       const std::string& uuid) {
  results::ResultFile file;
  file.environment = support::gpu_environment();
  file.environment.gpu->uuid = uuid;
  const CaseId id{"Model", {{"size", "small"}, {"exec", "graph"}}};
  file.records = {support::timed_record(id, Seconds{milliseconds / 1e3})};
  results::write_result_file(folder.file(name), file);
  return folder.file(name);
}

TEST_F(TbenchDiff, OneFileASideIsJudgedByKnownSpreads) {
  const std::string base = graph_file(folder_, "a.json", 25, "GPU-a");
  const support::ChildResult same = diff({base, graph_file(folder_, "b.json", 25.05, "GPU-a"), "--strict"});
  EXPECT_EQ(same.exit_status, 0);
  EXPECT_THAT(same.out, AllOf(StartsWith("Nothing is slower or faster than two processes of one build differ by.\n"),
                              HasSubstr("same GPU GPU-a"), HasSubstr("\n    1 SAME")));
  const std::string slow = graph_file(folder_, "c.json", 25.95, "GPU-a");
  const support::ChildResult slower = diff({base, slow});
  EXPECT_EQ(slower.exit_status, 0);
  EXPECT_EQ(diff({base, slow, "--strict"}).exit_status, 4);
  EXPECT_THAT(slower.out, AllOf(StartsWith("1 case is probably slower, by 3.3 to 4.3 %.\n"),
                                ContainsRegex("LIKELY_SLOWER .*  Model small graph"),
                                HasSubstr("\nnext:\n  for i in 1 2 3; do\n")));
  const support::ChildResult elsewhere = diff({base, graph_file(folder_, "d.json", 25.95, "GPU-b")});
  EXPECT_THAT(elsewhere.out, HasSubstr("another GPU of one model (GPU-a and GPU-b, NVIDIA H200), another host"));
}

TEST_F(TbenchDiff, SpreadsOfOnesOwnComeOverWhatIsBuiltIn) {
  const std::string base = graph_file(folder_, "a.json", 25, "GPU-a");
  const std::string slow = graph_file(folder_, "c.json", 25.95, "GPU-a");
  const std::string mine = folder_.file("mine.json");
  support::write_text(mine,
                      R"({"schema": "tbench.known_spreads/1", "gpus": [], "cases": [], "processes": [], "classes": [
      {"class": "graph", "apart": "processes", "limit": 0.1, "pairs": 9, "cells": 9}]})");
  EXPECT_THAT(diff({base, slow, "--spreads=" + mine}).out, HasSubstr("1 UNDECIDED"));
  support::write_text(mine, R"({"schema": "tbench.known_spreads/2"})");
  const support::ChildResult refused = diff({base, slow, "--spreads=" + mine});
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("mine.json': schema 'tbench.known_spreads/2'"), HasSubstr("Write it again")));
}

void expect_usage_error(const std::vector<std::string>& arguments, const testing::Matcher<std::string>& message) {
  const support::ChildResult result = diff(arguments);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(StartsWith("tbench: "), message));
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
}

TEST_F(TbenchDiff, WrongCommandLines) {
  const std::string& a = base_[0];
  const std::string& b = slow_[0];
  expect_usage_error({}, HasSubstr("BASE"));
  expect_usage_error({a}, HasSubstr("1 file and no --to"));
  expect_usage_error({a, a, a}, HasSubstr("3 files and no --to"));
  expect_usage_error({a, a, "--sort=nam"}, HasSubstr("did you mean 'name'?"));
  expect_usage_error({a, a, "--tau=0"}, HasSubstr("--tau: 0 is not a threshold"));
  expect_usage_error({a, a, "--tau=x"}, HasSubstr("--tau"));
  expect_usage_error({a, a, "--json", "--csv"}, HasSubstr("exclude each other"));
  expect_usage_error({a, b, "--filter=("}, HasSubstr("is not an extended regular expression"));
  expect_usage_error({a, b, "--filter=none"}, HasSubstr("no case of 1 matches 'none'"));
  expect_usage_error({a, a, "--markdwon"}, HasSubstr("did you mean '--markdown'?"));
  expect_usage_error({a, folder_.file("none.json")}, AllOf(HasSubstr("none.json"), HasSubstr("no such file")));
  expect_usage_error({a, b, "--junit=" + folder_.file("no/such/folder.xml")}, HasSubstr("no/such"));
}

}  // namespace
}  // namespace tbench::tool
