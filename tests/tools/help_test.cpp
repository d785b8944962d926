// Tests the --help of tbench and of its commands: its width, its examples, and what tbench prints without arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/help.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::tool {
namespace {

using testing::HasSubstr;

support::ChildResult tbench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TBENCH_TOOL);
  return support::run_child(arguments);
}

const std::vector<std::string> kCommands{"classify", "diff", "durations", "fleet",  "gate",   "history",
                                         "merge",    "nsys", "profile",   "report", "spreads"};

class Help : public testing::TestWithParam<std::string> {
 protected:
  static std::string help(const std::string& command) {
    const support::ChildResult result = tbench({command, "--help"});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    return result.out;
  }
};

TEST_P(Help, FitsIntoAHundredColumns) {
  for (const std::string& line : split(help(GetParam()), '\n')) {
    EXPECT_LE(render::display_width(line), render::kHelpWidth) << line;
  }
}

TEST_P(Help, HasExamplesWithFlagsThatExist) {
  const std::string text = help(GetParam());
  const std::size_t place = text.find("\nExamples:\n");
  ASSERT_NE(place, std::string::npos) << text;
  const std::string options = text.substr(0, place);
  bool has_command = false;
  for (const std::string& line : split(text.substr(place), '\n')) {
    if (!line.starts_with("  tbench " + GetParam())) continue;
    has_command = true;
    for (const std::string& word : split(line, ' ')) {
      const std::string flag = word.substr(0, word.find('='));
      if (!flag.starts_with("-")) continue;
      EXPECT_THAT(options, HasSubstr(flag)) << line;
    }
  }
  EXPECT_TRUE(has_command) << text.substr(place);
}

INSTANTIATE_TEST_SUITE_P(Commands, Help, testing::ValuesIn(kCommands),
                         [](const auto& command) { return command.param; });

TEST(HelpOfTbench, ListsEveryCommandAlsoWithoutArguments) {
  const support::ChildResult bare = tbench({});
  EXPECT_EQ(bare.exit_status, 2);
  EXPECT_EQ(bare.out, "");
  const support::ChildResult asked = tbench({"--help"});
  EXPECT_EQ(asked.exit_status, 0);
  EXPECT_EQ(asked.out, bare.err);
  for (const std::string& command : kCommands) EXPECT_THAT(asked.out, HasSubstr("\n  " + command + " "));
}

}  // namespace
}  // namespace tbench::tool
