#include "tbench/render/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace tbench::render {
namespace {

Table sample() {
  Table table{{{"case", Align::kLeft}, {"time µs", Align::kRight}, {"n", Align::kRight}}};
  table.add_row({"short", "1.25", "9"});
  table.add_row({"a longer name", "1250", "10"});
  table.add_row({"bad", "out of memory, and a reason that is long"});
  return table;
}

TEST(Table, AlignsColumnsAndLetsTheLastCellRunOver) {
  EXPECT_EQ(sample().text(),
            "case           time µs   n\n"
            "--------------------------\n"
            "short             1.25   9\n"
            "a longer name     1250  10\n"
            "bad            out of memory, and a reason that is long\n");
}

TEST(Table, FitsATerminal) {
  EXPECT_EQ(sample().text(22),
            "case       time µs   n\n"
            "----------------------\n"
            "short         1.25   9\n"
            "a longer…     1250  10\n"
            "bad        out of mem…\n");
}

TEST(Table, CutsLinesWhoseNumbersDoNotFit) {
  EXPECT_EQ(sample().text(13),
            "case      ti…\n"
            "------------…\n"
            "short       …\n"
            "a longe…    …\n"
            "bad       ou…\n");
}

TEST(Table, OnAConsoleLongTextsStandBelowTheirRows) {
  Table table{{{"case"}, {"ms", Align::kRight}, {"n", Align::kRight}, {"note"}}};
  table.add_row({"a", "1.25", "9", "a remark of several words"});
  table.add_row({"b", "125", "10", ""});
  table.add_row({"c", "out of memory, and a reason that is long"});
  EXPECT_EQ(table.console(24),
            "case    ms   n\n"
            "--------------\n"
            "a     1.25   9\n"
            "  note: a remark of\n"
            "    several words\n"
            "b      125  10\n"
            "c\n"
            "  out of memory, and a\n"
            "    reason that is long\n");
  EXPECT_EQ(table.console(80), table.text());
  EXPECT_EQ(table.console(std::nullopt), table.text());
}

TEST(Table, OnAConsoleNumbersThatDoNotFitFollowInBlocks) {
  Table table{{{"size"}, {"first ms", Align::kRight}, {"second ms", Align::kRight}, {"marks"}}};
  table.add_row({"small", "1", "2", "*"});
  table.add_row({"large", "10", "20", ""});
  EXPECT_EQ(table.console(16),
            "size   first ms\n"
            "---------------\n"
            "small         1\n"
            "large        10\n"
            "\n"
            "size   second ms\n"
            "----------------\n"
            "small          2\n"
            "large         20\n"
            "\n"
            "size   marks\n"
            "------------\n"
            "small  *\n"
            "large\n");
}

TEST(Table, OnAConsoleNamesLeaveRoomForNumbers) {
  Table table{{{"size"}, {"pass"}, {"ms", Align::kRight}}};
  table.add_row({"small", "forward", "1.25"});
  EXPECT_EQ(table.console(14),
            "size     ms\n"
            "-----------\n"
            "small  1.25\n"
            "  pass:\n"
            "    forward\n");
  Table texts{{{"size"}, {"pass"}}};
  texts.add_row({"small", "forward"});
  EXPECT_EQ(texts.console(13), "size\n-----\nsmall\n  pass:\n    forward\n");
}

TEST(Table, OnAConsoleEveryBlockNamesItsRows) {
  Table table{{{"case"}, {"one", Align::kRight}, {"two", Align::kRight}, {"three ms", Align::kRight}, {"note"}}};
  table.add_row({"Model/size:small/ctx:512", "1.5", "2.5", "3.5", "several words are here in it"});
  EXPECT_EQ(table.console(15),
            "one  two\n"
            "--------\n"
            "1.5  2.5\n"
            "  case: Model/\n"
            "    size:small/\n"
            "    ctx:512\n"
            "  note: several\n"
            "    words are\n"
            "    here in it\n"
            "\n"
            "three ms\n"
            "--------\n"
            "     3.5\n"
            "  case: Model/\n"
            "    size:small/\n"
            "    ctx:512\n");
}

TEST(Table, MarkdownHasAlignmentAndEscapes) {
  Table table{{{"a|b", Align::kLeft}, {"ms", Align::kRight}}};
  table.add_row({"x | <y> \\", "1"});
  table.add_row({"two\nlines"});
  EXPECT_EQ(table.markdown(),
            "| a\\|b | ms |\n"
            "| --- | ---: |\n"
            "| x \\| \\<y\\> \\\\ | 1 |\n"
            "| two lines |  |\n");
}

/// Returns a table of two rows: one has text that each format escapes, and one has footnote 2 instead of its number.
Table with_footnote() {
  Table table{{{"case", Align::kLeft}, {"r²", Align::kRight}}};
  table.add_row({"a_b & <c>, \"d\"", "0.99"});
  table.add_row_of({{.text = "e"}, {.text = "", .footnote = 2}});
  return table;
}

TEST(Table, CsvQuotesAndLeavesFootnotesOut) {
  EXPECT_EQ(with_footnote().csv(), "case,r²\n\"a_b & <c>, \"\"d\"\"\",0.99\ne,\n");
}

TEST(Table, HasPlainNumbersInCsv) {
  Table table{{{"n", Align::kRight}, {"text"}}};
  table.add_row_of({{.text = "1,234,567.8", .value = 1234567.8}, {.text = "1,2"}});
  table.add_row_of({{.text = "-36,493", .value = -36493}, {.text = "a, b"}});
  EXPECT_EQ(table.csv(), "n,text\n1234567.8,\"1,2\"\n-36493,\"a, b\"\n");
  EXPECT_NE(table.text().find("1,234,567.8"), std::string::npos);
}

TEST(Table, LatexIsALongtable) {
  EXPECT_EQ(with_footnote().latex("50 %"),
            "\\begin{longtable}{lr}\n\\caption{50 \\%} \\\\\n\\hline\n"
            "case & $r^2$ \\\\\n\\hline\n\\endhead\n"
            "a\\_b \\& <c>, \"d\" & 0.99 \\\\\n"
            "e & --- {[2]} \\\\\n"
            "\\hline\n\\end{longtable}\n");
}

TEST(Table, HtmlHasRowHeadersAndLinksToFootnotes) {
  const std::string html = with_footnote().html("<caption>");
  EXPECT_THAT(html, testing::HasSubstr("<caption>&lt;caption&gt;</caption>\n<thead><tr><th scope=\"col\">case</th>"));
  EXPECT_THAT(html, testing::HasSubstr("<tr><th scope=\"row\">a_b &amp; &lt;c&gt;, &quot;d&quot;</th>"
                                       "<td class=\"number\">0.99</td></tr>\n"));
  EXPECT_THAT(html, testing::HasSubstr("<th scope=\"row\">e</th><td class=\"number\">— <a href=\"#how-2\""));
}

TEST(Table, LeavesOutEmptyAndSpareColumns) {
  Table table{{{"case"}, {"empty"}, {"first to go", Align::kRight, 2}, {"next", Align::kRight, 1}}};
  table.add_row({"a", "", "1", "2"});
  EXPECT_EQ(table.without_spare_columns(std::nullopt).csv(), "case,first to go,next\na,1,2\n");
  EXPECT_EQ(table.without_spare_columns(10).csv(), "case,next\na,2\n");
  EXPECT_EQ(table.without_spare_columns(5).csv(), "case\na\n");
}

TEST(Table, RefusesRowsThatDoNotFit) {
  Table table{{{"a"}, {"b"}}};
  EXPECT_THROW(table.add_row({}), std::invalid_argument);
  EXPECT_THROW(table.add_row({"1", "2", "3"}), std::invalid_argument);
  EXPECT_TRUE(table.empty());
}

TEST(Table, WithoutRowsIsItsHeader) {
  const Table table{{{"a"}, {"b"}}};
  EXPECT_EQ(table.text(), "a  b\n----\n");
}

}  // namespace
}  // namespace tbench::render
