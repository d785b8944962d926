#include "tbench/results/outcome.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tbench::results {
namespace {

TEST(Outcomes, HaveNamesOfTheirOwnThatAreReadBack) {
  std::set<std::string_view> names;
  for (const Outcome outcome : kAllOf<Outcome>) {
    names.insert(to_string(outcome));
    EXPECT_EQ(parse_outcome(to_string(outcome)), outcome);
  }
  EXPECT_EQ(names.size(), kAllOf<Outcome>.size());
  EXPECT_EQ(parse_outcome("FINE"), std::nullopt);
}

TEST(Outcomes, WordsOfVersionsBeforeAreRead) {
  EXPECT_EQ(parse_outcome("PASSED"), Outcome::kSame);
  EXPECT_EQ(parse_outcome("AMBIGUOUS"), Outcome::kUndecided);
  EXPECT_EQ(parse_outcome("INSUFFICIENT"), Outcome::kUndecided);
  EXPECT_EQ(parse_outcome("INVALID"), Outcome::kNotJudged);
}

TEST(Outcomes, PassOnlyWhereNothingIsToBeDone) {
  const std::set<Outcome> fine{Outcome::kRetried, Outcome::kNew, Outcome::kLikelyFaster, Outcome::kImproved,
                               Outcome::kSame};
  for (const Outcome outcome : kAllOf<Outcome>) {
    EXPECT_EQ(exit_status_of(outcome) == 0, fine.contains(outcome)) << to_string(outcome);
    EXPECT_EQ(headline_of(outcome) == Headline::kPassed, fine.contains(outcome)) << to_string(outcome);
  }
}

TEST(Outcomes, ExitAsTheirGravitySays) {
  EXPECT_EQ(exit_status_of(Outcome::kMissing), 1);
  EXPECT_EQ(exit_status_of(Outcome::kBlind), 6);
  EXPECT_EQ(exit_status_of(Outcome::kIncomplete), 7);
  EXPECT_EQ(exit_status_of(Outcome::kReplayed), 7);
  EXPECT_EQ(exit_status_of(Outcome::kNullControlFailed), 5);
  EXPECT_EQ(headline_of(Outcome::kHost), Headline::kReview);
  EXPECT_EQ(headline_of(Outcome::kNullControlFailed), Headline::kFailed);
}

TEST(Outcomes, ASplitOrACreepFailsOnceItIsConfirmed) {
  for (const Outcome outcome : {Outcome::kSplit, Outcome::kCreep}) {
    EXPECT_EQ(exit_status_of(outcome), 4);
    EXPECT_EQ(exit_status_of(outcome, /*is_confirmed=*/true), 1);
    EXPECT_EQ(headline_of(outcome, /*is_confirmed=*/true), Headline::kFailed);
  }
  EXPECT_EQ(exit_status_of(Outcome::kClock, /*is_confirmed=*/true), 4);
}

TEST(Outcomes, UncertainOnesFailWithStrictAlone) {
  EXPECT_FALSE(is_failure(Outcome::kUndecided, /*strict=*/false));
  EXPECT_TRUE(is_failure(Outcome::kUndecided, /*strict=*/true));
  EXPECT_TRUE(is_failure(Outcome::kRegressed, /*strict=*/false));
  EXPECT_FALSE(is_failure(Outcome::kSame, /*strict=*/true));
  EXPECT_TRUE(is_failure(Outcome::kSplit, /*strict=*/false, /*is_confirmed=*/true));
}

}  // namespace
}  // namespace tbench::results
