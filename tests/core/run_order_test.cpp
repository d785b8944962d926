#include "tbench/core/run_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tbench {
namespace {

using ::testing::ElementsAre;

std::vector<CaseId> cases_in(const std::string& list) {
  std::vector<CaseId> cases;
  std::ifstream file{TBENCH_TEST_DATA "/" + list};
  for (std::string line; std::getline(file, line);) cases.push_back(CaseId::parse(line));
  return cases;
}

std::vector<std::string> values_of(const Shard& shard, std::span<const CaseId> cases, const std::string& key) {
  std::vector<std::string> values;
  for (const CaseId& id : cases_of(shard, cases)) values.push_back(id.at(key));
  return values;
}

TEST(Shard, IsIndexAndCount) {
  EXPECT_EQ(parse_shard("2/4"), (Shard{.index = 2, .count = 4}));
  EXPECT_EQ(parse_shard("1/1"), Shard{});
  EXPECT_EQ(to_string(Shard{.index = 2, .count = 4}), "2/4");
  for (const char* text : {"", "2", "0/4", "5/4", "-1/4", "1/0", "1/-1", "2/4/8", "a/4", "2/", "/4", "1.5/4", " 2/4"}) {
    EXPECT_EQ(parse_shard(text), std::nullopt) << text;
  }
}

TEST(Shard, TakesOneOfEveryRoundAndEachTimeTheNext) {
  std::vector<CaseId> cases;
  for (int i = 0; i < 8; ++i) cases.push_back(CaseId{"Series", {{"number", std::to_string(i)}}});
  // The rounds are 0 1 2 | 3 4 5 | 6 7. The first shard takes position 0 of the first round, 2 (the last) of the
  // second, and 1 of the third.
  EXPECT_THAT(values_of({1, 3}, cases, "number"), ElementsAre("0", "5", "7"));
  EXPECT_THAT(values_of({2, 3}, cases, "number"), ElementsAre("1", "3"));
  EXPECT_THAT(values_of({3, 3}, cases, "number"), ElementsAre("2", "4", "6"));
}

TEST(Shard, AllShardsOfASuiteAreItsListAndNoCaseIsInTwo) {
  for (const char* list : {"cases_smoke.txt", "cases_standard.txt"}) {
    const std::vector<CaseId> cases = cases_in(list);
    ASSERT_GT(cases.size(), 20U);
    const auto shared = static_cast<std::int64_t>(cases.size()) - std::ranges::count_if(cases, &is_ceiling);
    for (const std::int64_t count : {1, 2, 3, 4, 7, 8, 16, 1000}) {
      std::map<std::string, std::int64_t> owner;
      for (std::int64_t index = 1; index <= count; ++index) {
        const Shard shard{index, count};
        std::vector<CaseId> own = cases_of(shard, cases);
        for (const CaseId& id : own) EXPECT_TRUE(owner.emplace(id.name(), index).second) << id.name();
        std::erase_if(own, &is_ceiling);
        EXPECT_EQ(static_cast<std::int64_t>(own.size()), size_of(shard, shared)) << index << "/" << count;
        EXPECT_LE(std::abs(static_cast<double>(own.size()) - static_cast<double>(shared) / static_cast<double>(count)),
                  1.0);
      }
      EXPECT_EQ(owner.size(), cases.size()) << list << ", " << count;
    }
  }
}

TEST(Shard, APlaceIsFoundAgain) {
  for (const std::int64_t count : {1, 2, 3, 4, 7, 8}) {
    std::map<std::int64_t, std::int64_t> seen;  // number of cases by shard
    for (std::int64_t place = 0; place < 100; ++place) {
      const std::int64_t index = shard_of_place(place, count);
      EXPECT_EQ(place_of({index, count}, seen[index]++), place) << count;
    }
  }
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(size_of({most, most}, 5), 0);
  EXPECT_EQ(size_of({5, most}, 5), 1);
}

TEST(Shard, GetsEveryValueOfAnAxisWhosePeriodIsTheNumberOfShards) {
  std::vector<CaseId> cases;
  for (int shape = 0; shape < 12; ++shape) {
    for (const char* impl : {"eager", "sdpa", "flash"}) {
      cases.push_back(CaseId{"Model", {{"ctx", std::to_string(shape)}, {"impl", impl}}});
    }
  }
  for (std::int64_t index = 1; index <= 3; ++index) {
    std::vector<std::string> impls = values_of({index, 3}, cases, "impl");
    for (const char* impl : {"eager", "sdpa", "flash"}) EXPECT_EQ(std::ranges::count(impls, impl), 4) << index;
  }
}

TEST(Shard, TheCeilingsThatAreSelectedAreTheFirstOnes) {
  const std::vector<CaseId> cases{CaseId{"Model", {{"n", "0"}}}, CaseId{"Ceiling", {{"n", "1"}}},
                                  CaseId{"Model", {{"n", "2"}}}, CaseId{"Ceiling", {{"n", "3"}}}};
  EXPECT_THAT(values_of({1, 2}, cases, "n"), ElementsAre("0", "1", "3"));
  EXPECT_THAT(values_of({2, 2}, cases, "n"), ElementsAre("2"));
}

TEST(RandomRank, FollowsFromNameProcessAndSeedAlone) {
  // Existing files must keep their order. These values were computed separately from the formula: FNV-1a over 16 zero
  // bytes and the name, then the finalizer of splitmix64.
  EXPECT_EQ(random_rank("a", 0, 0), 0x08cb6891ddea949eU);
  std::set<std::uint64_t> ranks;
  for (const char* name : {"a", "b"}) {
    for (const std::int64_t process : {0, 1}) {
      for (const std::uint64_t seed : {1U, 2U}) ranks.insert(random_rank(name, process, seed));
    }
  }
  EXPECT_EQ(ranks.size(), 8U);
}

}  // namespace
}  // namespace tbench
