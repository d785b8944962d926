#include "tbench/render/help.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tbench/core/text.hpp"

namespace tbench::render {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class HelpFormatterTest : public testing::Test {
 protected:
  HelpFormatterTest() { app_.formatter(std::make_shared<HelpFormatter>()); }
  CLI::App app_{"Measures.", "measure"};
};

TEST_F(HelpFormatterTest, WrapsDescriptionsBelowEachOther) {
  std::string value;
  app_.add_option("--value", value, std::string(60, 'a') + " " + std::string(20, 'b'));
  EXPECT_THAT(app_.help(), HasSubstr("  --value TEXT                " + std::string(60, 'a') + "\n" +
                                     std::string(30, ' ') + std::string(20, 'b') + "\n"));
}

TEST_F(HelpFormatterTest, GivesALongNameALineOfItsOwn) {
  std::string value;
  app_.add_option("--a-value-with-a-long-name", value, "Says what");
  EXPECT_THAT(app_.help(), HasSubstr("  --a-value-with-a-long-name TEXT\n" + std::string(30, ' ') + "Says what\n"));
}

TEST_F(HelpFormatterTest, LeavesOutTypesThatSayNothing) {
  std::string file;
  int steps = 0;
  std::string selector;
  app_.add_option("FILE", file, "Results");
  app_.add_option("--steps", steps, "Steps")->type_name("N")->check(CLI::Range(1, 9));
  app_.add_option("--over", selector, "Divisor")->type_name("KEY:VALUE[/...]");
  EXPECT_THAT(app_.help(), HasSubstr("\n  --over KEY:VALUE[/...]      Divisor\n"));
  EXPECT_THAT(app_.help(), AllOf(HasSubstr("\n  FILE                        Results\n"),
                                 HasSubstr("\n  --steps N                   Steps\n"), Not(HasSubstr("in ["))));
}

TEST_F(HelpFormatterTest, ShowsTheValuesOfAChoice) {
  std::string choice;
  app_.add_option("--trace", choice, "Trace")->type_name("ENUM")->check({[](std::string&) { return ""; }, "on|off"});
  EXPECT_THAT(app_.help(), HasSubstr("\n  --trace on|off              Trace\n"));
}

TEST_F(HelpFormatterTest, ExamplesPrecedeTheFooter) {
  app_.footer("Exit: 0.");
  add_examples(app_, {{"measure a", "measures a"}});
  EXPECT_THAT(app_.help(), HasSubstr("\nExamples:\n  measure a\n      measures a\n\nExit: 0.\n"));
}

TEST_F(HelpFormatterTest, WrapsCommandsAndFooters) {
  app_.add_subcommand("part", std::string(70, 'a') + " " + std::string(20, 'b'));
  app_.footer(std::string(90, 'c') + " " + std::string(20, 'd'));
  for (const std::string& line : split(app_.help(), '\n')) EXPECT_LE(line.size(), kHelpWidth) << line;
}

}  // namespace
}  // namespace tbench::render
