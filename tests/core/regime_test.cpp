#include "tbench/core/regime.hpp"

#include <gtest/gtest.h>

namespace tbench {
namespace {

TEST(RegimeTest, NamesGoBothWays) {
  EXPECT_EQ(to_string(Regime::kSustained), "sustained");
  EXPECT_EQ(to_string(Regime::kBurst), "burst");
  for (const Regime regime : {Regime::kSustained, Regime::kBurst}) EXPECT_EQ(parse_regime(to_string(regime)), regime);
  for (const char* text : {"", "Burst", "bursts", "cold"}) EXPECT_EQ(parse_regime(text), std::nullopt) << text;
}

TEST(L2StateTest, NamesGoBothWays) {
  EXPECT_EQ(to_string(L2State::kCold), "cold");
  EXPECT_EQ(to_string(L2State::kWarm), "warm");
  for (const L2State state : {L2State::kCold, L2State::kWarm}) EXPECT_EQ(parse_l2_state(to_string(state)), state);
  for (const char* text : {"", "Cold", "hot", "burst"}) EXPECT_EQ(parse_l2_state(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tbench
