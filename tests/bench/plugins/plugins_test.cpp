// Tests correct plug-ins: they are measured next to the built-in implementations, and the output names them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "plugin_program.hpp"

namespace tbench::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Plugins = PluginProgram;

TEST_F(Plugins, AnHonestOneIsMeasuredInEveryFamily) {
  const CommandResult result = run({flag("honest"), "--benchmark_filter=impl:honest$"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::map<std::string, int> measured;
  for (const nlohmann::json& entry : entries()) {
    const nlohmann::json& about = entry.at("tbench");
    if (about.at("parameters").at("precision") != "fp32") {
      EXPECT_EQ(about.at("status"), "unsupported") << entry.at("name");
      continue;
    }
    if (about.at("status") == "unsupported") {
      EXPECT_EQ(entry.at("error_message"), "honest has no backward pass") << entry.at("name");
      continue;
    }
    EXPECT_TRUE(entry.contains("real_time")) << entry.at("name") << about.at("status");
    EXPECT_TRUE(about.at("verification").at("passed"));
    ++measured[about.at("family")];
  }
  // Attention: three passes, and one with a full mask. Gemm: two shapes. Kernel: rmsnorm and softmax with forward and
  // backward, and add.
  EXPECT_EQ(measured, (std::map<std::string, int>{{"Attention", 4}, {"Gemm", 2}, {"Kernel", 5}}));
  const nlohmann::json facts = contents().at("context").at("tbench").at("environment").at("versions");
  EXPECT_THAT(facts.at("plugin.honest").get<std::string>(), StartsWith("libhonest.so sha256:"));
}

TEST_F(Plugins, TheReasonOfWhatItDoesNotSupportIsItsOwn) {
  ASSERT_EQ(run({flag("honest"), "--benchmark_filter=Gemm/m:64/.*precision:bf16/impl:honest$"}).status, 0);
  EXPECT_EQ(by_impl().at("honest").at("error_message"), "honest computes in float32 alone");
}

TEST_F(Plugins, ItsNameJoinsTheAxesOfTheOperationsItHas) {
  const std::string names = run({flag("honest"), "--benchmark_list_tests"}).out;
  EXPECT_THAT(names, HasSubstr("Gemm/m:64/n:96/k:128/precision:fp32/impl:honest\n"));
  EXPECT_THAT(names, HasSubstr("op:rmsnorm/size:tiny/ctx:64/batch:4/pass:backward/precision:bf16/impl:honest\n"));
  EXPECT_THAT(names, Not(HasSubstr("op:rope/size:tiny/ctx:64/batch:4/pass:forward/precision:fp32/impl:honest")));
  const std::string chosen = run({flag("honest"), "--benchmark_list_tests", "--tb_axis=Attention.impl=honest,naive",
                                  "--benchmark_filter=Attention/.*full_mask|Attention/.*causal:1/.*fp32"})
                                 .out;
  EXPECT_EQ(std::ranges::count(chosen, '\n'), 3 * 2);
}

TEST_F(Plugins, ItsCasesComeLastInAProcessOfTheirOwn) {
  ASSERT_EQ(run({flag("honest"), "--benchmark_filter=Gemm/.*fp32/impl:(aten|honest)$"}).status, 0);
  std::vector<std::string> impls;
  for (const nlohmann::json& entry : entries()) impls.push_back(entry.at("tbench").at("parameters").at("impl"));
  EXPECT_THAT(impls, ::testing::ElementsAre("aten", "aten", "honest", "honest"));
}

TEST_F(Plugins, ItRunsWithoutAChildProcessToo) {
  const CommandResult result =
      run({flag("honest"), kOneProduct + std::string{"impl:(aten|honest)"}, "--tb_isolate=none"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(by_impl().size(), 2U);
}

TEST_F(Plugins, AnotherBuildOfItIsAnotherVersion) {
  const std::string file = path("libhonest.so"), first = path("first.json");
  std::filesystem::copy_file(library("honest"), file);
  const std::string filter = kOneProduct + std::string{"impl:honest"};
  ASSERT_EQ(run({"--tb_plugin=" + file, filter}).status, 0);
  std::filesystem::copy_file(out_, first);
  std::ofstream{file, std::ios::app} << "rebuilt";  // appended after the part that the loader reads
  ASSERT_EQ(run({"--tb_plugin=" + file, filter}).status, 0);
  const CommandResult compared = run_command({TBENCH_TOOL, "diff", first, "--to", out_});
  EXPECT_THAT(compared.out + compared.err,
              AllOf(HasSubstr("plugin.honest: libhonest.so sha256:"), HasSubstr(" against ")));
  std::filesystem::copy_file(first, out_, std::filesystem::copy_options::overwrite_existing);
  const CommandResult resumed = run({"--tb_plugin=" + file, filter, "--tb_resume"});
  EXPECT_EQ(resumed.status, 2);
  EXPECT_THAT(resumed.err, HasSubstr("different version of plugin.honest"));
}

TEST_F(Plugins, OneThatChangesDuringTheRunMakesNoNumbers) {
  const std::string described =
      R"([{"path":")" + library("honest") + R"(","name":"honest","digest":"0000","parts":["Gemm"]}])";
  const CommandResult result = run({flag("honest"), "--tb_described_plugins=" + described, "--tb_isolate=none",
                                    kOneProduct + std::string{"impl:(aten|honest)"}});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(status_of(by_impl().at("aten")), is_measured());
  EXPECT_THAT(by_impl().at("honest").at("error_message").get<std::string>(),
              HasSubstr("has changed since the run began"));
}

TEST_F(Plugins, HelpNamesTheFlag) { EXPECT_THAT(run({"--help"}).out, HasSubstr("--tb_plugin FILE")); }

}  // namespace
}  // namespace tbench::test
