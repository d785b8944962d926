// Tests the coordinates of boxes: the picture is 1,180 wide, and a row is 22 high.
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

FlameBox box(const std::string& name, std::optional<std::size_t> parent, double value) {
  return {.name = name, .said = "told", .parent = parent, .value = value, .colour = "red"};
}

/// Returns boxes with a sum of 10: FORWARD 4 { attention 1, ffn 2 }, BACKWARD 6 { ffn 6 }.
FlameChart sample() {
  return {.title = "a <step>",
          .boxes = {box("FORWARD", {}, 4), box("BACKWARD", {}, 6), box("attention & more", 0, 1), box("ffn", 0, 2),
                    box("ffn again", 1, 6)}};
}

TEST(FlameChart, BoxesAreAsWideAsTheirValuesBelowTheirParent) {
  const std::string chart = flame_chart(sample());
  const auto has = [&](const std::string& place) {
    EXPECT_THAT(chart, HasSubstr("<rect class=\"box\" style=\"fill:red\" " + place + " height=\"21\">"));
  };
  has("x=\"0.00\" y=\"0\" width=\"472.00\"");  // 118 of 1
  has("x=\"472.00\" y=\"0\" width=\"708.00\"");
  has("x=\"0.00\" y=\"22\" width=\"118.00\"");
  has("x=\"118.00\" y=\"22\" width=\"236.00\"");  // the rest of FORWARD stays empty
  has("x=\"472.00\" y=\"22\" width=\"708.00\"");
  EXPECT_THAT(chart, HasSubstr("viewBox=\"0 0 1180 44\""));
}

TEST(FlameChart, NamesAreCutToTheirBox) {
  // A width of 118, less 8, holds 16 letters of 6.7.
  EXPECT_THAT(flame_chart(sample()), HasSubstr(">attention &amp; more</text>"));
  FlameChart chart = sample();
  chart.boxes[2].name = "attention and more";
  EXPECT_THAT(flame_chart(chart), HasSubstr(">attention and m…</text>"));
  EXPECT_THAT(flame_chart(chart), HasSubstr("<title>attention and more: told</title>"));
  chart.boxes[2].value = 0.2;  // a width of 23.6, less 8: two letters
  EXPECT_THAT(flame_chart(chart), AllOf(Not(HasSubstr("…</text>")), HasSubstr("<title>attention and more")));
}

TEST(FlameChart, WhatANameSharesWithTheBoxAroundIsLeftOut) {
  FlameChart chart = sample();
  chart.boxes[0].name = "attention";
  chart.boxes[2].name = "attention.qkv";
  chart.boxes[3].name = "attentions";
  EXPECT_THAT(flame_chart(chart), AllOf(HasSubstr("<title>attention.qkv: told</title>"), HasSubstr(">qkv</text>"),
                                        HasSubstr(">attentions</text>")));
}

TEST(FlameChart, WhatIsTooNarrowIsNotDrawnAndTakesItsPlace) {
  FlameChart chart = sample();
  chart.boxes[2].value = 0.003;  // a width of 0.354
  const std::string text = flame_chart(chart);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("attention")), HasSubstr("x=\"0.35\" y=\"22\" width=\"236.00\"")));
}

TEST(FlameChart, HasItsTextsEscaped) {
  EXPECT_THAT(flame_chart(sample()),
              AllOf(HasSubstr("<figcaption>a &lt;step&gt;</figcaption>"), Not(HasSubstr("<step>"))));
}

TEST(FlameChart, TakesWhatItCanDraw) {
  const auto refuses = [](auto change) {
    FlameChart chart = sample();
    change(chart);
    EXPECT_THROW(static_cast<void>(flame_chart(chart)), std::invalid_argument);
  };
  refuses([](FlameChart& chart) { chart.boxes.clear(); });
  refuses([](FlameChart& chart) { chart.boxes[2].value = -1; });
  refuses([](FlameChart& chart) { chart.boxes[2].value = std::nan(""); });
  refuses([](FlameChart& chart) { chart.boxes[2].parent = 3; });
  refuses([](FlameChart& chart) { chart.boxes[3].value = 3.1; });  // together with the 1 next to it, more than 4
  FlameChart nothing = sample();
  for (FlameBox& one : nothing.boxes) one.value = 0;
  EXPECT_THROW(static_cast<void>(flame_chart(nothing)), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::html
