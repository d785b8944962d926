// Tests the positions of cells: x goes from 84 to 554, and rows have a height of 28 from y = 6 on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "html/charts/charts.hpp"

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

HeatMap sample() {
  return {.title = "speed-up & more",
          .x = "seq_len",
          .y = "d_model",
          .columns = {"128", "256"},
          .rows = {"16", "<32>"},
          .cells = {{{.gain = std::log(4.0), .label = "4.00"}, {.gain = std::log(2.0), .label = "2.00"}},
                    {{.gain = std::log(0.5), .label = "0.50"}, {}}},
          .better = "faster",
          .worse = "slower"};
}

TEST(HeatMap, ACellIsColouredByItsShareOfTheLargestGain) {
  const std::string map = heat_map(sample());
  // Two columns share 554 - 84 = 470. The opacity goes from 0.08 to 0.60: 0.34 for half of the largest logarithm.
  EXPECT_THAT(map, HasSubstr("x=\"84.0\" y=\"6.0\" width=\"235.0\" height=\"28\" "
                             "style=\"fill:var(--good);fill-opacity:0.60\"><title>d_model 16, seq_len 128: 4.00<"));
  EXPECT_THAT(map, HasSubstr("x=\"319.0\" y=\"6.0\" width=\"235.0\" height=\"28\" "
                             "style=\"fill:var(--good);fill-opacity:0.34\"><title>d_model 16, seq_len 256: 2.00<"));
  EXPECT_THAT(map, HasSubstr("x=\"84.0\" y=\"34.0\" width=\"235.0\" height=\"28\" "
                             "style=\"fill:var(--bad);fill-opacity:0.34\"><title>d_model &lt;32&gt;, seq_len 128"));
}

TEST(HeatMap, ACellWithoutAGainIsEmpty) { EXPECT_THAT(heat_map(sample()), Not(HasSubstr("x=\"319.0\" y=\"34.0\""))); }

TEST(HeatMap, EqualSidesAreFaint) {
  HeatMap map = sample();
  map.cells = {{{.gain = 0, .label = "1.00"}, {}}, {{}, {}}};
  EXPECT_THAT(heat_map(map), HasSubstr("style=\"fill:var(--good);fill-opacity:0.08\""));
}

TEST(HeatMap, NamesItsAxesAndItsColours) {
  EXPECT_THAT(heat_map(sample()),
              AllOf(HasSubstr("aria-label=\"speed-up &amp; more: d_model by seq_len, 2 x 2 cells\""),
                    HasSubstr(">seq_len</text>"), HasSubstr(">d_model</text>"), HasSubstr("</svg>faster</li>"),
                    HasSubstr("</svg>slower</li>")));
}

TEST(HeatMap, TakesWhatItCanDraw) {
  const auto refuses = [](auto change) {
    HeatMap map = sample();
    change(map);
    EXPECT_THROW(static_cast<void>(heat_map(map)), std::invalid_argument);
  };
  refuses([](HeatMap& map) { map.columns.clear(); });
  refuses([](HeatMap& map) { map.rows.pop_back(); });
  refuses([](HeatMap& map) { map.cells[1].pop_back(); });
  refuses([](HeatMap& map) { map.cells[0][0].gain = std::numeric_limits<double>::infinity(); });
}

}  // namespace
}  // namespace tbench::html
