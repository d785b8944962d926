#include "escapes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tbench::report {
namespace {

TEST(Escapes, CsvQuotesWhatWouldBreakALine) {
  EXPECT_EQ(csv_row(std::vector<std::string>{"a", "", "1,5", "say \"x\"", "two\nlines"}),
            "a,,\"1,5\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}

TEST(Escapes, MarkupHasNoMarkupLeft) {
  EXPECT_EQ(escape_markup("<a href=\"x\">&\n"), "&lt;a href=&quot;x&quot;&gt;&amp; ");
  EXPECT_EQ(escape_markup("\xff"), "\xEF\xBF\xBD");  // U+FFFD in place of a byte that is no UTF-8
}

TEST(Escapes, LatexHasNoCommandLeft) {
  EXPECT_EQ(escape_latex(R"(a_b & 5% #1 {x} $y ~ ^ \input)"),
            R"(a\_b \& 5\% \#1 \{x\} \$y \textasciitilde{} \textasciicircum{} \textbackslash{}input)");
}

}  // namespace
}  // namespace tbench::report
