#include "tbench/report/text_width.hpp"

#include <gtest/gtest.h>

namespace tbench::report {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("±% µs …"), 7U);
  EXPECT_EQ(display_width("中文"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U) << "a combining accent";
  EXPECT_EQ(display_width("🚀"), 2U);
  EXPECT_EQ(display_width("a\xFF\xC3"), 3U) << "bytes that are no UTF-8";
}

TEST(Fit, ShortensWithAnEllipsis) {
  EXPECT_EQ(fit("abcdef", 6), "abcdef");
  EXPECT_EQ(fit("abcdef", 5), "abcd…");
  EXPECT_EQ(fit("abcdef", 1), "…");
  EXPECT_EQ(fit("abcdef", 0), "");
  EXPECT_EQ(fit("中文中文", 6), "中文…") << "half a character is left out";
  EXPECT_EQ(fit("µµµµ", 3), "µµ…");
}

TEST(Pad, FillsTheOtherSide) {
  EXPECT_EQ(pad("µs", 4, Align::kLeft), "µs  ");
  EXPECT_EQ(pad("µs", 4, Align::kRight), "  µs");
  EXPECT_EQ(pad("long", 2, Align::kLeft), "long");
}

TEST(OneLine, TakesControlCharactersOut) {
  EXPECT_EQ(one_line("a\nb\tc\x1b[31m"), "a b c [31m");
  EXPECT_EQ(one_line("\n a \n"), "a");
  EXPECT_EQ(one_line("\n"), "");
  EXPECT_EQ(one_line("µ"), "µ");
}

}  // namespace
}  // namespace tbench::report
