#include "studies/engine/study_cells.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <set>

#include "tbench/core/case_table.hpp"

namespace tbench::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<CaseId> grid() {
  const FamilyGrid model{"Model",
                         {{"size", {"small", "xl", "2.7B"}},
                          {"ctx", {"64", "128", "1024"}},
                          {"batch", {"4"}},
                          {"pass", {"forward", "train_step"}},
                          {"precision", {"fp32", "bf16"}}}};
  return cells_of(std::vector{model}, {});
}

std::vector<CaseId> matching(const std::vector<CaseId>& cases, const std::string& filter) {
  std::vector<CaseId> found;
  const std::regex regex{filter, std::regex::extended};  // the syntax that transformer_bench uses for filters
  for (const CaseId& id : cases) {
    if (std::regex_search(id.name(), regex)) found.push_back(id);
  }
  return found;
}

/// Checks that the filters of a result select each missing case exactly once and no other case.
void expect_exact(const std::vector<CaseId>& all, const std::vector<CaseId>& missing) {
  const MissingCells result = missing_cells(all, missing);
  std::set<std::string> selected;
  for (std::size_t i = 0; i < result.filters.size(); ++i) {
    for (const CaseId& id : matching(all, result.filters[i])) {
      EXPECT_TRUE(selected.insert(id.name()).second) << id.name() << " twice";
      EXPECT_EQ(result.filter_of.count(id.name()), 1U) << id.name() << " is not missing: " << result.filters[i];
      EXPECT_EQ(result.filter_of.at(id.name()), i);
    }
  }
  EXPECT_EQ(selected.size(), missing.size());
}

TEST(MissingCells, NothingMissingNeedsNoFilter) { EXPECT_THAT(missing_cells(grid(), {}).filters, IsEmpty()); }

TEST(MissingCells, AllMissingNeedsAnEmptyOne) { EXPECT_THAT(missing_cells(grid(), grid()).filters, ElementsAre("")); }

TEST(MissingCells, EachNumberOfRanksIsARunOfItsOwn) {
  const FamilyGrid collective{"Collective", {{"op", {"a", "b"}}, {"bytes", {"1", "2"}}, {"gpus", {"2", "16"}}}};
  const FamilyGrid alone{"Ceiling", {{"what", {"copy"}}}};
  const std::vector<CaseId> all = cells_of(std::vector{collective, alone}, {});
  const MissingCells everything = missing_cells(all, all);
  EXPECT_THAT(everything.filters, ElementsAre("", "", ""));  // a run has only cases with its own number of ranks
  EXPECT_THAT(everything.gpus, ElementsAre("2", "16", ""));
  const MissingCells some = missing_cells(all, matching(all, "op:b/.*gpus:16$"));
  EXPECT_THAT(some.filters, ElementsAre("/op:b/"));
  EXPECT_THAT(some.gpus, ElementsAre("16"));
  EXPECT_EQ(some.filter_of.size(), 2U);
}

TEST(MissingCells, ABlockIsOneFilterOfTheKeysThatTellItApart) {
  const std::vector<CaseId> all = grid();
  EXPECT_THAT(missing_cells(all, matching(all, "ctx:64/")).filters, ElementsAre("/ctx:64/"));
  EXPECT_THAT(missing_cells(all, matching(all, "size:(xl|2\\.7B)/ctx:1024/.*fp32")).filters,
              ElementsAre(R"(/size:(xl|2\.7B)/ctx:1024/.*/precision:fp32$)"));
  EXPECT_THAT(missing_cells(all, matching(all, "pass:train_step/precision:bf16")).filters,
              ElementsAre("/pass:train_step/precision:bf16$"));
  EXPECT_THAT(missing_cells(all, matching(all, "size:small/")).filters, ElementsAre("/size:small/"));
}

TEST(MissingCells, NeighbouringNumbersAreARange) {
  const std::vector<CaseId> all =
      cells_of(std::vector{FamilyGrid{"A", {{"ctx", {"64", "128", "256", "512"}}, {"pass", {"a", "b"}}}}}, {});
  const std::vector<std::string> found = missing_cells(all, matching(all, "ctx:(128|256|512)/")).texts;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], ::testing::HasSubstr(" ctx:128 to 512 ("));
  EXPECT_THAT(missing_cells(all, matching(all, "ctx:(64|512)/")).texts.at(0), ::testing::HasSubstr(" ctx:64,512 ("));
}

TEST(MissingCells, AskForThePackagesOfCompiledCases) {
  const std::vector<CaseId> all =
      cells_of(std::vector{FamilyGrid{"A", {{"x", {"1", "2"}}, {"impl", {"naive", "compiled"}}}}}, {});
  EXPECT_THAT(missing_cells(all, matching(all, "compiled")).packages, ElementsAre(" --tb_packages=DIR"));
  EXPECT_THAT(missing_cells(all, matching(all, "x:1")).packages, ElementsAre(" --tb_packages=DIR"));
  EXPECT_THAT(missing_cells(all, matching(all, "naive")).packages, ElementsAre(""));
}

/// Along the last key first, the cases make three blocks: x:1 z:1, x:1,2 z:2 and so on; along the first key first, two.
TEST(MissingCells, TakesTheOrderOfKeysWithFewerBlocks) {
  const std::vector<CaseId> all =
      cells_of(std::vector{FamilyGrid{"A", {{"x", {"1", "2", "3"}}, {"z", {"1", "2"}}}}}, {});
  const std::vector<CaseId> missing = matching(all, "x:(1|2|3)/z:2|x:(1|2)/z:1");
  EXPECT_EQ(missing_cells(all, missing).filters.size(), 2U);
  expect_exact(all, missing);
}

TEST(MissingCells, FiltersTogetherAreExactlyWhatIsMissing) {
  const std::vector<CaseId> all = grid();
  std::mt19937 random{1};
  for (int round = 0; round < 200; ++round) {
    std::vector<CaseId> missing;
    for (const CaseId& id : all) {
      if (random() % 4 < static_cast<unsigned>(round % 4)) missing.push_back(id);
    }
    expect_exact(all, missing);
  }
}

TEST(MissingCells, GridsOfDifferentFamiliesAndHolesAreExactToo) {
  std::vector<CaseId> all = grid();
  all.push_back(CaseId{"Gemm", {{"m", "64"}, {"n", "128"}}});
  all.push_back(CaseId{"Gemm", {{"m", "64"}, {"n", "1024"}}});
  all.erase(all.begin() + 3);  // a hole in the grid
  // The following cases have equal keys and values in two families, so only the family distinguishes them.
  for (const char* ctx : {"64", "128"}) all.push_back(CaseId{"Other", {{"size", "small"}, {"ctx", ctx}}});
  for (const char* ctx : {"64", "128"}) all.push_back(CaseId{"Another", {{"size", "small"}, {"ctx", ctx}}});
  const std::vector<CaseId> other{all.end() - 4, all.end() - 2};
  EXPECT_THAT(missing_cells(all, other).filters, ElementsAre("^Other/size:small/ctx:(64|128)$"));
  expect_exact(all, other);
  expect_exact(all, {all.back()});
  expect_exact(all, matching(all, "small"));
  expect_exact(all, {all.begin(), all.begin() + 5});
}

}  // namespace
}  // namespace tbench::studies
