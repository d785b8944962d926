#include "html/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(PlainPage, RunsAndLoadsNothing) {
  const std::string page = plain_page("a <b>", "<p>body</p>\n");
  EXPECT_THAT(page, AllOf(StartsWith("<!doctype html>\n<html lang=\"en\">"), EndsWith("</html>\n"),
                          HasSubstr("default-src 'none'; style-src 'unsafe-inline'\""), Not(HasSubstr("<script")),
                          Not(HasSubstr("http://"))));
  EXPECT_THAT(page, AllOf(HasSubstr("<title>a &lt;b&gt;</title>"), HasSubstr("<h2>a &lt;b&gt;</h2>\n<p>body</p>\n")));
}

TEST(NoteHtml, IsAText) { EXPECT_EQ(note_html("a<b"), "<p class=\"note\">a&lt;b</p>\n"); }

}  // namespace
}  // namespace tbench::html
