// Tests how many rows and which columns --top and --pivot give to the tables of studies.
#include "studies/engine/study_shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "small_study.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::studies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A study with a ranking: three rows of `forward` and two of `backward` for each case.
Study ranking() {
  Study study = study_of(spread_over({"precision"}));
  study.tables.clear();
  study.row_tables = {{.caption = "At most {top} of each",
                       .names = {"phase"},
                       .quantities = {{"n", [](double value) { return std::to_string(static_cast<int>(value)); }}},
                       .detail = {},
                       .rows_of =
                           [](const StudyCase&) {
                             return std::vector<StudyRow>{{{"forward"}, {5}, {}},
                                                          {{"forward"}, {4}, {}},
                                                          {{"forward"}, {3}, {}},
                                                          {{"backward"}, {2}, {}},
                                                          {{"backward"}, {1}, {}}};
                           },
                       .top = 2}};
  return study;
}

StudySection ranking_with(const StudyOptions& options) {
  return report_of(ranking(), {results_of({timed("small", "128", "fp32", 8)})}, options).sections.at(0);
}

/// Returns the phases and values of the rows of a measured case.
std::vector<std::string> measured_rows(const StudySection& section) {
  std::vector<std::string> rows;
  for (const auto& row : section.rows) {
    const std::vector<std::string> cells = texts(row);
    if (cells[cells.size() - 2] == "forward" || cells[cells.size() - 2] == "backward") {
      rows.push_back(cells[cells.size() - 2] + cells.back());
    }
  }
  return rows;
}

TEST(StudyTop, ShowsTheFirstRowsOfEachName) {
  const StudySection section = ranking_with({});
  EXPECT_THAT(section.caption, HasSubstr("At most 2 of each"));
  EXPECT_THAT(measured_rows(section), ElementsAre("forward5", "forward4", "backward2", "backward1"));
}

TEST(StudyTop, IsWhatTheUserAskedFor) {
  const StudySection section = ranking_with({.axes = {}, .filter = "", .top = 1});
  EXPECT_THAT(section.caption, HasSubstr("At most 1 of each"));
  EXPECT_THAT(measured_rows(section), ElementsAre("forward5", "backward2"));
  EXPECT_THAT(measured_rows(ranking_with({.axes = {}, .filter = "", .top = 9})), SizeIs(5));
}

TEST(StudyTop, IsRefusedWithoutARanking) {
  const Study study = study_of(spread_over({"precision"}));
  EXPECT_THAT(
      error_of([&] { (void)report_of(study, {results_of(all_records())}, {.axes = {}, .filter = "", .top = 3}); }),
      HasSubstr("--top=3: mine has no ranking; use --study=ranked_kernels, "));
}

TEST(StudyPivot, ReplacesTheColumnsOfATable) {
  const Study study = study_of(spread_over({"precision"}));
  const StudyOptions options{.axes = {}, .filter = "", .top = {}, .pivot = {"ctx"}};
  const StudySection section = report_of(study, {results_of(all_records())}, options).sections.at(0);
  EXPECT_THAT(headers(section), ElementsAre("size", "precision", "ctx:128", "ctx:256", "ctx:512"));
  EXPECT_THAT(texts(section.rows.at(0)), ElementsAre("small", "fp32", "8", "16", "32"));
}

TEST(StudyPivot, LeavesColumnsThatArePartOfAComparison) {
  StudyTable table = spread_over({"precision"});
  table.speed_up = StudySpeedUp{.base = {{"precision", "fp32"}}};
  const Study study = study_of(table);
  EXPECT_THAT(shaped(study, {.axes = {}, .filter = "", .top = {}, .pivot = {"ctx"}}).tables.at(0).spread,
              ElementsAre("precision"));
  EXPECT_THAT(error_of([&] {
                (void)report_of(study, {results_of(all_records())},
                                {.axes = {}, .filter = "", .top = {}, .pivot = {"ctx"}});
              }),
              HasSubstr("--pivot=ctx: no table can have these columns"));
}

TEST(StudyPivot, PutsSeveralQuantitiesIntoRows) {
  const Study study = study_of(spread_over({}, {kMilliseconds, kSamples}));
  const StudyOptions options{.axes = {}, .filter = "", .top = {}, .pivot = {"ctx"}};
  const StudySection section = report_of(study, {results_of(all_records())}, options).sections.at(0);
  EXPECT_THAT(headers(section), ElementsAre("size", "precision", "quantity", "ctx:128", "ctx:256", "ctx:512"));
  EXPECT_THAT(texts(section.rows.at(0)), ElementsAre("small", "fp32", "ms", "8", "16", "32"));
  EXPECT_THAT(texts(section.rows.at(1)), ElementsAre("small", "fp32", "n", "3", "3", "3"));
}

/// The extents of the model are not quantities of its cases, and a key with a single batch does not become a column.
TEST(StudyPivot, LeavesTheSizesAndKeysWithOneValue) {
  const StudyOptions by_size{.axes = {}, .filter = "", .top = {}, .pivot = {"size"}};
  EXPECT_THAT(shaped(find_study("sizes", "--study"), by_size).tables.at(0).spread, IsEmpty());
  const Writeup sizes = find_writeup("sizes,end_to_end", "--study");
  EXPECT_THAT(error_of([&] { refuse_unused_shape(sizes.studies(), by_size); }), IsEmpty());
  const StudyOptions by_batch{.axes = {}, .filter = "", .top = {}, .pivot = {"batch"}};
  EXPECT_THAT(error_of([&] { refuse_unused_shape(sizes.studies(), by_batch); }),
              HasSubstr("its cases have one value of them"));
}

TEST(StudyPivot, RefusesAnUnknownParameterAndListsTheKnownOnes) {
  const Study study = study_of(spread_over({"precision"}));
  const std::string error = error_of([&] {
    (void)report_of(study, {results_of(all_records())}, {.axes = {}, .filter = "", .top = {}, .pivot = {"heads"}});
  });
  EXPECT_THAT(error, HasSubstr("--pivot=heads: no such parameter of the study"));
  EXPECT_THAT(error, HasSubstr("size"));
}

/// Each option changes only the tables that know it, and the other tables are no reason to refuse it.
TEST(StudyPivot, AppliesToTheStudiesOfAListThatHaveTheParameter) {
  const Writeup writeup = find_writeup("end_to_end,accumulation,ranked_kernels", "--study");
  const StudyOptions options{.axes = {}, .filter = "", .top = 1, .pivot = {"ctx"}};
  EXPECT_THAT(error_of([&] { refuse_unused_shape(writeup.studies(), options); }), IsEmpty());
  EXPECT_THAT(shaped(find_study("end_to_end", "--study"), options).tables.at(0).spread, ElementsAre("ctx"));
  EXPECT_THAT(shaped(find_study("accumulation", "--study"), options).tables.at(0).spread,
              testing::Not(ElementsAre("ctx")));
}

}  // namespace
}  // namespace tbench::studies
