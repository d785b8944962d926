// Plug-ins that cheat: each is `incorrect`, whatever it does where the work should be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "plugin_program.hpp"

namespace tbench::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using Cheats = PluginProgram;

constexpr std::array kCheats{"cached_output", "cache_by_pointer",  "memo_by_shape",   "memo_by_sample",
                             "side_thread",   "deferred",          "lower_precision", "smaller_problem",
                             "fewer_rows",    "only_when_watched", "changes_input"};

TEST_F(Cheats, EveryOneIsIncorrectAndAnHonestOneIsNot) {
  std::vector<std::string> flags{kOneProduct, flag("honest")};
  for (const char* cheat : kCheats) flags.push_back(flag(cheat));
  const CommandResult result = run(flags);
  EXPECT_EQ(result.status, 1) << result.err;
  const auto entries = by_impl();
  for (const char* cheat : kCheats) {
    EXPECT_EQ(entries.at(cheat).at("tbench").at("status"), "incorrect") << cheat;
    EXPECT_FALSE(entries.at(cheat).contains("real_time")) << cheat;
  }
  for (const char* impl : {"aten", "honest"}) EXPECT_THAT(status_of(entries.at(impl)), is_measured()) << impl;
  // Cheats whose result is right whenever a verification looks are found by what a timed launch has written.
  for (const char* cheat :
       {"cached_output", "cache_by_pointer", "memo_by_shape", "memo_by_sample", "only_when_watched"}) {
    EXPECT_THAT(entries.at(cheat).at("error_message").get<std::string>(), StartsWith("found in a timed launch: "))
        << cheat;
  }
  EXPECT_THAT(entries.at("changes_input").at("error_message").get<std::string>(),
              HasSubstr("the product changed its input"));
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
