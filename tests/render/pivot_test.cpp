#include "tbench/render/pivot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tbench::render {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<CaseId> cases() {
  return {CaseId{"Gemm", {{"m", "1"}, {"n", "8"}, {"l2", "cold"}}},
          CaseId{"Gemm", {{"m", "2"}, {"n", "8"}, {"l2", "cold"}}},
          CaseId{"Gemm", {{"m", "1"}, {"n", "8"}, {"l2", "warm"}}},
          CaseId{"Gemm", {{"m", "1"}, {"n", "8"}, {"l2", "cold"}}}};
}

TEST(Pivot, PutsEveryCaseIntoTheCellOfItsRowAndColumn) {
  const Pivot pivot = pivot_of(cases(), std::vector<std::string>{"l2"});
  EXPECT_THAT(pivot.common, ElementsAre("n"));
  EXPECT_THAT(pivot.row_keys, ElementsAre("m"));
  EXPECT_THAT(pivot.columns, ElementsAre(ElementsAre("cold"), ElementsAre("warm")));
  ASSERT_EQ(pivot.rows.size(), 2U);
  EXPECT_THAT(pivot.rows[0].values, ElementsAre("1"));
  EXPECT_THAT(pivot.rows[0].columns, ElementsAre(ElementsAre(0, 3), ElementsAre(2)));
  EXPECT_THAT(pivot.rows[1].values, ElementsAre("2"));
  EXPECT_THAT(pivot.rows[1].columns, ElementsAre(ElementsAre(1), IsEmpty()));
}

TEST(Pivot, ColumnsAreInTheOrderInWhichTheyAppear) {
  std::vector<CaseId> all = cases();
  std::swap(all.front(), all[2]);
  EXPECT_THAT(pivot_of(all, std::vector<std::string>{"l2", "m"}).columns,
              ElementsAre(ElementsAre("warm", "1"), ElementsAre("cold", "2"), ElementsAre("cold", "1")));
}

TEST(Pivot, AKeyThatSomeCasesLackVariesAndIsEmptyThere) {
  const std::vector<CaseId> some{CaseId{"Gemm", {{"m", "1"}}}, CaseId{"Gemm", {{"m", "1"}, {"l2", "warm"}}}};
  const Pivot pivot = pivot_of(some, {});
  EXPECT_THAT(pivot.common, ElementsAre("m"));
  EXPECT_THAT(pivot.row_keys, ElementsAre("l2"));
  EXPECT_THAT(pivot.rows[0].values, ElementsAre(""));
  EXPECT_THAT(pivot.rows[0].columns, ElementsAre(ElementsAre(0))) << "nothing is spread: one column";
}

TEST(Pivot, OfNothingIsEmpty) {
  const Pivot pivot = pivot_of({}, std::vector<std::string>{"l2"});
  EXPECT_TRUE(pivot.rows.empty());
  EXPECT_TRUE(pivot.columns.empty());
}

}  // namespace
}  // namespace tbench::render
