// Tests that plug-ins that cheat are `incorrect`, however they cheat.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "plugin_program.hpp"
#include "tests/support/long_tests.hpp"

namespace tbench::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using Cheats = PluginProgram;

/// Plug-ins that work only when they expect a check: if y holds NaN, or if they have not seen the operands before.
/// Every launch meets this condition.
constexpr std::array kForced{"only_when_watched", "memo_by_sample"};

TEST_F(Cheats, AnHonestOneIsMeasuredNextToTheBuiltInOnes) {
  const CommandResult result = run({kOneProduct, flag("honest")});
  EXPECT_EQ(result.status, 0) << result.err;
  const auto entries = by_impl();
  for (const char* impl : {"aten", "honest"}) EXPECT_THAT(status_of(entries.at(impl)), is_measured()) << impl;
}

class Cheat : public PluginProgram, public ::testing::WithParamInterface<const char*> {};

/// Returns the name of a test's plug-in.
std::string plugin_of(const ::testing::TestParamInfo<const char*>& test) { return test.param; }

TEST_P(Cheat, IsIncorrectNextToAnHonestOne) {
  const std::string cheat = GetParam();
  const CommandResult result = run({kOneProduct, flag("honest"), flag(cheat)});
  EXPECT_EQ(result.status, 1) << result.err;
  const auto entries = by_impl();
  EXPECT_EQ(entries.at(cheat).at("tbench").at("status"), "incorrect");
  EXPECT_FALSE(entries.at(cheat).contains("real_time"));
  EXPECT_THAT(status_of(entries.at("honest")), is_measured());
  const std::string reason = entries.at(cheat).at("error_message").get<std::string>();
  // The results of these plug-ins are right in every verification. The outputs of a timed launch show the cheat.
  const bool is_right_when_verified =
      cheat == "cached_output" || cheat == "cache_by_pointer" || cheat == "memo_by_shape";
  if (is_right_when_verified) {
    EXPECT_THAT(reason, StartsWith("found in a timed launch: "));
  }
  if (cheat == "changes_input") {
    EXPECT_THAT(reason, HasSubstr("the product changed its input"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Cheat,
                         ::testing::Values("cached_output", "cache_by_pointer", "memo_by_shape", "side_thread",
                                           "deferred", "lower_precision", "smaller_problem", "fewer_rows",
                                           "changes_input"),
                         &plugin_of);

/// The runs have no warm-up. These plug-ins do no work in a warm-up, so their launches would look so short that a
/// sample takes thousands of them.
TEST_F(Cheats, WhoWorksOnlyWhenWatchedWorksInEveryLaunch) {
  std::vector<std::string> flags{kOneProduct, "--tb_warmup=0", "--tb_samples=20"};
  for (const char* cheat : kForced) flags.push_back(flag(cheat));
  EXPECT_EQ(run(flags).status, 0);
  const auto entries = by_impl();
  for (const char* cheat : kForced) EXPECT_THAT(status_of(entries.at(cheat)), is_measured()) << cheat;
}

class SparingCheat : public PluginProgram, public ::testing::WithParamInterface<const char*> {};

TEST_P(SparingCheat, IsIncorrectInEveryRun) {
  const std::string cheat = GetParam();
  const int runs = support::are_tests_long() ? 20 : 1;
  for (int i = 0; i < runs; ++i) {
    EXPECT_EQ(run({kOneProduct, "--tb_samples=250", "--tb_isolate=none", flag(cheat)}).status, 1);
    const auto entries = by_impl();
    EXPECT_EQ(entries.at(cheat).at("tbench").at("status"), "incorrect") << "in run " << i;
    EXPECT_THAT(entries.at(cheat).at("error_message").get<std::string>(), StartsWith("found in a timed launch: "));
    std::filesystem::remove(out_);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SparingCheat,
                         ::testing::Values("repaired_row", "skips_5", "skips_20", "skips_60", "recalls_5", "recalls_20",
                                           "recalls_60"),
                         &plugin_of);

TEST_F(Cheats, NoHonestRunIsAccused) {
  const int runs = support::are_tests_long() ? 200 : 10;
  const CommandResult result = run({flag("honest"), kOneProduct + std::string{"impl:honest$"}, "--tb_samples=40",
                                    "--tb_warmup=5", "--benchmark_repetitions=" + std::to_string(runs)});
  EXPECT_EQ(result.status, 0) << result.err;
  int measured = 0;
  for (const nlohmann::json& entry : entries()) {
    if (!entry.contains("tbench")) continue;  // an aggregate
    EXPECT_THAT(status_of(entry), is_measured()) << entry;
    ++measured;
  }
  EXPECT_EQ(measured, runs);
}

TEST_F(Cheats, WhatTheChecksNeedCannotBeSwitchedOff) {
  for (const char* option : {"--tb_verify=once", "--tb_l2=warm"}) {
    const CommandResult result = run({flag("honest"), option});
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr(std::string{option} + ": not together with --tb_plugin"));
  }
}

}  // namespace
}  // namespace tbench::test
