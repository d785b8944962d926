// Tests the coordinates of bars in the picture of a group. The axis begins at x = 46, the bars have at least 170 in
// all, and the longest bar is 190 long.
#include "html/charts/charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

BarChart sample() {
  return {.title = "train_step & <ms>",
          .series = {{.name = "sdpa", .colour = "var(--slot-2)", .hatch = 0},
                     {.name = "sdpa graph", .colour = "var(--slot-2)", .hatch = 1}},
          .groups = {{.name = "small", .bars = {{.value = 10, .label = "10.00"}, {.value = 5, .label = "5.000"}}}}};
}

TEST(BarChart, LengthsAreTheValuesFromZero) {
  const std::string chart = bar_chart(sample());
  // Each bar has a slot of width 170 / 2 = 85, of which it uses at most 30. Labels of five letters need 10 + 5 * 7.2 =
  // 46 above the longest bar, whose foot is at 46 + 190 = 236.
  EXPECT_THAT(chart, HasSubstr("<rect class=\"bar\" x=\"73.5\" y=\"46.0\" width=\"30.0\" height=\"190.0\">"));
  // The second bar is half as long and begins at 236 - 95 = 141. Its outline of 1.5 lies inside the bar.
  EXPECT_THAT(chart, HasSubstr("<rect class=\"bar open\" x=\"159.25\" y=\"141.75\" width=\"28.50\" height=\"93.50\">"));
}

TEST(BarChart, AnOutlineIsHatched) {
  // The first hatch line cuts the top left corner at a distance of 6. The other kind of hatch cuts the bottom left
  // corner.
  EXPECT_THAT(bar_chart(sample()), HasSubstr("<path class=\"hatch\" d=\"M159.2 147.8L165.2 141.8M"));
  BarChart chart = sample();
  chart.series[1].hatch = 2;
  EXPECT_THAT(bar_chart(chart), HasSubstr("<path class=\"hatch\" d=\"M159.2 229.2L165.2 235.2M"));
  chart.series[1].hatch = 0;
  EXPECT_THAT(bar_chart(chart), Not(HasSubstr("hatch")));
}

TEST(BarChart, LabelsStandAboveBarsOrInTheirPlace) {
  BarChart chart = sample();
  chart.groups[0].bars[1] = {.value = {}, .label = "OOM"};
  const std::string text = bar_chart(chart);
  EXPECT_THAT(text, HasSubstr("<text transform=\"translate(92.5 41.0) rotate(-90)\">10.00</text>"));
  EXPECT_THAT(text, HasSubstr("<text transform=\"translate(177.5 231.0) rotate(-90)\">OOM</text>"));
  EXPECT_THAT(text, HasSubstr("<title>sdpa: 10.00</title>"));
  EXPECT_THAT(text, Not(HasSubstr("<title>sdpa graph")));
}

TEST(BarChart, EveryGroupHasItsAxisAndTheFigureSaysSo) {
  BarChart chart = sample();
  EXPECT_THAT(bar_chart(chart), AllOf(Not(HasSubstr("axis of its own")), HasSubstr(">10</text>")));
  chart.groups.push_back({.name = "xl", .bars = {{.value = 100, .label = "100.0"}, {.value = 100, .label = "100.0"}}});
  const std::string text = bar_chart(chart);
  EXPECT_THAT(text,
              HasSubstr("<figcaption>train_step &amp; &lt;ms&gt;, each group on an axis of its own</figcaption>"));
  EXPECT_THAT(text, AllOf(HasSubstr(">10</text>"), HasSubstr(">100</text>"), HasSubstr(">xl</text>")));
  EXPECT_THAT(text, HasSubstr("<rect class=\"bar\" x=\"73.5\" y=\"46.0\" width=\"30.0\" height=\"190.0\">"
                              "<title>sdpa: 100.0</title>"));
}

TEST(BarChart, ManyBarsHaveWiderPictures) {
  BarChart chart = sample();
  for (int i = 0; i < 8; ++i) {
    chart.series.push_back({.name = std::to_string(i), .colour = "var(--slot-1)"});
    chart.groups[0].bars.push_back({.value = 1, .label = "1"});
  }
  // Ten slots of width 24 lie between margins of 46 and 6. Labels need 46, bars 190, and names 24. A bar takes 0.7 of
  // its slot.
  EXPECT_THAT(bar_chart(chart), AllOf(HasSubstr("viewBox=\"0 0 292 260\""), HasSubstr("width=\"16.8\"")));
}

TEST(BarChart, TakesWhatItCanDraw) {
  const auto refuses = [](auto change) {
    BarChart chart = sample();
    change(chart);
    EXPECT_THROW(static_cast<void>(bar_chart(chart)), std::invalid_argument);
  };
  for (const double value : {-1.0, std::nan(""), static_cast<double>(INFINITY)})
    refuses([value](BarChart& chart) { chart.groups[0].bars[1].value = value; });
  refuses([](BarChart& chart) {
    for (Bar& bar : chart.groups[0].bars) bar.value = 0;
  });
  refuses([](BarChart& chart) { chart.groups[0].bars.pop_back(); });
  refuses([](BarChart& chart) { chart.groups.clear(); });
}

}  // namespace
}  // namespace tbench::html
