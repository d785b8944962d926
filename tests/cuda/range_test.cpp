#include "tbench/cuda/range.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

namespace tbench::cuda {
namespace {

class Written final : public RangeListener {
 public:
  void enter(const char* name) override { events.emplace_back(name); }
  void leave() override { events.emplace_back("-"); }
  std::vector<std::string> events;
};

TEST(Range, TellsWhoListensInTheOrderOfTheNest) {
  Written written;
  { const Range unheard{"before"}; }
  set_range_listener(&written);
  {
    const Range outer{"FORWARD"};
    { const Range inner{"attention"}; }
    { const Range inner{"ffn"}; }
  }
  set_range_listener(nullptr);
  { const Range unheard{"after"}; }
  EXPECT_THAT(written.events, testing::ElementsAre("FORWARD", "attention", "-", "ffn", "-", "-"));
}

TEST(Range, CostsNextToNothingWhileNobodyListens) {
  constexpr int kRanges = 100'000;
  double best = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 5; ++trial) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRanges; ++i) const Range range{"layer.0"};
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begin;
    best = std::min(best, elapsed.count() / kRanges);
  }
  RecordProperty("nanoseconds", std::to_string(best));
  // A step of `small` has 150 ranges and 700 launches of some 5 us each.
  EXPECT_LT(best, 50) << "nanoseconds a range";
}

}  // namespace
}  // namespace tbench::cuda
