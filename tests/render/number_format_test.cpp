#include "tbench/render/number_format.hpp"

#include <gtest/gtest.h>

namespace tbench::render {
namespace {

TEST(FormatNumber, HasFourSignificantDigits) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(25.3124), "25.31");
  EXPECT_EQ(format_number(1.00049), "1.000");
  EXPECT_EQ(format_number(0.012345), "0.01235");
  EXPECT_EQ(format_number(0.0001), "0.0001000");
  EXPECT_EQ(format_number(-3.14159), "-3.142");
}

TEST(FormatNumber, RoundsUpWithoutAFifthDigit) {
  EXPECT_EQ(format_number(9.99996), "10.00");
  EXPECT_EQ(format_number(999.96), "1000");
}

TEST(FormatNumber, KeepsAllDigitsBeforeThePoint) {
  EXPECT_EQ(format_number(1234.4), "1234");
  EXPECT_EQ(format_number(1234567.8), "1234568");
}

TEST(FormatNumber, UsesAnExponentAtTheExtremes) {
  EXPECT_EQ(format_number(1.23456e-7), "1.235e-07");
  EXPECT_EQ(format_number(2e18), "2.000e+18");
}

TEST(FormatThousands, SeparatesGroups) {
  EXPECT_EQ(format_thousands(0), "0");
  EXPECT_EQ(format_thousands(999.4), "999");
  EXPECT_EQ(format_thousands(999.6), "1,000");
  EXPECT_EQ(format_thousands(123456), "123,456");
  EXPECT_EQ(format_thousands(1234567.5), "1,234,568");
  EXPECT_EQ(format_thousands(-1234), "-1,234");
}

TEST(FormatBytes, IsWholeInTheLargestUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1000), "1000 B");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(1536), "1536 B");
  EXPECT_EQ(format_bytes(std::int64_t{384} << 20), "384 MiB");
  EXPECT_EQ(format_bytes(std::int64_t{4} << 30), "4 GiB");
  EXPECT_EQ(format_bytes(std::int64_t{2} << 40), "2048 GiB");
}

TEST(FormatBytes, IsReadBack) {
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{7}, std::int64_t{1} << 10, std::int64_t{3} << 40}) {
    EXPECT_EQ(parse_bytes(format_bytes(bytes)), bytes);
  }
  for (const char* text : {"", "1024", "1 kB", "x KiB", "1  KiB", "KiB"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(FormatCommit, KeepsTheMarkOfATreeWithChanges) {
  EXPECT_EQ(format_commit("29971fb856310123456789abcdef012345678901"), "29971fb85631");
  EXPECT_EQ(format_commit("29971fb856310123456789abcdef012345678901-dirty"), "29971fb85631-dirty");
  EXPECT_EQ(format_commit("29971fb85631-dirty"), "29971fb85631-dirty");
  EXPECT_EQ(format_commit("unknown"), "unknown");
  EXPECT_EQ(format_commit(""), "");
}

TEST(FormatClock, HasHoursWhereThereAreAny) {
  EXPECT_EQ(format_clock({0}), "0:00");
  EXPECT_EQ(format_clock({41.4}), "0:41");
  EXPECT_EQ(format_clock({130}), "2:10");
  EXPECT_EQ(format_clock({3725}), "1:02:05");
  EXPECT_EQ(format_clock({-1}), "0:00");
}

TEST(FormatDuration, NamesTheTwoLargestUnits) {
  EXPECT_EQ(format_duration({3.21}), "3.2 s");
  EXPECT_EQ(format_duration({59.96}), "1 min 0 s");
  EXPECT_EQ(format_duration({192}), "3 min 12 s");
  EXPECT_EQ(format_duration({3725}), "1 h 2 min");
}

}  // namespace
}  // namespace tbench::render
