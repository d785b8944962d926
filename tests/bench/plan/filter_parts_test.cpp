#include "bench/plan/filter_parts.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Writes the parts with their edges: ^ or $ for an end of the name, / for a slash, ~ where the part may continue.
std::vector<std::string> written(const std::string& expression) {
  std::vector<std::string> parts;
  for (const FilterPart& part : parts_of(expression).parts) {
    const auto sign = [](FilterEdge edge, char end) {
      return edge == FilterEdge::kNameEnd ? end : edge == FilterEdge::kSlash ? '/' : '~';
    };
    parts.push_back(fmt::format("{}{}{}", sign(part.left, '^'), part.text, sign(part.right, '$')));
  }
  return parts;
}

TEST(FilterParts, LieBetweenSlashesAndWildcards) {
  EXPECT_THAT(written("Attention/.*seq_len:4096"), ElementsAre("~Attention/", "~seq_len:4096~"));
  EXPECT_THAT(written("^Model/size:2.7B/ctx:512$"), ElementsAre("^Model/", "/size:2.7B/", "/ctx:512$"));
  EXPECT_THAT(written(R"(size:2\.7B/)"), ElementsAre("~size:2.7B/"));
  EXPECT_THAT(written("a.b"), ElementsAre("~a.b~"));
  EXPECT_THAT(written("a.+b.{2}c.*?d."), ElementsAre("~a~", "~b~", "~c~", "~d~"));
  EXPECT_THAT(written("."), IsEmpty());
  EXPECT_THAT(written(""), IsEmpty());
}

TEST(FilterParts, AreNotThoseWithOperators) {
  EXPECT_THAT(written("pass:(fwd|bwd)/impl:x"), ElementsAre("/impl:x~"));
  EXPECT_THAT(written("(Model|Gemm)/.*pass:fwd"), ElementsAre("~pass:fwd~"));
  EXPECT_THAT(written("impl:[ab]c/op:x"), ElementsAre("/op:x~"));
  EXPECT_THAT(written("impl:flash?/op:x"), ElementsAre("/op:x~"));
  EXPECT_THAT(written("impl:a{2}/op:x"), ElementsAre("/op:x~"));
  EXPECT_THAT(written("a/*b/op:x"), ElementsAre("/op:x~"));
  EXPECT_THAT(written("a(b(c|d)[)]e)f/op:x"), ElementsAre("/op:x~"));
  EXPECT_TRUE(parts_of("(a)").has_operators);
  EXPECT_TRUE(parts_of("a*").has_operators);
  EXPECT_FALSE(parts_of("^a/.*b$").has_operators);
}

TEST(FilterParts, FitPartsOfNames) {
  const auto fits = [](const std::string& expression, const std::string& part) {
    return parts_of(expression).parts.at(0).fits(part);
  };
  EXPECT_TRUE(fits("pass:forward", "pass:forward_backward"));
  EXPECT_TRUE(fits("len:40", "seq_len:4096"));
  EXPECT_FALSE(fits("/len:40", "seq_len:4096"));
  EXPECT_FALSE(fits("pass:forward/", "pass:forward_backward"));
  EXPECT_TRUE(fits("ward/", "pass:forward"));
  EXPECT_FALSE(fits("pass:forward$", "pass:forward_backward"));
  EXPECT_FALSE(fits("^odel", "Model"));
  EXPECT_TRUE(fits("odel/", "Model"));
  EXPECT_TRUE(fits("size:2.7B", "size:2.7B"));
  EXPECT_FALSE(fits("pass:forward", "pass:for"));
}

TEST(FilterParts, OfEachAlternative) {
  EXPECT_THAT(alternatives_of("a|b/c"), ElementsAre("a", "b/c"));
  EXPECT_THAT(alternatives_of("(a|b)|[|]c"), ElementsAre("(a|b)", "[|]c"));
  EXPECT_THAT(alternatives_of(R"(a\|b)"), ElementsAre(R"(a\|b)"));
  EXPECT_THAT(alternatives_of(""), ElementsAre(""));
}

}  // namespace
}  // namespace tbench::bench
