// Tests the rules of autotuning with given times.
#include "tbench/cuda/matmul_autotune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace tbench::cuda {
namespace {

using testing::ElementsAre;

/// Returns each candidate's times in order, repeats the last one, and records the order of the requests.
struct GivenTimes {
  std::vector<std::vector<double>> times;  // times per candidate; empty if it cannot run
  double spent{0.001};
  std::vector<std::size_t> asked{};
  std::map<std::size_t, std::size_t> next{};

  std::optional<CandidateTime> operator()(std::size_t candidate) {
    asked.push_back(candidate);
    const std::vector<double>& mine = times[candidate];
    if (mine.empty()) return std::nullopt;
    const std::size_t at = std::min(next[candidate]++, mine.size() - 1);
    return CandidateTime{.launch = {mine[at]}, .spent = {spent}};
  }
};

AutotuneResult autotune(GivenTimes& given, const AutotuneRules& rules = {}) {
  return find_fastest(given.times.size(), std::ref(given), rules).value();
}

TEST(FindFastest, TheSmallestMedianWinsNotTheSmallestTime) {
  // The medians are 5 and 4. The first candidate's time of 1 was a lucky outlier.
  GivenTimes given{.times = {{1, 5, 5, 5, 5}, {4, 4, 4, 4, 4}}};
  const AutotuneResult result = autotune(given, {.rounds = 5, .keep_within = 10, .budget = {1}});
  EXPECT_EQ(result.fastest, 1U);
  EXPECT_EQ(result.timed, 2U);
}

TEST(FindFastest, OfEqualOnesTheFirst) {
  GivenTimes given{.times = {{2}, {2}, {2}}};
  EXPECT_EQ(autotune(given).fastest, 0U);
}

TEST(FindFastest, OfThoseWithinItsResolutionTheFirst) {
  GivenTimes given{.times = {{1.04}, {1.01}, {1.0}}};
  EXPECT_EQ(autotune(given, {.equal_within = 1.02}).fastest, 1U);
  EXPECT_EQ(autotune(given, {.equal_within = 1.05}).fastest, 0U);
  EXPECT_EQ(autotune(given, {.equal_within = 1.0}).fastest, 2U);
}

TEST(FindFastest, AClockThatRisesFavoursNobody) {
  // Each time is 1 % shorter than the previous one, whichever candidate it belongs to. The third candidate is 2 %
  // slower.
  const std::vector<double> cost{1.0, 1.0, 1.02};
  double clock = 1.0;
  const auto time = [&](std::size_t candidate) -> std::optional<CandidateTime> {
    clock *= 1.01;
    return CandidateTime{.launch = {cost[candidate] / clock}, .spent = {}};
  };
  EXPECT_EQ(find_fastest(cost.size(), time, {.rounds = 4, .equal_within = 1.01})->fastest, 0U);
}

TEST(FindFastest, SlowCandidatesAreTimedOnceAndAllInTurnThereAndBack) {
  GivenTimes given{.times = {{1.0}, {1.2}, {1.05}}};
  const AutotuneResult result = autotune(given, {.rounds = 3, .keep_within = 1.1, .budget = {1}});
  EXPECT_EQ(result.fastest, 0U);
  EXPECT_EQ(result.timed, 3U);
  EXPECT_THAT(given.asked, ElementsAre(0, 1, 2, 2, 0, 0, 2));
}

TEST(FindFastest, LaterRoundsAreForThoseThatAreClose) {
  GivenTimes given{.times = {{1.0}, {1.05}, {1.02}}};
  const AutotuneResult result =
      autotune(given, {.rounds = 4, .keep_within = 1.1, .narrow_within = 1.03, .budget = {1}});
  EXPECT_EQ(result.fastest, 0U);
  EXPECT_THAT(given.asked, ElementsAre(0, 1, 2, 2, 1, 0, 0, 2, 2, 0));
}

TEST(FindFastest, LaterRoundsAreForAllWhereNothingElseIsSaid) {
  GivenTimes given{.times = {{1.0}, {3.0}}};
  static_cast<void>(autotune(given, {.rounds = 4, .keep_within = 10, .budget = {1}}));
  EXPECT_THAT(given.asked, ElementsAre(0, 1, 1, 0, 0, 1, 1, 0));
}

TEST(FindFastest, StopsWhereOneIsLeft) {
  GivenTimes given{.times = {{2}, {1}}};
  EXPECT_EQ(autotune(given).fastest, 1U);
  EXPECT_THAT(given.asked, ElementsAre(0, 1));
}

TEST(FindFastest, ASpentBudgetEndsTheRunWithWhatThereIs) {
  GivenTimes given{.times = {{3}, {2}, {1}, {1}}, .spent = 0.4};
  const AutotuneResult result = autotune(given, {.rounds = 5, .keep_within = 1.1, .budget = {0.5}});
  EXPECT_EQ(result.fastest, 1U);
  EXPECT_EQ(result.timed, 2U);
  EXPECT_THAT(given.asked, ElementsAre(0, 1));
}

TEST(FindFastest, TheFirstHasATimeWhateverItTakes) {
  GivenTimes given{.times = {{3}, {1}}, .spent = 100};
  const AutotuneResult result = autotune(given);
  EXPECT_EQ(result.fastest, 0U);
  EXPECT_EQ(result.timed, 1U);
}

TEST(FindFastest, CandidatesThatCannotRunDoNotCount) {
  GivenTimes given{.times = {{}, {2}, {}, {3}}};
  const AutotuneResult result = autotune(given);
  EXPECT_EQ(result.fastest, 1U);
  EXPECT_EQ(result.timed, 2U);
}

TEST(FindFastest, NoneThatCanRunIsNothing) {
  GivenTimes given{.times = {{}, {}}};
  EXPECT_FALSE(find_fastest(2, std::ref(given)));
  EXPECT_FALSE(find_fastest(0, std::ref(given)));
}

}  // namespace
}  // namespace tbench::cuda
