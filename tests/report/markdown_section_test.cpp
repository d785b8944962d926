#include "tbench/report/markdown_section.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tbench/core/error.hpp"

namespace tbench::report {
namespace {

using testing::HasSubstr;

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

}  // namespace
}  // namespace tbench::report
