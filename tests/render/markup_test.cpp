#include "tbench/render/markup.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tbench::render {
namespace {

TEST(Escapes, CsvQuotesWhatWouldBreakALine) {
  EXPECT_EQ(csv_row(std::vector<std::string>{"a", "", "1,5", "say \"x\"", "two\nlines"}),
            "a,,\"1,5\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}

TEST(Escapes, MarkupHasNoMarkupLeft) {
  EXPECT_EQ(escape_markup("<a href=\"x\">&\n"), "&lt;a href=&quot;x&quot;&gt;&amp; ");
  EXPECT_EQ(escape_markup("\xff"), "\xEF\xBF\xBD");  // U+FFFD instead of a byte that is not UTF-8
}

TEST(Escapes, LatexHasNoCommandLeft) {
  EXPECT_EQ(escape_latex(R"(a_b & 5% #1 {x} $y ~ ^ \input)"),
            R"(a\_b \& 5\% \#1 \{x\} \$y \textasciitilde{} \textasciicircum{} \textbackslash{}input)");
}

TEST(Escapes, MarkdownHasNoLiveLink) {
  EXPECT_EQ(escape_markdown("[x](javascript:y)"), R"([x]\(javascript:y))");
  EXPECT_EQ(escape_markdown("— [1] (a)"), "— [1] (a)");
}

TEST(Escapes, MarkdownKeepsATablesCellsApart) { EXPECT_EQ(escape_markdown(R"(a|b\c<d>)"), R"(a\|b\\c\<d\>)"); }

TEST(Junit, CountsAndEscapes) {
  const std::vector<JunitCase> cases{
      {.family = "Model", .name = "a<b", .result = JunitCase::Result::kPassed, .message = ""},
      {.family = "Model", .name = "c", .result = JunitCase::Result::kFailed, .message = "5 % \"slower\""},
      {.family = "Model", .name = "d", .result = JunitCase::Result::kSkipped, .message = "no partner"}};
  EXPECT_EQ(
      junit_xml("a & b", cases),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"a &amp; b\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\">\n"
      "  <testcase classname=\"Model\" name=\"a&lt;b\"/>\n"
      "  <testcase classname=\"Model\" name=\"c\">\n    <failure message=\"5 % &quot;slower&quot;\"/>\n  </testcase>\n"
      "  <testcase classname=\"Model\" name=\"d\">\n    <skipped message=\"no partner\"/>\n  </testcase>\n"
      "</testsuite>\n");
}

}  // namespace
}  // namespace tbench::render
