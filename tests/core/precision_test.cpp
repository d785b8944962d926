#include "tbench/core/precision.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tbench {
namespace {

TEST(PrecisionTest, NamesGoBothWays) {
  EXPECT_EQ(to_string(Precision::kFp32), "fp32");
  EXPECT_EQ(to_string(Precision::kTf32), "tf32");
  EXPECT_EQ(to_string(Precision::kBf16), "bf16");
  EXPECT_EQ(to_string(Precision::kFp16), "fp16");
  for (const Precision precision : kAllPrecisions) EXPECT_EQ(parse_precision(to_string(precision)), precision);
  for (const char* text : {"", "FP32", "float32", "fp8"}) EXPECT_EQ(parse_precision(text), std::nullopt) << text;
}

// Half the gap between 1 and the next number: 2^-(stored significand bits + 1). Stored bits: 23, 10, 7, 10.
TEST(PrecisionTest, UnitRoundoffIsHalfTheGapAboveOne) {
  EXPECT_EQ(unit_roundoff(Precision::kFp32), std::numeric_limits<float>::epsilon() / 2);
  EXPECT_EQ(unit_roundoff(Precision::kTf32), 1.0 / 2048);
  EXPECT_EQ(unit_roundoff(Precision::kBf16), 1.0 / 256);
  EXPECT_EQ(unit_roundoff(Precision::kFp16), 1.0 / 2048);
}

}  // namespace
}  // namespace tbench
