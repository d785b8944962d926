#include "tbench/results/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace tbench::results {
namespace {

std::string nested(std::size_t levels, char open = '[', char close = ']') {
  return std::string(levels, open) + std::string(levels, close);
}

TEST(JsonText, SixtyFourLevelsAreRead) {
  EXPECT_EQ(parse_json(nested(kMaxNesting)).dump(), nested(kMaxNesting));
  EXPECT_THROW(static_cast<void>(parse_json(nested(kMaxNesting + 1))), NestedTooDeeply);
  EXPECT_THROW(check_nesting(std::string(1'000'000, '{')), NestedTooDeeply) << "closed or not";
}

TEST(JsonText, BracketsInTextsAreNoLevels) {
  const std::string text = R"(["\"[[\\", ")" + std::string(100, '[') + R"(", {"\\": 1}])";
  EXPECT_EQ(parse_json(text).size(), 3U);
  EXPECT_THROW(check_nesting(R"(["\\")" + std::string(kMaxNesting, '[')), NestedTooDeeply) << "the text has ended";
  EXPECT_NO_THROW(check_nesting(R"("\)")) << "cut off after the escape";
  EXPECT_NO_THROW(check_nesting("]]]}"));
}

TEST(JsonText, LevelsThatWereClosedDoNotCount) {
  std::string text = "[";
  for (int i = 0; i < 1'000; ++i) text += "[{}],";
  EXPECT_EQ(parse_json(text + "0]").size(), 1'001U);
}

TEST(JsonText, NumbersThatJsonDoesNotHaveAreQuoted) {
  EXPECT_EQ(with_quoted_numbers(R"({"NaN": NaN, "b": [-Infinity,inf , -nan(ind)]})"),
            R"({"NaN": "a", "b": ["Infinit","n" , "nan(ind"]})");
  EXPECT_FALSE(with_quoted_numbers(R"({"a\"": [null, "nan", 1e5, true], "b)").has_value());
  EXPECT_FALSE(with_quoted_numbers("").has_value());
  EXPECT_EQ(with_quoted_numbers("[-1e999,1e308]"), R"(["1e99",1e308])");
  EXPECT_EQ(with_quoted_numbers(std::string(400, '1')), "\"" + std::string(398, '1') + "\"");
  EXPECT_FALSE(with_quoted_numbers(std::string(1'000'000, '-')).has_value()) << "each byte is seen once";
}

TEST(JsonText, AByteOrderMarkIsNoText) {
  EXPECT_EQ(after_byte_order_mark("\xEF\xBB\xBF{}"), "{}");
  EXPECT_EQ(after_byte_order_mark("\xEF\xBB"), "\xEF\xBB");
  EXPECT_EQ(after_byte_order_mark("{}"), "{}");
}

}  // namespace
}  // namespace tbench::results
