#include "compare/input/plain_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/comparison_samples.hpp"

namespace tbench::compare {
namespace {

using testing::ElementsAre;

/// Returns a side of plain benchmarks with these full names.
ComparisonSide side_of(const std::vector<std::string>& names) {
  ComparisonSide side;
  side.contexts = {{}};
  for (const std::string& name : names) side.cases.push_back(support::timed_case(CaseId{name, {}}, {1e-6}));
  return side;
}

/// Returns for each side the names by which its cases are shown and matched.
std::vector<std::vector<std::string>> matched_names(const std::vector<std::vector<std::string>>& files) {
  std::vector<ComparisonSide> sides;
  for (const std::vector<std::string>& names : files) sides.push_back(side_of(names));
  match_plain_names(sides);
  std::vector<std::vector<std::string>> matched;
  for (const ComparisonSide& side : sides) {
    std::vector<std::string>& names = matched.emplace_back();
    for (const results::MeasuredCase& c : side.cases) {
      names.push_back(c.key);
      EXPECT_EQ(c.key, c.id.name());
    }
  }
  return matched;
}

TEST(PlainNames, HaveTheLibrarysPartsAtTheirEnds) {
  EXPECT_EQ(plain_name("BM_q"), (PlainName{"BM_q", "", "", "", ""}));
  EXPECT_EQ(
      plain_name("BM/8/min_time:2.000/min_warmup_time:0.5s/iterations:3/repeats:2/process_time/real_time/threads:4"),
      (PlainName{"BM/8", "/min_time:2.000/min_warmup_time:0.5s/iterations:3/repeats:2", "/process_time/real_time",
                 "/threads:4", ""}));
  EXPECT_EQ(plain_name("BM/manual_time#12"), (PlainName{"BM", "", "/manual_time", "", "#12"}));
}

TEST(PlainNames, ArgumentsAreNoPartsOfTheLibrarys) {
  EXPECT_EQ(plain_name("BM/iterations:5/iterations:100").benchmark, "BM/iterations:5") << "each is there once";
  EXPECT_EQ(plain_name("BM/iterations:5/64").benchmark, "BM/iterations:5/64");
  EXPECT_EQ(plain_name("BM/iterations:all").benchmark, "BM/iterations:all");
  EXPECT_EQ(plain_name("BM/iterations:").benchmark, "BM/iterations:");
  EXPECT_EQ(plain_name("/real_time").benchmark, "/real_time");
  EXPECT_EQ(plain_name("real_time").benchmark, "real_time");
  EXPECT_EQ(plain_name("BM#").benchmark, "BM#");
  EXPECT_EQ(plain_name("BM#2x").benchmark, "BM#2x");
}

TEST(PlainNames, AreMatchedAcrossFiles) {
  EXPECT_THAT(matched_names({{"BM/64/iterations:1000/real_time/threads:4"}, {"BM/64/iterations:2000/threads:4"}}),
              ElementsAre(ElementsAre("BM/64/threads:4"), ElementsAre("BM/64/threads:4")));
  EXPECT_THAT(matched_names({{"Gemm/m:64/precision:tf32/real_time"}}),
              ElementsAre(ElementsAre("Gemm/m:64/precision:tf32")));
}

TEST(PlainNames, StayApartInEveryFileOnceTheyAreApartInOne) {
  EXPECT_THAT(matched_names({{"BM/process_time", "BM/process_time/real_time", "A/real_time"},
                             {"BM/iterations:9/process_time", "A"}}),
              ElementsAre(ElementsAre("BM/process_time", "BM/process_time/real_time", "A"),
                          ElementsAre("BM/process_time", "A")));
  EXPECT_THAT(matched_names({{"BM/8/iterations:10"}, {"BM/8/iterations:10", "BM/8/iterations:20"}}),
              ElementsAre(ElementsAre("BM/8/iterations:10"), ElementsAre("BM/8/iterations:10", "BM/8/iterations:20")));
  EXPECT_THAT(matched_names({{"BM/a:1/b:2", "BM/b:2/a:1"}}), ElementsAre(ElementsAre("BM/a:1/b:2", "BM/b:2/a:1")));
}

TEST(PlainNames, OfOurFilesAreLeftAlone) {
  std::vector<ComparisonSide> sides{support::side_with({support::timed_case(CaseId{"BM/real_time", {}}, {1})})};
  match_plain_names(sides);
  EXPECT_EQ(sides[0].cases[0].id.name(), "BM/real_time");
}

}  // namespace
}  // namespace tbench::compare
