// Tests the enumerations of core (status, regime, L2 state, precision) and the functions of their values.
#include "tbench/core/enums.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

namespace tbench {
namespace {

TEST(StatusTest, NamesGoBothWaysAndDiffer) {
  EXPECT_EQ(to_string(Status::kOk), "ok");
  EXPECT_EQ(to_string(Status::kOom), "oom");
  EXPECT_EQ(to_string(Status::kUnsupported), "unsupported");
  EXPECT_EQ(to_string(Status::kIncorrect), "incorrect");
  EXPECT_EQ(to_string(Status::kUnstable), "unstable");
  EXPECT_EQ(to_string(Status::kThrottled), "throttled");
  EXPECT_EQ(to_string(Status::kTimeout), "timeout");
  EXPECT_EQ(to_string(Status::kCrashed), "crashed");
  std::set<std::string_view> names;
  for (const Status status : kAllOf<Status>) {
    EXPECT_EQ(parse_enum<Status>(to_string(status)), status);
    names.insert(to_string(status));
  }
  EXPECT_EQ(names.size(), 8U);
}

TEST(StatusTest, ParseTakesNothingElse) {
  for (const char* text : {"", "OK", "ok ", "fail", "time"}) EXPECT_EQ(parse_enum<Status>(text), std::nullopt) << text;
}

TEST(StatusTest, AStatusHasATimeOrFailsTheRunOrNeither) {
  const std::set<Status> timed{Status::kOk, Status::kUnstable, Status::kThrottled};
  const std::set<Status> failed{Status::kIncorrect, Status::kTimeout, Status::kCrashed};
  for (const Status status : kAllOf<Status>) {
    EXPECT_EQ(has_time(status), timed.contains(status)) << to_string(status);
    EXPECT_EQ(is_failure(status), failed.contains(status)) << to_string(status);
  }
}

TEST(RegimeTest, NamesGoBothWays) {
  EXPECT_EQ(to_string(Regime::kSustained), "sustained");
  EXPECT_EQ(to_string(Regime::kBurst), "burst");
  for (const Regime regime : {Regime::kSustained, Regime::kBurst})
    EXPECT_EQ(parse_enum<Regime>(to_string(regime)), regime);
  for (const char* text : {"", "Burst", "bursts", "cold"}) EXPECT_EQ(parse_enum<Regime>(text), std::nullopt) << text;
}

TEST(L2StateTest, NamesGoBothWays) {
  EXPECT_EQ(to_string(L2State::kCold), "cold");
  EXPECT_EQ(to_string(L2State::kWarm), "warm");
  for (const L2State state : {L2State::kCold, L2State::kWarm}) EXPECT_EQ(parse_enum<L2State>(to_string(state)), state);
  for (const char* text : {"", "Cold", "hot", "burst"}) EXPECT_EQ(parse_enum<L2State>(text), std::nullopt) << text;
}

TEST(PrecisionTest, NamesGoBothWays) {
  EXPECT_EQ(to_string(Precision::kFp32), "fp32");
  EXPECT_EQ(to_string(Precision::kTf32), "tf32");
  EXPECT_EQ(to_string(Precision::kBf16), "bf16");
  EXPECT_EQ(to_string(Precision::kFp16), "fp16");
  for (const Precision precision : kAllOf<Precision>) EXPECT_EQ(parse_enum<Precision>(to_string(precision)), precision);
  for (const char* text : {"", "FP32", "float32", "fp8"}) EXPECT_EQ(parse_enum<Precision>(text), std::nullopt) << text;
}

// Unit round-off is half the gap between 1 and the next number: 2^-(stored significand bits + 1). Stored bits: 23, 10,
// 7, 10.
TEST(PrecisionTest, UnitRoundoffIsHalfTheGapAboveOne) {
  EXPECT_EQ(unit_roundoff(Precision::kFp32), std::numeric_limits<float>::epsilon() / 2);
  EXPECT_EQ(unit_roundoff(Precision::kTf32), 1.0 / 2048);
  EXPECT_EQ(unit_roundoff(Precision::kBf16), 1.0 / 256);
  EXPECT_EQ(unit_roundoff(Precision::kFp16), 1.0 / 2048);
}

}  // namespace
}  // namespace tbench
