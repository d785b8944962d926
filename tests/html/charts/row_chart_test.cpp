#include "html/charts/row_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

RowChart sample() {
  return {.title = "phases",
          .x = "ms",
          .rows = {"eager <a>", "flash"},
          .series = {{.name = "forward",
                      .colour = "var(--accent)",
                      .look = RowLook::kBar,
                      .marks = {{0, 0, 4, 4, {}}, {1, 0, 2, 2, {}}}},
                     {.name = "gap", .colour = "var(--bad)", .look = RowLook::kOutline, .marks = {{0, 4, 8, 4, {}}}}}};
}

TEST(RowChart, BarsBeginWhereTheyAreToldOnAnAxisFromZero) {
  // The axis of 526 units is from 14 to 540 and holds 8 ms.
  const std::string chart = row_chart(sample());
  EXPECT_THAT(chart, AllOf(HasSubstr("class=\"bar\" x=\"14.00\" y=\"21.0\" width=\"263.00\""),
                           HasSubstr("class=\"bar open\" x=\"277.00\" y=\"21.0\" width=\"263.00\""),
                           HasSubstr("data-row=\"1\" data-x=\"flash\" data-y=\"2\"")));
  EXPECT_THAT(chart, AllOf(HasSubstr(">eager &lt;a&gt;</text>"), HasSubstr(">ms</text>"), Not(HasSubstr("from"))));
}

TEST(RowChart, SaysWhereAnAxisWithAReferenceBegins) {
  const RowChart chart{
      .title = "ratios",
      .x = "time / time of a",
      .rows = {"small"},
      .series =
          {{.name = "SAME", .colour = "var(--accent)", .look = RowLook::kPoint, .marks = {{0, 1.1, 1.1, 1.1, {}}}},
           {.name = "95 %", .colour = "var(--dim)", .look = RowLook::kInterval, .marks = {{0, 1.05, 1.2, 1.1, {}}}}},
      .reference = 1.0};
  EXPECT_THAT(row_chart(chart), AllOf(HasSubstr("time / time of a, from 0.9940"), HasSubstr("class=\"interval\""),
                                      HasSubstr("class=\"link\""), HasSubstr("class=\"point\"")));
}

TEST(RowChart, CutsLongNamesBetweenLetters) {
  RowChart chart = sample();
  chart.rows[0] = std::string(82, 'a') + "····";
  EXPECT_THAT(row_chart(chart), HasSubstr(">" + std::string(82, 'a') + "…</text>"));
}

TEST(RowChart, RefusesOtherValues) {
  RowChart chart = sample();
  chart.series[0].marks[0].to = INFINITY;
  EXPECT_THROW(static_cast<void>(row_chart(chart)), std::invalid_argument);
  chart = sample();
  chart.series[0].marks[0].row = 2;
  EXPECT_THROW(static_cast<void>(row_chart(chart)), std::invalid_argument) << "no such row";
  chart.series.clear();
  EXPECT_THROW(static_cast<void>(row_chart(chart)), std::invalid_argument) << "no marks";
}

}  // namespace
}  // namespace tbench::html
