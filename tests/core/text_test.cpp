#include "tbench/core/text.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace tbench {
namespace {

using Names = std::vector<std::string>;

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,b,c", ','), (Names{"a", "b", "c"}));
  EXPECT_EQ(split("", ','), Names{""});
  EXPECT_EQ(split(",a,", ','), (Names{"", "a", ""}));
  EXPECT_EQ(split("a,b", '/'), Names{"a,b"});
}

TEST(Counted, HasAnSUnlessThereIsOne) {
  EXPECT_EQ(counted(0, "case"), "0 cases");
  EXPECT_EQ(counted(1, "earlier run"), "1 earlier run");
  EXPECT_EQ(counted_in(Names{"a", "b"}, "case"), "2 cases");
}

TEST(Counted, AgreesInNounAndVerb) {
  EXPECT_EQ(counted(0, "process", "processes"), "0 processes");
  EXPECT_EQ(counted(1, "case is", "cases are"), "1 case is");
  EXPECT_EQ(counted(2, "case is", "cases are"), "2 cases are");
  EXPECT_EQ(agreeing(0, "has", "have"), "have");
  EXPECT_EQ(agreeing(1, "has", "have"), "has");
}

TEST(Join, PutsSeparatorsBetween) {
  EXPECT_EQ(join(Names{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(Names{"a"}, ", "), "a");
  EXPECT_EQ(join(Names{}, ", "), "");
}

TEST(EscapeRegex, FindsTheTextAndNothingElse) {
  EXPECT_EQ(escape_regex("Model/size:2.7B"), "Model/size:2\\.7B");
  const std::string special = R"(a.[]{}()*+?^$|\b)";
  EXPECT_TRUE(std::regex_match(special, std::regex{escape_regex(special), std::regex::extended}));
}

TEST(ParseInteger, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("16384"), 16384);
  EXPECT_EQ(parse_integer("-7"), -7);
  EXPECT_EQ(parse_integer("9223372036854775807"), 9223372036854775807);  // 2^63 - 1
  for (const char* text : {"", "12x", "x12", "1e3", "1.0", " 1", "1 ", "+1", "0x10", "9223372036854775808"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(Timestamp, ReadsWhatFilesHold) {
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00Z"), 0);
  // 20,454 days from 1970 to 2026-01-01, one more, and 3 h 4 min 5 s
  EXPECT_EQ(parse_timestamp("2026-01-02T03:04:05+00:00"), (20'454 + 1) * 86'400 + 3 * 3600 + 4 * 60 + 5);
  EXPECT_EQ(parse_timestamp("2026-01-02T03:04:05+02:30"), (20'454 + 1) * 86'400 + 34 * 60 + 5);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00-01:00"), 3600);
  EXPECT_EQ(parse_timestamp("2024-02-29T00:00:00Z"), 19'782 * 86'400);
}

TEST(Timestamp, RefusesWhatIsNone) {
  for (const char* text :
       {"", "2026", "2026-01-02", "2026-01-02T03:04:05", "2026-13-02T03:04:05Z", "2026-02-29T03:04:05Z",
        "2026-01-02T24:04:05Z", "2026-01-02T03:60:05Z", "2026-01-02T03:04:05X", "2026-01-02T03:04:05+1:00",
        "2026-01-02 03:04:05Z", "yesterday, late at night"}) {
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
  }
}

TEST(Timestamp, WritesWhatItReads) {
  for (const char* text :
       {"1970-01-01T00:00:00Z", "2026-11-21T12:38:47Z", "2024-02-29T23:59:59Z", "1969-12-31T23:59:59Z"}) {
    EXPECT_EQ(format_timestamp(parse_timestamp(text).value()), text);
  }
}

TEST(RangeLabel, LeavesOutNumbers) {
  EXPECT_EQ(range_label("layer.12"), "layer.*");
  EXPECT_EQ(range_label("step 3"), "step *");
  EXPECT_EQ(range_label("step_3"), "step_*");
  EXPECT_EQ(range_label("conv2"), "conv2");
  EXPECT_EQ(range_label("attention.rope_q"), "attention.rope_q");
  EXPECT_EQ(range_label("aten::mm, seq = 12, op_id = 7"), "aten::mm");
  EXPECT_EQ(range_label("aten::mm, op_id = 7"), "aten::mm");
  EXPECT_EQ(range_label("42"), "42");
  EXPECT_EQ(range_label(""), "");
}

}  // namespace
}  // namespace tbench
