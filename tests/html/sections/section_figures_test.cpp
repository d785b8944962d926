// Tests which kind of charts a section gets.

#include "html/sections/section_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace tbench::html {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using studies::StudyCell;
using studies::StudySection;
using studies::StudyStep;

StudyCell text(const std::string& value) { return {.text = value}; }
StudyCell value(double value) { return {.text = std::to_string(value), .value = value}; }

StudySection by_size() {
  return {.caption = "Model. a",
          .columns = {{"size", render::Align::kLeft}, {"impl:sdpa ms", render::Align::kRight}},
          .rows = {{text("small"), value(1)}, {text("medium"), value(2)}}};
}

TEST(SectionFigures, AreLinesUnlessTheTableHasBars) {
  StudySection section = by_size();
  EXPECT_THAT(section_figures(section).figures, ElementsAre(HasSubstr("class=\"line\"")));
  section.has_bars = true;
  EXPECT_THAT(section_figures(section).figures, ElementsAre(HasSubstr("class=\"bar\"")));
  section.rows.clear();
  EXPECT_THAT(section_figures(section).figures, IsEmpty());
}

TEST(SectionFigures, AreWaterfallsWhereRowsAreSteps) {
  StudySection section = by_size();
  section.steps = {StudyStep::kFloor, StudyStep::kSum};
  EXPECT_THAT(section_figures(section).figures,
              ElementsAre(AllOf(HasSubstr("class=\"waterfall\""), HasSubstr("class=\"floor\""), HasSubstr("\"sum\""))));
}

TEST(SectionFigures, OfTooManySomeAreLeftOut) {
  StudySection section = by_size();
  section.has_bars = true;
  section.columns.insert(section.columns.begin() + 1, {"pass", render::Align::kLeft});
  section.rows.clear();
  for (int i = 0; i < 15; ++i) section.rows.push_back({text("small"), text("pass" + std::to_string(i)), value(1)});
  const SectionFigures bars = section_figures(section);
  EXPECT_THAT(bars.figures, SizeIs(12));
  EXPECT_EQ(bars.left_out, 3U);
}

using studies::StudyCell;
using studies::StudySection;
using studies::StudyStep;

StudyCell value(double value, const std::string& text) { return {.text = text, .value = value}; }

/// Returns a section with two measured cases, and between them a failed case and a case that was not measured.
StudySection cases() {
  using enum render::Align;
  const auto row = [](const std::string& impl, const std::string& exec, const std::string& name, double ms,
                      const std::string& detail) {
    return std::vector<StudyCell>{text(impl),          text(exec),
                                  text(name),          value(ms, std::to_string(static_cast<int>(ms))),
                                  value(10 * ms, "x"), text(detail)};
  };
  return {.caption = "Model size:small. From the ceilings",
          .columns =
              {{"impl", kLeft}, {"exec", kLeft}, {"part", kLeft}, {"ms", kRight}, {"% of step", kRight}, {"of", kLeft}},
          .rows = {row("sdpa", "", "floor: products", 4, "1 TFLOP"),
                   row("sdpa", "", "idle", 6, ""),
                   row("sdpa", "", "= step", 10, "the most is lost to: idle"),
                   {text("flash"), {}, {}, text("OOM"), {}, {}},
                   {text("eager"), {}, {}, {.text = {}, .footnote = 1}, {}, {}},
                   row("sdpa", "graph", "floor: products", 4, "1 TFLOP"),
                   row("sdpa", "graph", "idle", -1, ""),
                   row("sdpa", "graph", "= step", 3, "")},
          .steps = {StudyStep::kFloor, StudyStep::kLoss, StudyStep::kSum, StudyStep::kNone, StudyStep::kNone,
                    StudyStep::kFloor, StudyStep::kLoss, StudyStep::kSum},
          .name_column = 2};
}

TEST(StudyWaterfalls, AreOneACase) {
  const std::vector<WaterfallChart> charts = study_waterfalls(cases());
  ASSERT_THAT(charts, SizeIs(2));
  EXPECT_EQ(charts[0].title, "sdpa");
  EXPECT_EQ(charts[1].title, "sdpa graph");
  EXPECT_EQ(charts[0].x, "ms");
  EXPECT_EQ(charts[0].note, "the most is lost to: idle");
  EXPECT_EQ(charts[1].note, "");
  ASSERT_THAT(charts[1].bars, SizeIs(3));
  EXPECT_EQ(charts[1].bars[1].name, "idle");
  EXPECT_EQ(charts[1].bars[1].step, StudyStep::kLoss);
  EXPECT_EQ(charts[1].bars[1].value, -1);
  EXPECT_THAT(charts[1].bars[1].labels, ElementsAre("-1 ms", "x %"));
  EXPECT_EQ(charts[0].bars[0].detail, "1 TFLOP");
}

TEST(StudyWaterfalls, OfOneCaseHaveAllOfItsName) {
  StudySection section = cases();
  for (auto& row : section.rows) row.erase(row.begin(), row.begin() + 2);
  section.rows.resize(3);
  section.steps.resize(3);
  section.columns.erase(section.columns.begin(), section.columns.begin() + 2);
  section.name_column = 0;
  const std::vector<WaterfallChart> charts = study_waterfalls(section);
  ASSERT_THAT(charts, SizeIs(1));
  EXPECT_EQ(charts[0].title, "Model size:small");
  EXPECT_THAT(charts[0].bars, SizeIs(3));
}

TEST(StudyWaterfalls, NeedSteps) {
  StudySection section = cases();
  section.steps.clear();
  EXPECT_THAT(study_waterfalls(section), IsEmpty());
}

using studies::StudyCell;
using studies::StudySection;

render::Column key(const std::string& header) { return {header, render::Align::kLeft}; }
render::Column number(const std::string& header) { return {header, render::Align::kRight}; }

/// Returns steps of two sizes and passes. `compiled` and `xl forward` were not measured.
StudySection steps() {
  return {
      .caption = "Model ctx:512. Median ms: on a stream, or as CUDA graphs",
      .columns = {key("size"), key("pass"), number("impl:sdpa"), number("impl:sdpa exec:graph"),
                  number("impl:flash exec:graph"), number("impl:compiled"), number("impl:sdpa exec:graph speed-up")},
      .rows = {{text("small"),
                text("forward"),
                value(2.8, "2.8h"),
                value(2.1, "2.1"),
                value(2, "2"),
                {.text = {}, .footnote = 1},
                value(1.33, "1.33")},
               {text("small"),
                text("train_step"),
                value(12, "12"),
                value(7.5, "7.5"),
                value(7, "7"),
                {.text = {}, .footnote = 1},
                value(1.6, "1.6")},
               {text("xl"), text("forward"), {.text = {}, .footnote = 2}, {}, {}, {.text = {}, .footnote = 1}, {}},
               {text("xl"),
                text("train_step"),
                value(88, "88"),
                value(85, "85"),
                text("incorrect"),
                {.text = {}, .footnote = 1},
                value(1.04, "1.04")}}};
}

template <class Items>
std::vector<std::string> names(const Items& items) {
  std::vector<std::string> all;
  for (const auto& item : items) all.push_back(item.name);
  return all;
}

TEST(StudyBars, AreGroupedByTheFirstKey) {
  const std::vector<BarChart> charts = study_bars(steps());
  ASSERT_THAT(charts, SizeIs(2));
  EXPECT_EQ(charts[0].title, "forward, Median ms");
  EXPECT_EQ(charts[1].title, "train_step, Median ms");
  EXPECT_THAT(names(charts[0].groups), ElementsAre("small")) << "of xl nothing was measured";
  EXPECT_THAT(names(charts[1].groups), ElementsAre("small", "xl"));
  const std::vector<Bar>& bars = charts[1].groups[1].bars;
  ASSERT_THAT(bars, SizeIs(3));
  EXPECT_EQ(bars[0].value, 88);
  EXPECT_EQ(bars[1].label, "85");
  EXPECT_EQ(bars[2].value, std::nullopt);
  EXPECT_EQ(bars[2].label, "incorrect");
  EXPECT_EQ(charts[0].groups[0].bars[0].label, "2.8h") << "with its marks";
}

TEST(StudyBars, AnImplementationHasItsColourAndAnExecutionAHatch) {
  const std::vector<BarSeries> series = study_bars(steps()).at(0).series;
  EXPECT_THAT(names(series), ElementsAre("sdpa", "sdpa graph", "flash graph")) << "nobody measured compiled";
  EXPECT_EQ(series[0].colour, "var(--slot-2)");
  EXPECT_EQ(series[1].colour, "var(--slot-2)");
  EXPECT_EQ(series[2].colour, "var(--slot-1)");
  EXPECT_EQ(series[0].hatch, 0U);
  EXPECT_EQ(series[1].hatch, 1U);
  EXPECT_EQ(series[2].hatch, 1U) << "the same for all implementations, whether or not they have a plain bar";
}

TEST(StudyBars, EveryQuantityHasItsCharts) {
  const StudySection section{
      .caption = "Model. a",
      .columns = {key("size"), number("exec:graph ms"), number("exec:graph MiB"), number("std ms")},
      .rows = {{text("small"), value(1, "1"), value(100, "100"), value(3, "3")}}};
  const std::vector<BarChart> charts = study_bars(section);
  ASSERT_THAT(charts, SizeIs(2));
  EXPECT_EQ(charts[0].title, "ms");
  EXPECT_EQ(charts[1].title, "MiB");
  EXPECT_THAT(names(charts[1].series), ElementsAre("graph"));
  EXPECT_EQ(charts[1].series[0].colour, "var(--accent)") << "of no implementation";
  EXPECT_EQ(charts[1].groups[0].bars[0].value, 100);
}

TEST(StudyBars, OfOneCaseAreABar) {
  const std::vector<BarChart> charts =
      study_bars({.caption = "Model size:small. a", .columns = {number("ms")}, .rows = {{value(1, "1")}}});
  ASSERT_THAT(charts, SizeIs(1));
  EXPECT_EQ(charts[0].title, "ms");
  EXPECT_THAT(names(charts[0].groups), ElementsAre(""));
  EXPECT_THAT(names(charts[0].series), ElementsAre("ms"));
}

TEST(StudyBars, NeedNumbers) {
  EXPECT_THAT(study_bars({.caption = "a", .columns = {key("size"), number("ms")}, .rows = {{text("s"), text("OOM")}}}),
              IsEmpty());
  EXPECT_THAT(study_bars({.caption = "a", .columns = {}, .rows = {}}), IsEmpty());
}

TEST(StudyBars, StrategiesHaveColoursAndTheirBucketsHatches) {
  const std::vector<BarChart> charts =
      study_bars({.caption = "DataParallel. Step ms by strategy",
                  .columns = {key("size"), number("strategy:flat"), number("strategy:reducer bucket_mib:1"),
                              number("strategy:reducer bucket_mib:25")},
                  .rows = {{text("small"), value(3, "3"), value(2, "2"), value(1, "1")}}});
  ASSERT_THAT(charts, SizeIs(1));
  const std::vector<BarSeries>& series = charts[0].series;
  EXPECT_THAT(names(series), ElementsAre("flat", "reducer bucket_mib 1", "reducer bucket_mib 25"));
  EXPECT_NE(series[0].colour, series[1].colour);
  EXPECT_EQ(series[1].colour, series[2].colour);
  EXPECT_EQ(series[0].hatch, 0U);
  EXPECT_NE(series[1].hatch, series[2].hatch);
}

}  // namespace
}  // namespace tbench::html
