#include "html/charts/column_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ColumnChart sample() {
  return {
      .title = "forward <bf16>",
      .x = "size",
      .y = "TB/s",
      .categories = {"small", "xl"},
      .series = {{.name = "aten", .colour = "var(--slot-0)", .columns = {{0, 2, {}}, {1, 4, {}}}},
                 {.name = "fused", .colour = "var(--slot-7)", .is_open = true, .columns = {{1, 1, {.unit = "TB/s"}}}}}};
}

TEST(ColumnChart, BarsBeginAtZeroOnOneAxis) {
  // The highest bar has the whole length of 236 units, from 10 to 246.
  const std::string chart = column_chart(sample());
  EXPECT_THAT(chart, AllOf(HasSubstr("y=\"128.00\" width=\"31.68\" height=\"118.00\" data-x=\"small\" data-y=\"2\""),
                           HasSubstr("y=\"10.00\" width=\"31.68\" height=\"236.00\" data-x=\"xl\" data-y=\"4\""),
                           HasSubstr("height=\"59.00\" data-x=\"xl\" data-y=\"1\" data-unit=\"TB/s\"")));
  EXPECT_THAT(chart,
              AllOf(HasSubstr("class=\"bar open\""), HasSubstr("forward &lt;bf16&gt;"), Not(HasSubstr("<bf16>"))));
}

TEST(ColumnChart, LevelsAreInsideOfTheAxis) {
  ColumnChart chart = sample();
  chart.level = 8;
  chart.level_name = "ceiling";
  EXPECT_THAT(column_chart(chart),
              AllOf(HasSubstr("class=\"line dashed\" d=\"M98 10.0H548\""), HasSubstr("ceiling</li>"),
                    HasSubstr("height=\"118.00\" data-x=\"xl\" data-y=\"4\"")));
}

TEST(ColumnChart, LongNamesSlant) {
  ColumnChart chart = sample();
  EXPECT_THAT(column_chart(chart), Not(HasSubstr("rotate(-40)")));
  chart.categories[0] = "a name of many letters that has no room";
  EXPECT_THAT(column_chart(chart), HasSubstr("rotate(-40)"));
}

TEST(ColumnChart, RefusesOtherValues) {
  for (const double value : {-1.0, std::nan("")}) {
    ColumnChart chart = sample();
    chart.series[0].columns[0].value = value;
    EXPECT_THROW(static_cast<void>(column_chart(chart)), std::invalid_argument) << value;
  }
  ColumnChart chart = sample();
  chart.series[0].columns[0].category = 2;
  EXPECT_THROW(static_cast<void>(column_chart(chart)), std::invalid_argument) << "no such category";
  chart.series.clear();
  EXPECT_THROW(static_cast<void>(column_chart(chart)), std::invalid_argument) << "no bars";
}

}  // namespace
}  // namespace tbench::html
