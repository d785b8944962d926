// Tests broken plug-ins. If a fault is visible before any work, the program prints one clear line. If it shows later,
// only the plug-in's cases fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "plugin_program.hpp"

namespace tbench::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Faults : public PluginProgram {
 protected:
  /// Expects one line of refusal, before any work.
  void expect_refusal(const std::string& path, const std::string& why) {
    const CommandResult result = run({"--tb_plugin=" + path, "--tb_timeout=3", kOneProduct});
    EXPECT_EQ(result.status, 2) << path;
    EXPECT_THAT(result.err, StartsWith("transformer_bench: --tb_plugin"));
    EXPECT_THAT(result.err, HasSubstr(path));
    EXPECT_THAT(result.err, HasSubstr(why));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "") << path;
    EXPECT_FALSE(std::filesystem::exists(out_));
  }
};

TEST_F(Faults, AWrongDescriptionIsRefused) {
  expect_refusal(library("another_abi"), "it has ABI version 2, this program takes 1: compile it with");
  expect_refusal(library("no_symbol"), "it exports no tbench_plugin(): define it with TBENCH_EXPORT");
  expect_refusal(library("null_description"), "tbench_plugin() returns NULL: return a description");
  expect_refusal(library("null_name"), "its name 'NULL' is not made of 1 to 32 letters");
  expect_refusal(library("bad_name"), "its name 'my kernel/1' is not made of 1 to 32 letters");
  expect_refusal(library("joins_nothing"), "it joins no family: set one of attention, gemm and kernel");
}

TEST_F(Faults, WhatIsJoinedHasToBeThere) {
  expect_refusal(library("null_function"), "its gemm has no launch(): set it");
  expect_refusal(library("unknown_op"), "op:rmsnrom: unknown; expected one of rmsnorm");
  expect_refusal(library("in_place_op"), "op:adamw, which works in place: plug-ins cannot join it");
}

TEST_F(Faults, ATakenNameIsRefused) {
  expect_refusal(library("taken_name"), "its name 'aten' is that of a built-in implementation: give it another name");
  const CommandResult result = run({flag("honest"), flag("honest")});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err,
              HasSubstr("its name 'honest' is that of " + library("honest") + " too: give it another name"));
}

TEST_F(Faults, OneThatCrashesOrHangsOnLoadIsRefused) {
  expect_refusal(library("crash_on_load"), "the process that loaded it ended: ");
  expect_refusal(library("hang_on_load"), "no sign of life for 3 s while loading it");
}

TEST_F(Faults, WhatIsNoLibraryIsRefused) {
  const std::string text = path("text.so");
  std::ofstream{text} << "not a library\n";
  expect_refusal(text, "it cannot be opened: ");
  expect_refusal(path("missing.so"), "there is no file");
  std::filesystem::create_directories(path("folder.so"));
  expect_refusal(path("folder.so"), "is not a file that can be read");
  std::ofstream{path("mine.txt")} << "";
  expect_refusal(path("mine.txt"), "is neither a shared library, FILE.so, nor a package, FILE.pt2");
}

TEST_F(Faults, OneThatBreaksWhileItRunsCostsItsOwnCasesAlone) {
  const std::map<std::string, std::pair<std::string, std::string>> expected{
      {"out_of_bounds", {"crashed", "Segmentation fault"}},
      {"crash_when_asked", {"crashed", "Segmentation fault"}},
      {"hang", {"timeout", "no sign of life for 3 s"}},
      {"throws", {"crashed", "thrown by the plug-in"}},
      {"talks", {"crashed", "bytes, and at most 1048576 are read. A plug-in that says less, fewer --tb_samples or"}},
      {"fails", {"crashed", "plug-in fails: launch(): planted: the launch failed"}},
      {"negative_workspace", {"crashed", "workspace_bytes() returns -5: it must be at least 0"}},
      {"writes_on_pipes", {"crashed", "protocol error"}},
      {"another_shape", {"incorrect", "y["}}};
  std::vector<std::string> flags{kOneProduct, flag("honest"), flag("prints"), "--tb_timeout=3"};
  for (const auto& [fault, outcome] : expected) flags.push_back(flag(fault));
  const CommandResult result = run(flags);
  EXPECT_EQ(result.status, 1) << result.err;
  const auto entries = by_impl();
  for (const auto& [fault, outcome] : expected) {
    EXPECT_EQ(entries.at(fault).at("tbench").at("status"), outcome.first) << fault;
    EXPECT_THAT(entries.at(fault).at("error_message").get<std::string>(), HasSubstr(outcome.second)) << fault;
  }
  for (const char* impl : {"aten", "honest", "prints"}) {
    EXPECT_THAT(status_of(entries.at(impl)), is_measured()) << impl;
  }
}

TEST_F(Faults, ADaemonEndsWithTheWorkerThatLeftIt) {
  const std::string file = path("daemon");
  setenv("TBENCH_TEST_DAEMON", file.c_str(), 1);
  const CommandResult result = run({kOneProduct, flag("leaves_daemon")});
  unsetenv("TBENCH_TEST_DAEMON");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(status_of(by_impl().at("leaves_daemon")), is_measured());
  pid_t daemon = 0;
  ASSERT_TRUE(std::ifstream{file} >> daemon);
  EXPECT_EQ(kill(daemon, 0), -1) << "process " << daemon << " is still there";
}

}  // namespace
}  // namespace tbench::test
