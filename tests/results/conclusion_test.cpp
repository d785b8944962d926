#include "tbench/results/conclusion.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"

namespace tbench::results {
namespace {

TEST(Conclusion, StandsBeforeTheRest) {
  const Json document = concluded("diff", {.outcome = "SAME", .why = {"a", "b"}, .next = "tbench x"}, {{"cases", 1}});
  EXPECT_EQ(document.dump(),
            R"({"schema":"tbench.diff/2","outcome":"SAME","why":["a","b"],"next":"tbench x","cases":1})");
}

TEST(Conclusion, HasANullWhereThereIsNothingToDo) {
  const Json document = concluded("gate", {.outcome = "PASSED", .why = {"a"}}, Json::object());
  EXPECT_TRUE(document.at("next").is_null());
  EXPECT_EQ(document.size(), 4U);
}

TEST(CorrectableError, IsAUsageErrorWithACommand) {
  try {
    throw CorrectableError{"no trace; trace it", "transformer_bench --tb_trace=on"};
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "no trace; trace it");
    EXPECT_EQ(dynamic_cast<const CorrectableError&>(error).next(), "transformer_bench --tb_trace=on");
  }
}

using Texts = std::vector<std::string>;

/// Returns the words that a shell reads, one per line.
std::string read_by_shell(const std::string& command_line) {
  return support::run_child({"/bin/sh", "-c", "printf '%s\\n' " + command_line}).out;
}

TEST(ShellCommand, QuotesWhatAShellWouldNotReadAsItIs) {
  const Texts words{"tbench", "--filter=^(a|b)$", "it's", "", "$HOME `x` \"y\" \\", "results/a_1.json"};
  EXPECT_EQ(command_line(Texts{"tbench", "diff", "a-b/c_1.json", "--tau=2"}), "tbench diff a-b/c_1.json --tau=2");
  EXPECT_EQ(command_line(Texts{"it's"}), "'it'\\''s'");
  EXPECT_EQ(read_by_shell(command_line(words)),
            "tbench\n--filter=^(a|b)$\nit's\n\n$HOME `x` \"y\" \\\nresults/a_1.json\n");
}

TEST(ShellCommand, AFilterIsOfTheNamesAlone) {
  EXPECT_EQ(exact_filter(Texts{"Model/size:2.7B"}), "^Model/size:2\\.7B$");
  EXPECT_EQ(exact_filter(Texts{"a", "b|c"}), "^(a|b\\|c)$");
}

ResultFile run_with(std::map<std::string, std::string> options) {
  ResultFile file;
  file.environment = support::gpu_environment();
  file.options = std::move(options);
  return file;
}

TEST(RunFlags, AreThoseThatMeasureTheSameAgain) {
  ResultFile file = run_with({{"suite", "full"},
                              {"filter", "size:small"},
                              {"seed", "7"},
                              {"repetitions", "1"},
                              {"min_time_s", "0.5"},
                              {"l2", "warm"},
                              {"trace", "on"},
                              {"axis.Model.ctx", "128,256"},
                              {"size.mine", "512,2048,6,8"}});
  file.environment.clock_policy = "locked base";
  const RunFlags run = run_flags(file);
  EXPECT_EQ(run.of_all,
            "--tb_suite=full --tb_trace=on --tb_axis=Model.ctx=128,256 --tb_size=mine:512,2048,6,8 --tb_l2=warm "
            "--tb_seed=7 '--tb_clock_policy=locked base'");
  EXPECT_EQ(run.filter, "size:small");
  const RunFlags study = run_flags(run_with({{"study", "precision"}, {"filter", "."}, {"seed", "1"}, {"l2", "cold"}}));
  EXPECT_EQ(study.of_all, "--tb_study=precision");
  EXPECT_EQ(study.filter, "");
  const RunFlags smoke = run_flags(run_with({{"suite", "smoke"}, {"verify", "twice one case per family"}}));
  EXPECT_EQ(smoke.of_all, "--tb_suite=smoke") << "no flag has that value";
  EXPECT_EQ(run_flags(run_with({{"suite", "smoke"}, {"verify", "once"}})).of_all, "--tb_suite=smoke --tb_verify=once");
}

TEST(RunFlags, NameThePlugins) {
  ResultFile file = run_with({{"study", "mine"}});
  file.environment.versions["plugin.mine"] = "libmine.so sha256:0123456789abcdef";
  file.environment.versions["plugin.yours"] = "a b.py:yours sha256:0123456789abcdef";
  EXPECT_EQ(run_flags(file).of_all, "--tb_study=mine --tb_plugin=libmine.so '--tb_plugin=a b.py:yours'");
  ASSERT_EQ(used_plugins(file.environment).size(), 2U);
  EXPECT_EQ(used_plugins(file.environment).back().name, "yours");
  EXPECT_TRUE(used_plugins(run_with({}).environment).empty());
}

TEST(RunFlags, NameAFewCasesAndElseTheRun) {
  const RunFlags run{.of_all = "--tb_suite=full", .filter = "small"};
  EXPECT_EQ(flags_for(run, Texts{"a"}), " --tb_suite=full --benchmark_filter='^a$'");
  EXPECT_EQ(flags_for(run, {}), " --tb_suite=full --benchmark_filter='small'");
  EXPECT_EQ(flags_for(run, Texts(kMaxNamed + 1, "a")), " --tb_suite=full --benchmark_filter='small'");
  EXPECT_EQ(flags_for({.of_all = {}, .filter = {}}, {}), "");
  EXPECT_EQ(flags_for({}, {}), " FLAGS");
}

TEST(RunFlags, MakeCommands) {
  const RunFlags run{.of_all = "--tb_suite=full", .filter = {}};
  EXPECT_EQ(profile_command("NEW/transformer_bench", run, "a"),
            "NEW/transformer_bench --tb_suite=full --benchmark_filter='^a$' --tb_profile=profile && tbench profile "
            "profile");
  EXPECT_EQ(trace_command(run, Texts{"a"}),
            "transformer_bench --tb_suite=full --benchmark_filter='^a$' --tb_trace=on --benchmark_out=traced.json && "
            "tbench report --limits traced.json");
  EXPECT_EQ(trace_command({.of_all = "--tb_trace=on", .filter = {}}, {}),
            "transformer_bench --tb_trace=on --benchmark_out=traced.json && tbench report --limits traced.json");
  EXPECT_EQ(limits_command("a b.json", "a"), "tbench report --limits 'a b.json' '--filter=^a$'");
  EXPECT_EQ(isolate_command("transformer_bench", run, Texts{"a", "b"}),
            "transformer_bench --tb_suite=full --benchmark_filter='^(a|b)$' --tb_isolate=case");
  // The program refuses a flag that is given twice.
  EXPECT_EQ(isolate_command("transformer_bench", {.of_all = "--tb_isolate=none --tb_suite=full"}, Texts{"a"}),
            "transformer_bench --tb_suite=full --benchmark_filter='^a$' --tb_isolate=case");
}

}  // namespace
}  // namespace tbench::results
