// Tests which charts a study's table gives. The numbers in the tables say where they belong.
#include "html/sections/section_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tbench::html {
namespace {

using studies::StudyCell;
using studies::StudySection;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

render::Column key(const std::string& header) { return {header, render::Align::kLeft}; }
render::Column number(const std::string& header) { return {header, render::Align::kRight}; }
StudyCell text(const std::string& value) { return {.text = value}; }
StudyCell value(double value) { return {.text = std::to_string(value), .value = value}; }

std::vector<std::string> titles(const StudyPlots& plots) {
  std::vector<std::string> all;
  for (const LineChart& chart : plots.charts) all.push_back(chart.title);
  return all;
}

std::vector<std::string> names(const LineChart& chart) {
  std::vector<std::string> all;
  for (const ChartSeries& series : chart.series) all.push_back(series.name);
  return all;
}

std::vector<std::pair<double, double>> points(const ChartSeries& series) {
  std::vector<std::pair<double, double>> all;
  for (const ChartPoint& point : series.points) all.emplace_back(point.x, point.y);
  return all;
}

TEST(StudyPlots, GoOverColumns) {
  const StudyPlots plots =
      study_plots({.caption = "Model batch:4. Median ms by context; time ~ ctx^exponent",
                   .columns = {key("size"), number("ctx:128"), number("ctx:512"), number("ctx:256"),
                               number("exponent of ctx"), number("r²")},
                   .rows = {{text("small"), value(1), value(4), value(2), value(0.9), value(0.99)},
                            {text("medium"), value(3), text("OOM"), value(6), text(""), text("")},
                            {text("large"), value(9), text("OOM"), text("OOM"), text(""), text("")}}});
  ASSERT_THAT(plots.charts, SizeIs(1));
  const LineChart& chart = plots.charts[0];
  EXPECT_EQ(chart.title, "Median ms");
  EXPECT_EQ(chart.x, "ctx (tokens)");
  EXPECT_THAT(names(chart), ElementsAre("small", "medium")) << "a point alone is not a line";
  EXPECT_THAT(points(chart.series[0]),
              ElementsAre(std::pair{128.0, 1.0}, std::pair{256.0, 2.0}, std::pair{512.0, 4.0}));
  EXPECT_THAT(points(chart.series[1]), ElementsAre(std::pair{128.0, 3.0}, std::pair{256.0, 6.0}));
  ASSERT_THAT(chart.ticks, SizeIs(3));
  EXPECT_EQ(chart.ticks[1].label, "256");
}

TEST(StudyPlots, GoAlongRowsWithAChartAQuantity) {
  StudySection section{
      .caption = "Attention. Medians",
      .columns = {key("seq_len"), key("impl"), number("forward ms"), number("held MiB"), number("forward speed-up")},
      .rows = {}};
  for (const char* length : {"64", "128"}) {
    for (const char* impl : {"naive", "flash"}) {
      const double x = std::stod(length) * (std::string{impl} == "naive" ? 2 : 1);
      section.rows.push_back({text(length), text(impl), value(x), value(10 * x), value(2)});
    }
  }
  const StudyPlots plots = study_plots(section);
  EXPECT_THAT(titles(plots), ElementsAre("forward ms", "held MiB"));
  EXPECT_THAT(names(plots.charts[0]), ElementsAre("naive", "flash"));
  EXPECT_THAT(points(plots.charts[1].series[1]), ElementsAre(std::pair{64.0, 640.0}, std::pair{128.0, 1280.0}));
  EXPECT_THAT(plots.charts[0].series[0].colour, HasSubstr("var(--slot-0)"));
  EXPECT_THAT(plots.charts[0].series[1].colour, HasSubstr("var(--slot-1)"));
}

TEST(StudyPlots, TakeSizesByTheirParameters) {
  const StudyPlots plots = study_plots({.caption = "Median ms by size",
                                        .columns = {key("pass"), number("size:small"), number("size:2.7B")},
                                        .rows = {{text("forward"), value(1), value(20)}}});
  ASSERT_THAT(plots.charts, SizeIs(1));
  EXPECT_EQ(plots.charts[0].x, "size, by its parameters");
  EXPECT_NEAR(plots.charts[0].series[0].points[0].x, 128.6e6, 0.05e6);
  EXPECT_NEAR(plots.charts[0].series[0].points[1].x, 3406.8e6, 0.05e6);
  EXPECT_THAT(study_plots({.caption = "By size",
                           .columns = {number("size:mine"), number("size:small")},
                           .rows = {{value(1), value(2)}}})
                  .charts,
              IsEmpty())
      << "a size whose parameters nobody knows";
}

TEST(StudyPlots, GoOverColumnsRatherThanAlongRows) {
  const StudyPlots plots =
      study_plots({.caption = "Median ms by size",
                   .columns = {key("ctx"), number("size:small"), number("size:2.7B")},
                   .rows = {{text("128"), value(1), value(20)}, {text("256"), value(2), value(40)}}});
  ASSERT_THAT(plots.charts, SizeIs(1));
  EXPECT_EQ(plots.charts[0].x, "size, by its parameters");
  EXPECT_THAT(names(plots.charts[0]), ElementsAre("ctx 128", "ctx 256"));
}

TEST(StudyPlots, TakeSizesOfMessagesAsTheyAreWritten) {
  const StudyPlots plots = study_plots({.caption = "Collective gpus:2. Bus bandwidth GB/s by bytes and op; explained",
                                        .columns = {key("bytes"), number("op:all_reduce"), number("op:broadcast")},
                                        .rows = {{text("1 KiB"), value(1), value(2)},
                                                 {text("512 KiB"), value(3), value(4)},
                                                 {text("4 GiB"), value(5), value(6)}}});
  ASSERT_THAT(plots.charts, SizeIs(1));
  const LineChart& chart = plots.charts[0];
  EXPECT_EQ(chart.title, "Bus bandwidth GB/s");
  EXPECT_EQ(chart.x, "bytes");
  EXPECT_THAT(names(chart), ElementsAre("all_reduce", "broadcast"));
  EXPECT_THAT(points(chart.series[0]),
              ElementsAre(std::pair{1024.0, 1.0}, std::pair{524'288.0, 3.0}, std::pair{4'294'967'296.0, 5.0}));
  EXPECT_EQ(chart.ticks[1].label, "512 KiB");
  EXPECT_NE(chart.series[0].colour, chart.series[1].colour);
  EXPECT_THAT(chart.series[1].colour, HasSubstr("var(--slot-")) << "operations have colours where no impl differs";
}

TEST(StudyPlots, GoOverNumbersOfGpus) {
  const StudyPlots plots = study_plots({.caption = "DataParallel. Predicted",
                                        .columns = {key("size"), key("strategy"), key("for gpus"), number("ms")},
                                        .rows = {{text("small"), text("flat"), text("2"), value(1)},
                                                 {text("small"), text("flat"), text("8"), value(2)},
                                                 {text("xl"), text("flat"), text("2"), value(3)},
                                                 {text("xl"), text("flat"), text("8"), value(4)}}});
  ASSERT_THAT(plots.charts, SizeIs(1));
  EXPECT_EQ(plots.charts[0].x, "GPUs");
  EXPECT_THAT(names(plots.charts[0]), ElementsAre("small", "xl"));
}

/// Returns a table of five sizes, two passes and two precisions at two contexts.
StudySection grid(std::size_t quantities) {
  StudySection section{
      .caption = "Model. Means", .columns = {key("size"), key("ctx"), key("pass"), key("precision")}, .rows = {}};
  const std::vector<std::string> headers{"operations", "mean ms", "tokens/s", "allocated MiB", "std ms"};
  for (std::size_t i = 0; i < quantities; ++i) section.columns.push_back(number(headers[i]));
  for (const char* size : {"small", "medium", "large", "xl", "2.7B"}) {
    for (const char* ctx : {"128", "256"}) {
      for (const char* pass : {"forward", "train_step"}) {
        for (const char* precision : {"fp32", "bf16"}) {
          auto& row =
              section.rows.emplace_back(std::vector<StudyCell>{text(size), text(ctx), text(pass), text(precision)});
          for (std::size_t i = 0; i < quantities; ++i) row.push_back(value(static_cast<double>(i + 1)));
        }
      }
    }
  }
  return section;
}

TEST(StudyPlots, DivideWhatHasTooManyLines) {
  const StudyPlots plots = study_plots(grid(1));
  EXPECT_THAT(titles(plots), ElementsAre("forward fp32, operations", "forward bf16, operations",
                                         "train_step fp32, operations", "train_step bf16, operations"));
  for (const LineChart& chart : plots.charts) {
    EXPECT_THAT(names(chart), ElementsAre("small", "medium", "large", "xl", "2.7B"));
    std::set<std::string> colours;
    std::set<std::size_t> shapes;
    for (const ChartSeries& series : chart.series) {
      colours.insert(series.colour);
      shapes.insert(series.shape);
    }
    EXPECT_THAT(colours, SizeIs(5));
    EXPECT_THAT(shapes, SizeIs(5));
  }
}

TEST(StudyPlots, OfManyQuantitiesShowTheFirstWithAUnit) {
  EXPECT_THAT(titles(study_plots(grid(3))), SizeIs(12));
  EXPECT_THAT(titles(study_plots(grid(5))), ElementsAre("forward fp32, mean ms", "forward bf16, mean ms",
                                                        "train_step fp32, mean ms", "train_step bf16, mean ms"));
}

TEST(StudyPlots, AreTwelveAtMost) {
  StudySection section = grid(3);
  std::vector<std::vector<StudyCell>> more = section.rows;
  for (auto& row : more) row[2] = text("graph_" + row[2].text);
  section.rows.insert(section.rows.end(), more.begin(), more.end());
  const StudyPlots plots = study_plots(section);
  EXPECT_THAT(plots.charts, SizeIs(12));
  EXPECT_EQ(plots.left_out, 12U);
}

TEST(StudyPlots, NeedAnAxisAndOneValueAPoint) {
  const StudySection one_context{
      .caption = "a", .columns = {key("ctx"), number("ms")}, .rows = {{text("128"), value(1)}}};
  EXPECT_THAT(study_plots(one_context).charts, IsEmpty());
  const StudySection no_axis{
      .caption = "a", .columns = {key("op"), number("ms")}, .rows = {{text("a"), value(1)}, {text("b"), value(2)}}};
  EXPECT_THAT(study_plots(no_axis).charts, IsEmpty());
  const StudySection kernels{
      .caption = "a",
      .columns = {key("ctx"), number("ms"), key("kernel")},
      .rows = {
          {text("128"), value(1), text("a")}, {text("128"), value(2), text("b")}, {text("256"), value(3), text("a")}}};
  EXPECT_THAT(study_plots(kernels).charts, IsEmpty()) << "several rows for one point";
  EXPECT_THAT(study_plots({.caption = "a", .columns = {}, .rows = {}}).charts, IsEmpty());
}

}  // namespace
}  // namespace tbench::html
