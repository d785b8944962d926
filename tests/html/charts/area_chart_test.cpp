// Tests the coordinates of areas: x from 70 to 1,170, y from 300 up to 22.
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

AreaChart sample() {
  return {.title = "memory & more",
          .x = "event",
          .y = "MiB",
          .points = {1, 2, 6},
          .bands = {{.name = "before", .colour = "var(--slot-0)", .values = {50, 50, 50}},
                    {.name = "<FORWARD>", .colour = "var(--slot-2)", .values = {0, 50, 10}}},
          .marks = {{.name = "forward", .point = 0}, {.name = "backward", .point = 1}}};
}

TEST(AreaChart, BandsLieOnEachOther) {
  const std::string chart = area_chart(sample());
  // One step of x is 1,100 / 5 = 220. 100 MiB have a height of 278, so 50 MiB have 139 (y = 161), and 60 MiB have 166.8
  // (y = 133.2).
  EXPECT_THAT(chart, HasSubstr("d=\"M70.0 161.0L290.0 161.0L1170.0 161.0L1170.0 300.0L290.0 300.0L70.0 300.0Z\""));
  EXPECT_THAT(chart, HasSubstr("d=\"M70.0 161.0L290.0 22.0L1170.0 133.2L1170.0 161.0L290.0 161.0L70.0 161.0Z\""));
  EXPECT_THAT(chart, HasSubstr("<title>&lt;FORWARD&gt;: up to 50.00 MiB</title>"));
}

TEST(AreaChart, MarksAreNamedWhereThereIsRoom) {
  AreaChart chart = sample();
  EXPECT_THAT(area_chart(chart), AllOf(HasSubstr("d=\"M290.0 16V300\""), HasSubstr(">forward</text>"),
                                       HasSubstr("x=\"293.0\" y=\"14.0\" text-anchor=\"start\">backward</text>")));
  chart.marks[1].point = 2;
  EXPECT_THAT(area_chart(chart), HasSubstr("x=\"1167.0\" y=\"14.0\" text-anchor=\"end\">backward</text>"))
      << "before the mark, where the picture ends";
  chart.marks[1].point = 1;
  chart.points = {1, 1.1, 6};
  EXPECT_THAT(area_chart(chart), AllOf(HasSubstr(">forward</text>"), Not(HasSubstr(">backward</text>"))));
}

TEST(AreaChart, ItsLegendIsInTheOrderOfTheBands) {
  const std::string chart = area_chart(sample());
  const std::size_t legend = chart.find("class=\"legend\"");
  ASSERT_NE(legend, std::string::npos);
  EXPECT_LT(chart.find("&lt;FORWARD&gt;", legend), chart.find("before", legend)) << "the highest first";
}

TEST(AreaChart, TakesWhatItCanDraw) {
  const auto refuses = [](auto change) {
    AreaChart chart = sample();
    change(chart);
    EXPECT_THROW(static_cast<void>(area_chart(chart)), std::invalid_argument);
  };
  refuses([](AreaChart& chart) { chart.points = {1, 2}; });
  refuses([](AreaChart& chart) { chart.points = {1, 3, 2}; });
  refuses([](AreaChart& chart) { chart.points = {1, 1, 1}; });
  refuses([](AreaChart& chart) { chart.bands[0].values[1] = -1; });
  refuses([](AreaChart& chart) { chart.bands[0].values[1] = std::nan(""); });
  refuses([](AreaChart& chart) { chart.marks[1].point = 3; });
  refuses([](AreaChart& chart) { chart.bands.clear(); });
}

}  // namespace
}  // namespace tbench::html
