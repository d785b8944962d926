// Tests the coordinates of bars: the picture is 590 wide, names end at 176, and a bar takes 18 of each row of 30.
#include "html/charts/charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace tbench::html {
namespace {

using studies::StudyStep;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

WaterfallBar bar(const std::string& name, StudyStep step, double value, const std::string& ms,
                 const std::string& share) {
  return {.name = name, .step = step, .value = value, .labels = {ms, share}, .detail = {}};
}

/// Returns a chart of 2 + 3 = 5, minus 1, plus 6: 10.
WaterfallChart sample() {
  return {.title = "small <sdpa>",
          .x = "ms",
          .bars = {bar("floor: products", StudyStep::kFloor, 2, "2 ms", "20 %"),
                   bar("floor: others", StudyStep::kFloor, 3, "3 ms", "30 %"),
                   bar("= floor", StudyStep::kSum, 5, "5 ms", "50 %"),
                   bar("products beyond it", StudyStep::kLoss, -1, "-1 ms", "-10 %"),
                   bar("others beyond it", StudyStep::kLoss, 6, "6 ms", "60 %"),
                   bar("= step", StudyStep::kSum, 10, "10 ms", "100 %")},
          .note = "the most is lost to: others & co"};
}

TEST(WaterfallChart, BarsBeginWhereTheOneAboveEnded) {
  // Labels have at most five letters and need 14 + 5 * 6.9 = 48.5, twice. This leaves 590 - 176 - 97 = 317 for 10 ms.
  const std::string chart = waterfall_chart(sample());
  const auto has = [&](const std::string& box) {
    EXPECT_THAT(chart, HasSubstr("<rect class=" + box + " height=\"18\">"));
  };
  has("\"floor\" x=\"176.00\" y=\"12.0\" width=\"63.40\"");
  has("\"floor\" x=\"239.40\" y=\"42.0\" width=\"95.10\"");
  has("\"sum\" x=\"176.00\" y=\"72.0\" width=\"158.50\"");
  has("\"gain\" x=\"302.80\" y=\"102.0\" width=\"31.70\"");  // from 5 back to 4
  has("\"loss\" x=\"302.80\" y=\"132.0\" width=\"190.20\"");
  has("\"sum\" x=\"176.00\" y=\"162.0\" width=\"317.00\"");
  EXPECT_THAT(chart, AllOf(HasSubstr("<path class=\"link\" d=\"M239.40 30.0V42.0\"/>"),
                           HasSubstr("<path class=\"link\" d=\"M302.80 120.0V132.0\"/>")));
  EXPECT_THAT(chart, HasSubstr("viewBox=\"0 0 590 224\"")) << "six rows between 6 and 38";
}

TEST(WaterfallChart, LabelsAreInColumns) {
  const std::string chart = waterfall_chart(sample());
  EXPECT_THAT(chart, HasSubstr("<text x=\"541.5\" y=\"115.0\" text-anchor=\"end\">-1 ms</text>"));
  EXPECT_THAT(chart, HasSubstr("<text x=\"590.0\" y=\"115.0\" text-anchor=\"end\">-10 %</text>"));
  EXPECT_THAT(chart, HasSubstr("<title>products beyond it: -1 ms, -10 %</title>"));
}

TEST(WaterfallChart, BelowZeroTheAxisIsLonger) {
  WaterfallChart chart = sample();
  chart.bars[3].value = -7;
  chart.bars[4].value = 12;
  // The axis ranges from -2 to 10: 317 / 12 per ms. 0 is at 176 + 52.83.
  EXPECT_THAT(waterfall_chart(chart),
              AllOf(HasSubstr("<rect class=\"floor\" x=\"228.83\" y=\"12.0\" width=\"52.83\""),
                    HasSubstr("<rect class=\"gain\" x=\"176.00\" y=\"102.0\" width=\"184.92\"")));
}

TEST(WaterfallChart, ASumIsDrawnAsItIs) {
  WaterfallChart chart = sample();
  chart.bars[2].value = 6;
  EXPECT_THAT(waterfall_chart(chart), HasSubstr("<rect class=\"gain\" x=\"320.")) << "back from 6 of 11 to 5";
}

TEST(WaterfallChart, LongNamesHaveTwoLines) {
  WaterfallChart chart = sample();
  chart.bars[0].name = "matrix products, attention's too beyond it";
  std::string text = waterfall_chart(chart);
  EXPECT_THAT(text, HasSubstr("y=\"17.8\" text-anchor=\"end\">matrix products,</text>"));
  EXPECT_THAT(text, HasSubstr("y=\"32.2\" text-anchor=\"end\">attention's too beyond it</text>"));
  chart.bars[0].name += " and everything that is more than two lines";
  text = waterfall_chart(chart);
  EXPECT_THAT(text, HasSubstr(">attention's too beyond it …</text>"));
}

TEST(WaterfallChart, ShortBarsCanBeSeen) {
  WaterfallChart chart = sample();
  chart.bars[0].value = 0.001;
  EXPECT_THAT(waterfall_chart(chart), HasSubstr("<rect class=\"floor\" x=\"176.00\" y=\"12.0\" width=\"1.00\""));
}

TEST(WaterfallChart, ItsLegendHasTheKindsThatThereAre) {
  WaterfallChart chart = sample();
  EXPECT_THAT(waterfall_chart(chart), HasSubstr("less than it"));
  chart.bars.erase(chart.bars.begin() + 3);
  EXPECT_THAT(waterfall_chart(chart), AllOf(Not(HasSubstr("less than it")), HasSubstr("beyond it")));
}

TEST(WaterfallChart, HasItsTextsEscaped) {
  WaterfallChart chart = sample();
  chart.bars[0].detail = "a<b";
  EXPECT_THAT(waterfall_chart(chart),
              AllOf(HasSubstr("<figcaption>small &lt;sdpa&gt;</figcaption>"), HasSubstr("others &amp; co</p>"),
                    HasSubstr("2 ms, 20 %; a&lt;b</title>"), Not(HasSubstr("<sdpa>"))));
}

TEST(WaterfallChart, TakesWhatItCanDraw) {
  const auto refuses = [](auto change) {
    WaterfallChart chart = sample();
    change(chart);
    EXPECT_THROW(static_cast<void>(waterfall_chart(chart)), std::invalid_argument);
  };
  refuses([](WaterfallChart& chart) { chart.bars.clear(); });
  refuses([](WaterfallChart& chart) { chart.bars[1].value = std::nan(""); });
  refuses([](WaterfallChart& chart) { chart.bars[1].step = StudyStep::kNone; });
}

}  // namespace
}  // namespace tbench::html
