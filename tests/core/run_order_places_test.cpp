#include "tbench/core/run_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace tbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<TimedCase> timed(const std::vector<double>& seconds) {
  std::vector<TimedCase> cases;
  for (const double time : seconds) cases.push_back({.name = "case" + std::to_string(cases.size()), .time = {time}});
  return cases;
}

double time_of(const Places& places, const std::vector<TimedCase>& cases) {
  return std::accumulate(places.begin(), places.end(), 0.0, [&](double sum, std::int64_t place) {
    return sum + cases[static_cast<std::size_t>(place)].time.value;
  });
}

TEST(ShardPlaces, TheLongestGoesFirstToTheLeastLoaded) {
  EXPECT_THAT(places_by_time(timed({1, 5, 2, 4, 3}), 2), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4)));
  EXPECT_THAT(places_by_time(timed({1, 2}), 1), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(places_by_time(timed({3, 5, 2, 4}), 2), ElementsAre(ElementsAre(1, 2), ElementsAre(0, 3)));
}

TEST(ShardPlaces, EquallyLongCasesGoByTheirNames) {
  std::vector<TimedCase> cases = timed({1, 1, 1, 1});
  EXPECT_THAT(places_by_time(cases, 2), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  std::ranges::reverse(cases);
  EXPECT_THAT(places_by_time(cases, 2), ElementsAre(ElementsAre(1, 3), ElementsAre(0, 2)));
}

TEST(ShardPlaces, EveryShardHasACaseIfThereAreAsMany) {
  EXPECT_THAT(places_by_time(timed({0, 0, 7, 0}), 4), ::testing::Each(::testing::SizeIs(1)));
  EXPECT_THAT(places_by_time(timed({1}), 3), ElementsAre(ElementsAre(0), IsEmpty(), IsEmpty()));
}

TEST(ShardPlaces, ShardsOfASuiteDifferByLessThanItsLongestCase) {
  std::mt19937 generator{3};
  std::lognormal_distribution<double> seconds{0, 1.2};
  std::vector<double> times(374);
  std::ranges::generate(times, [&] { return seconds(generator); });
  const std::vector<TimedCase> cases = timed(times);
  const std::vector<Places> shards = places_by_time(cases, 5);
  std::vector<double> loads;
  Places all;
  for (const Places& places : shards) {
    loads.push_back(time_of(places, cases));
    all.insert(all.end(), places.begin(), places.end());
    EXPECT_TRUE(std::ranges::is_sorted(places));
  }
  EXPECT_LT(std::ranges::max(loads) / std::ranges::min(loads), 1.01);
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<std::int64_t>(i));
  EXPECT_EQ(all.size(), cases.size());
}

TEST(ShardPlaces, AShardKeepsTheSelectionsOrder) {
  const CaseId ceiling{"Ceiling", {{"what", "copy"}}};
  const auto number = [](int n) { return CaseId{"Model", {{"n", std::to_string(n)}}}; };
  const std::vector<CaseId> cases{number(0), ceiling, number(1), number(2)};
  EXPECT_THAT(cases_at({1, 2}, {1}, cases), ElementsAre(ceiling, number(1)));
  EXPECT_THAT(cases_at({2, 2}, {0, 2}, cases), ElementsAre(number(0), number(2)));
}

TEST(ShardPlaces, AsTextAndBack) {
  EXPECT_EQ(format_places({0, 3, 9, 10, 11, 12}), "0,3,9-12");
  EXPECT_EQ(format_places({}), "");
  for (const Places& places : {Places{}, Places{5}, Places{0, 1, 2, 7, 9, 10}}) {
    EXPECT_EQ(parse_places(format_places(places)), places);
  }
  for (const char* text : {"a", "1,", "2,1", "1,1", "3-2", "3-3", "-1", "0-99999999999", "1-2-3", " 1"}) {
    EXPECT_EQ(parse_places(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tbench
