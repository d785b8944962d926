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

LineChart sample() {
  return {.title = "forward <fp32>",
          .x = "ctx (tokens)",
          .y = "ms",
          .ticks = {{128, "128"}, {256, "256"}, {512, "512"}},
          .series = {{.name = "small & medium",
                      .colour = "var(--slot-1)",
                      .shape = 0,
                      .points = {{128, 1}, {256, 10}, {512, 100}}}}};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(LineChart, HasItsTextsEscaped) {
  const std::string chart = line_chart(sample());
  EXPECT_THAT(chart, AllOf(HasSubstr("<figcaption>forward &lt;fp32&gt;</figcaption>"), HasSubstr("small &amp; medium"),
                           Not(HasSubstr("<fp32>"))));
  EXPECT_THAT(chart,
              HasSubstr("aria-label=\"forward &lt;fp32&gt;: ms by ctx (tokens), 3 values, which the table lists\""));
  EXPECT_THAT(chart, HasSubstr("--series:var(--slot-1)"));
  EXPECT_EQ(count_of(chart, "<title>"), 3U) << "what the pointer is told of each point";
}

TEST(LineChart, IsLogarithmic) {
  // Equal ratios have equal distances. With a margin of r = 1.08, x = 64 + 480 * (ln 2^i + ln r) / (ln 4 + 2 ln r).
  // With r = 100^0.05, y = 12 + 244 * (1 - (ln 10^i + ln r) / (ln 100 + 2 ln r)).
  EXPECT_THAT(line_chart(sample()), HasSubstr("d=\"M88.0 244.9L304.0 134.0L520.0 23.1\""));
}

TEST(LineChart, LabelsWhatHasRoom) {
  LineChart chart = sample();
  chart.ticks = {{128, "128"}, {129, "129"}, {512, "512"}};
  const std::string text = line_chart(chart);
  EXPECT_THAT(text, AllOf(HasSubstr(">128</text>"), Not(HasSubstr(">129</text>")), HasSubstr(">512</text>")));
  for (const char* label : {">1</text>", ">2</text>", ">5</text>", ">10</text>", ">100</text>"})
    EXPECT_THAT(text, HasSubstr(label));
  EXPECT_THAT(text, Not(HasSubstr(">3</text>")));
}

TEST(LineChart, OfValuesNearEachOtherHasLabelsToo) {
  LineChart chart = sample();
  chart.series[0].points = {{128, 61}, {512, 69}};
  EXPECT_EQ(count_of(line_chart(chart), "text-anchor=\"end\""), 2U) << "of 57 to 75: 60 and 70";
  chart.series[0].points = {{128, 1}};
  EXPECT_NO_THROW(static_cast<void>(line_chart(chart))) << "a point alone";
}

TEST(LineChart, TakesNoValuesThatALogarithmLacks) {
  for (const double value : {0.0, -1.0, std::nan(""), static_cast<double>(INFINITY)}) {
    LineChart chart = sample();
    chart.series[0].points[1].y = value;
    EXPECT_THROW(static_cast<void>(line_chart(chart)), std::invalid_argument) << value;
  }
  LineChart empty = sample();
  empty.series[0].points.clear();
  EXPECT_THROW(static_cast<void>(line_chart(empty)), std::invalid_argument);
}

LineChart scripted() {
  LineChart chart = sample();
  chart.page = ChartPage::kScripted;
  chart.is_switchable = true;
  chart.series[0].is_dashed = true;
  chart.series[0].points[2].has_no_value = true;
  chart.series[0].points[2].facts.status = "oom";
  return chart;
}

TEST(LineChart, OnAPageWithScriptsHasBothScalesAndFacts) {
  const std::string chart = line_chart(scripted());
  EXPECT_THAT(chart, AllOf(HasSubstr("class=\"ticks\" data-scale=\"log\""), HasSubstr("data-scale=\"linear\"")));
  EXPECT_EQ(count_of(chart, "display=\"none\""), 1U) << "one of them is shown";
  EXPECT_THAT(chart, AllOf(HasSubstr("data-x=\"128\" data-y=\"1\""), HasSubstr("class=\"line dashed\""),
                           HasSubstr("class=\"cross\""), HasSubstr("data-x=\"512\" data-y=\"\" data-status=\"oom\"")));
  EXPECT_EQ(count_of(chart, "<title>"), 0U) << "the script has the tooltips";
  EXPECT_THAT(chart, HasSubstr(">ms, log</text>"));
}

TEST(LineChart, ALineAloneKeepsItsValues) {
  LineChart chart = scripted();
  chart.series.push_back(
      {.name = "roof", .colour = "var(--text)", .points = {{128, 5}, {512, 5}}, .look = SeriesLook::kLine});
  EXPECT_THAT(line_chart(chart), HasSubstr(" 5 128,"));
}

}  // namespace
}  // namespace tbench::html
