#include "tbench/core/timestamp.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace tbench {
namespace {

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

}  // namespace
}  // namespace tbench
