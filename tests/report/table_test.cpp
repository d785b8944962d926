#include "tbench/report/table.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tbench::report {
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
}  // namespace tbench::report
