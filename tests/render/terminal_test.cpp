#include "tbench/render/terminal.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/child_process.hpp"

namespace tbench::render {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("±% µs …"), 7U);
  EXPECT_EQ(display_width("中文"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U) << "a combining accent";
  EXPECT_EQ(display_width("🚀"), 2U);
  EXPECT_EQ(display_width("a\xFF\xC3"), 3U) << "bytes that are not UTF-8";
}

TEST(Fit, ShortensWithAnEllipsis) {
  EXPECT_EQ(fit("abcdef", 6), "abcdef");
  EXPECT_EQ(fit("abcdef", 5), "abcd…");
  EXPECT_EQ(fit("abcdef", 1), "…");
  EXPECT_EQ(fit("abcdef", 0), "");
  EXPECT_EQ(fit("中文中文", 6), "中文…") << "half a character is left out";
  EXPECT_EQ(fit("µµµµ", 3), "µµ…");
}

TEST(ConsoleWidth, IsAtMostAHundred) { EXPECT_EQ(console_width(::fileno(std::tmpfile())), 100U); }

TEST(AddWrapped, BreaksBetweenWordsAndNeverInOne) {
  std::vector<std::string> lines{"before"};
  add_wrapped(lines, "label  ", "one two three", 2, 12);
  EXPECT_THAT(lines, testing::ElementsAre("before", "label  one", "  two three"));
  lines.clear();
  add_wrapped(lines, "", "a-word-of-its-own b", 1, 4);
  EXPECT_THAT(lines, testing::ElementsAre("a-word-of-its-own", " b"));
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
  EXPECT_EQ(without_controls(" a\x1b]0;t\x07 "), " a ]0;t  ");
  EXPECT_EQ(without_controls("a\u009b31mb\u202ec\u2066d\u2028e\u061cf"), "a 31mb c d e f");
  EXPECT_EQ(without_controls("é \u2013 \u2713 ×"), "é \u2013 \u2713 ×") << "characters that are not controls stay";
  EXPECT_EQ(without_controls("a\xff\xe2\x82 b\xed\xa0\x80"), "a\uFFFD\uFFFD b\uFFFD\uFFFD\uFFFD")
      << "bytes that are not UTF-8";
}

Progress sample() {
  return {.number = 12,
          .count = 60,
          .name = "Model/size:small/ctx:512",
          .activity = "warming up",
          .elapsed = {41},
          .remaining = Seconds{130}};
}

TEST(ProgressText, TellsWhatIsGoingOn) {
  EXPECT_EQ(progress_text(sample(), 120),
            "[12/60] Model/size:small/ctx:512 · warming up · 0:41 elapsed, about 2:10 left");
  Progress first = sample();
  first.remaining.reset();
  EXPECT_EQ(progress_text(first, 120), "[12/60] Model/size:small/ctx:512 · warming up · 0:41 elapsed");
}

TEST(ProgressText, ShortensTheNameFirst) {
  EXPECT_EQ(progress_text(sample(), 64), "[12/60] Model/size… · warming up · 0:41 elapsed, about 2:10 left");
  EXPECT_EQ(progress_text(sample(), 53), "[12/60] Model/s… · warming up · 0:41 elapsed, about …");
}

TEST(ProgressText, NeverIsTooWide) {
  for (std::size_t width = 1; width < 100; ++width) EXPECT_LE(display_width(progress_text(sample(), width)), width);
}

TEST(ProgressLine, RewritesInPlaceAndIsErased) {
  const std::string text = support::printed([](std::FILE* out) {
    ProgressLine line{out, 200};
    line.update(sample());
    line.update(sample());
    line.clear();
    line.clear();
  });
  const std::string shown = "\r\x1b[K" + progress_text(sample(), 200);
  EXPECT_EQ(text, shown + shown + "\r\x1b[K");
}

TEST(ProgressLine, IsErasedAtTheEnd) {
  const std::string text = support::printed([](std::FILE* out) { ProgressLine{out, 80}.update(sample()); });
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
}

TEST(ProgressLine, IsSilentWithoutATerminal) {
  const std::string text = support::printed([](std::FILE* out) {
    ProgressLine line{out, terminal_width(::fileno(out))};
    line.update(sample());
    line.clear();
  });
  EXPECT_EQ(text, "");
}

TEST(TerminalWidth, IsThatOfTheTerminal) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) GTEST_SKIP() << "no pseudo-terminals";
  const int end = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(end, 0);
  winsize size{};
  size.ws_col = 123;
  ::ioctl(end, TIOCSWINSZ, &size);
  EXPECT_EQ(terminal_width(end), 123U);
  size.ws_col = 0;
  ::ioctl(end, TIOCSWINSZ, &size);
  EXPECT_EQ(terminal_width(end), 80U) << "a terminal that does not tell";
  ::close(end);
  ::close(terminal);
}

}  // namespace
}  // namespace tbench::render
