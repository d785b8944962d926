#include "tbench/render/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tbench/core/error.hpp"

namespace tbench::render {
namespace {

using testing::HasSubstr;

Table one_row() {
  Table table{{{"case", Align::kLeft}, {"ms", Align::kRight}}};
  table.add_row({"a", "1"});
  return table;
}

std::string page_of(const PageOptions& options) {
  Page page{options, "1 case: 1 SAME", 8};
  page.line("base", "a.json,\nof <H200>");
  page.table(one_row(), [](const std::string& line) { return std::string{kRed} + line + std::string{kPlain}; });
  page.list("Not compared", std::vector<std::string>{"b", "c|d", "e"}, 2);
  page.list("Nothing", {});
  return std::move(page).take();
}

TEST(Page, OnATerminalEndsWithItsSummary) {
  EXPECT_EQ(page_of({}),
            "base     a.json, of <H200>\n"
            "\ncase  ms\n--------\na      1\n"
            "\nNot compared:\n  b\n  c|d\n  and 1 more\n"
            "\n1 case: 1 SAME\n");
}

TEST(Page, WrapsItsLinesToTheWidth) {
  Page page{{.max_width = 20}, "1 case of many words: 1 SAME", 8};
  page.line("base", "a.json of an H200");
  page.list("A caption of many words", std::vector<std::string>{"an entry of several words"});
  EXPECT_EQ(std::move(page).take(),
            "base     a.json of\n         an H200\n"
            "\nA caption of many\n  words:\n  an entry of\n    several words\n"
            "\n1 case of many\n  words: 1 SAME\n");
}

TEST(Page, InMarkdownBeginsWithItsSummaryAndIsEscaped) {
  EXPECT_EQ(page_of({.markdown = true, .colour = true}),
            "**1 case: 1 SAME**\n\n"
            "- base: a.json, of \\<H200\\>\n"
            "\n| case | ms |\n| --- | ---: |\n| a | 1 |\n"
            "\n**Not compared**\n\n- b\n- c\\|d\n- and 1 more\n");
}

TEST(Page, TheSummaryMayHoldAnyText) {
  const std::string summary = "FAILED: \u202ea\n[b](javascript:c)";
  EXPECT_EQ((Page{{}, summary, 8}.take()), "\nFAILED:  a [b](javascript:c)\n");
  EXPECT_THAT((Page{{.markdown = true}, summary, 8}.take()), HasSubstr("**FAILED:  a [b]\\(javascript:c)**"));
}

TEST(Page, ColoursTheLinesOfATableAlone) {
  EXPECT_THAT(page_of({.colour = true}), HasSubstr("\n\033[31ma      1\033[0m\n\nNot compared:\n"));
}

std::string error_of(const std::string& document) {
  try {
    static_cast<void>(replace_section(document, "a", "x"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReplaceSection, ReplacesBetweenTheMarkersAlone) {
  const std::string document =
      "# Title\n<!-- tbench:a -->\nold\n<!-- /tbench:a -->\nmiddle\n<!-- tbench:ab -->keep<!-- /tbench:ab -->\n";
  EXPECT_EQ(replace_section(document, "a", "new\n"),
            "# Title\n<!-- tbench:a -->\nnew\n<!-- /tbench:a -->\nmiddle\n<!-- tbench:ab -->keep<!-- /tbench:ab -->\n");
}

TEST(ReplaceSection, IsIdempotent) {
  const std::string once = replace_section("<!-- tbench:a --><!-- /tbench:a -->", "a", "t\n");
  EXPECT_EQ(replace_section(once, "a", "t\n"), once);
}

TEST(ReplaceSection, RefusesMarkersThatDoNotPair) {
  EXPECT_THAT(error_of("nothing"), HasSubstr("'<!-- tbench:a -->' is missing"));
  EXPECT_THAT(error_of("<!-- tbench:a -->"), HasSubstr("'<!-- /tbench:a -->' is missing"));
  EXPECT_THAT(error_of("<!-- tbench:a --><!-- tbench:a --><!-- /tbench:a -->"), HasSubstr("is there twice"));
  EXPECT_THAT(error_of("<!-- /tbench:a --><!-- tbench:a -->"), HasSubstr("stands before"));
}

TEST(ReplaceSection, KeepsTheCommandOfItsMarker) {
  EXPECT_EQ(
      replace_section("<!-- tbench:a report x.json\n     --pivot=ctx -->\nold\n<!-- /tbench:a -->\n", "a", "new\n"),
      "<!-- tbench:a report x.json\n     --pivot=ctx -->\nnew\n<!-- /tbench:a -->\n");
  EXPECT_THAT(error_of("<!-- tbench:a report x.json"), HasSubstr("'<!-- tbench:a report x.json' does not end"));
}

TEST(SectionsOf, ReadsNamesAndCommands) {
  const auto sections = sections_of(
      "<!-- tbench:a report x.json.gz --filter=ctx:(1|2)/.*\n     --pivot=ctx -->\n<!-- /tbench:a -->\n"
      "`<!-- tbench:NAME -->` in the middle of a line\n<!-- tbench:b -->\n<!-- /tbench:b -->\n");
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[0].name, "a");
  EXPECT_THAT(sections[0].command, testing::ElementsAre("report", "x.json.gz", "--filter=ctx:(1|2)/.*", "--pivot=ctx"));
  EXPECT_EQ(sections[1].name, "b");
  EXPECT_TRUE(sections[1].command.empty());
  EXPECT_TRUE(sections_of("# Nothing\n").empty());
}

}  // namespace
}  // namespace tbench::render
