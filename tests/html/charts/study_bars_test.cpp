// Which bars a study's table gives.
#include "html/charts/study_bars.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace tbench::html {
namespace {

using studies::StudyCell;
using studies::StudySection;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

render::Column key(const std::string& header) { return {header, render::Align::kLeft}; }
render::Column number(const std::string& header) { return {header, render::Align::kRight}; }
StudyCell text(const std::string& value) { return {.text = value}; }
StudyCell value(double value, const std::string& text) { return {.text = text, .value = value}; }

/// Of two sizes and passes; nobody measured `compiled`, and nothing of `xl forward`.
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
