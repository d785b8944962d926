#include "tbench/render/wrap.hpp"

#include <gtest/gtest.h>

#include "support/child_process.hpp"

namespace tbench::render {
namespace {

TEST(WrappedText, IndentsFurtherLinesAndKeepsPathsWhole) {
  EXPECT_EQ(wrapped_text("one two three", 9), "one two\n  three\n");
  EXPECT_EQ(wrapped_text("no file /a/long/path here", 9), "no file\n  /a/long/path\n  here\n");
  EXPECT_EQ(wrapped_text("", 9), "\n");
}

TEST(DividedNames, BreaksLongNamesAfterASlash) {
  EXPECT_EQ(divided_names("a Model/size:small/ctx:512 b", 12), "a Model/ size:small/ ctx:512 b");
  EXPECT_EQ(divided_names("Model/size:small", 16), "Model/size:small");
  EXPECT_EQ(divided_names("no_slash_at_all", 4), "no_slash_at_all");
}

TEST(CommandLines, StayACommandOfTheShell) {
  EXPECT_EQ(command_lines("[1] ", "run --a=1 --b='x y' c", 4, 18), "[1] run --a=1 \\\n    --b='x y' c\n");
  EXPECT_EQ(command_lines("", "run", 2, 80), "run\n");
  const support::ChildResult echo =
      support::run_child({"sh", "-c", command_lines("", "printf %s, one 'two  three' four five six", 2, 20)});
  EXPECT_EQ(echo.out, "one,two  three,four,five,six,");
}

}  // namespace
}  // namespace tbench::render
