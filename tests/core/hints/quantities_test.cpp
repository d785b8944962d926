#include "tbench/core/hints/quantities.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace tbench {
namespace {

TEST(SecondsIn, KnowsTheUnitsOfTime) {
  EXPECT_EQ(seconds_in("2m"), 120.0);
  EXPECT_EQ(seconds_in("2 min"), 120.0);
  EXPECT_EQ(seconds_in("1h"), 3600.0);
  EXPECT_EQ(seconds_in("1.5 Hours"), 5400.0);
  EXPECT_EQ(seconds_in("30sec"), 30.0);
  EXPECT_EQ(seconds_in("500ms"), 0.5);
  EXPECT_EQ(seconds_in("0,5"), 0.5);
  EXPECT_EQ(seconds_in(".5"), 0.5);
  for (const char* text : {"", "fast", "-1", "-1s", "10x", "nan", "inf", "1e999", "s", "2 weeks"}) {
    EXPECT_EQ(seconds_in(text), std::nullopt) << text;
  }
}

TEST(GibIn, KnowsTheUnitsOfMemory) {
  EXPECT_EQ(gib_in("16GiB"), 16.0);
  EXPECT_EQ(gib_in("16 GB"), 16.0);
  EXPECT_EQ(gib_in("16g"), 16.0);
  EXPECT_EQ(gib_in("512M"), 0.5);
  EXPECT_EQ(gib_in("1TiB"), 1024.0);
  for (const char* text : {"80%", "all", "-16GiB", "16s"}) EXPECT_EQ(gib_in(text), std::nullopt) << text;
}

TEST(CountIn, KnowsUnitsExponentsAndSeparators) {
  EXPECT_EQ(count_in("10x"), 10);
  EXPECT_EQ(count_in("1e3"), 1000);
  EXPECT_EQ(count_in("1,000"), 1000);
  EXPECT_EQ(count_in("1,000,000"), 1'000'000);
  EXPECT_EQ(count_in("1_000"), 1000);
  EXPECT_EQ(count_in("5.0"), 5);
  EXPECT_EQ(count_in("+5"), 5);
  EXPECT_EQ(count_in("5 steps"), 5);
  EXPECT_EQ(count_in("2k"), 2000);
  EXPECT_EQ(count_in("2K", 1024), 2048);
  EXPECT_EQ(count_in("1M", 1024), 1024 * 1024);
  for (const char* text : {"", "ten", "1.5", "1,5", "-3", "10s", "100ms", "0x10", "1e30"}) {
    EXPECT_EQ(count_in(text), std::nullopt) << text;
  }
}

TEST(PercentIn, TakesTheUnit) {
  for (const char* const text : {"5", "5%", "5 %", "5pct", "5 percent"}) EXPECT_EQ(percent_in(text), 5) << text;
  EXPECT_EQ(percent_in("2ms"), std::nullopt);
}

TEST(ExplainCount, SuggestsTheNumberWithoutItsUnit) {
  EXPECT_EQ(explain_count("5", 1), std::nullopt);
  EXPECT_EQ(explain_count("5x", 1), "'5x' is not a whole number of at least 1; did you mean '5'?");
  EXPECT_EQ(explain_count("1e3", 1), "'1e3' is not a whole number of at least 1; did you mean '1000'?");
  EXPECT_EQ(explain_count("0x", 1), "'0x' is not a whole number of at least 1");
  EXPECT_EQ(explain_count("0", 1), "'0' is not a whole number of at least 1");
  EXPECT_EQ(explain_count("2w", 1), "'2w' is not a whole number of at least 1");
}

}  // namespace
}  // namespace tbench
