// Charts that need no script: SVG with the colours and fonts of page.css. There is one function for each kind of chart,
// and a few for the parts that several kinds have.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "html/charts/marks.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::html {

// Line chart: lines over two axes, with a legend below.

struct ChartPoint {
  double x{};
  double y{};
  PointFacts facts{};   // only drawn on a page with scripts
  bool has_no_value{};  // drawn as a cross at the top, and not part of the line; only on a page with scripts
};

enum class SeriesLook { kLineAndPoints, kLine, kPoints };

struct ChartSeries {
  std::string name;
  std::string colour;              // CSS: `var(--slot-1)`
  std::size_t shape{};             // index of its point shape; there are five shapes
  std::vector<ChartPoint> points;  // in the order of the line
  SeriesLook look{SeriesLook::kLineAndPoints};
  bool is_dashed{};
};

struct ChartTick {
  double at{};
  std::string label;
};

/// The kinds of pages that show a chart: without scripts, or with assets/chart.js.
enum class ChartPage { kPlain, kScripted };

struct LineChart {
  std::string title;
  std::string x;  // titles of the axes
  std::string y;
  std::vector<ChartTick> ticks;  // ticks of x, ascending; a label without room is left out. Empty: 1, 2, 5 of a decade
  std::vector<ChartSeries> series;
  ChartPage page{ChartPage::kPlain};
  bool begins_linear{};  // whether y is linear at first; only with is_switchable
  bool is_switchable{};  // whether the picture has both scales of y
  bool has_legend{true};
};

/// Returns a `figure` with two logarithmic axes. Texts are escaped. On a page with scripts, points carry their facts,
/// and a switchable chart has the ticks of both scales of y, of which one set is hidden.
/// @param chart  has at least one series with at least one point; all values are above 0
/// @throws       std::invalid_argument  for any other chart
[[nodiscard]] std::string line_chart(const LineChart& chart);

// Bar chart: one picture with an axis of its own for each group of bars, and a legend below.

/// The bars at the same position in all groups.
struct BarSeries {
  std::string name;
  std::string colour;   // CSS: `var(--slot-1)`
  std::size_t hatch{};  // 0 for a filled bar; 1, 2, ... for an outline with the lines of this kind of hatch
};

struct Bar {
  std::optional<double> value;
  std::string label;  // text of the value, or the reason for its absence
};

struct BarGroup {
  std::string name;
  std::vector<Bar> bars;  // one per series
};

struct BarChart {
  std::string title;
  std::vector<BarSeries> series;
  std::vector<BarGroup> groups;
};

/// Returns a `figure` as wide as the page. Each group's axis begins at 0 and ends at the group's longest bar, so that
/// lengths are comparable only within a group. With several groups, the title says so. Texts are escaped.
/// @param chart  has at least one group; each group has one bar per series, no value below 0 and a value above 0
/// @throws       std::invalid_argument  for any other chart
[[nodiscard]] std::string bar_chart(const BarChart& chart);

// Area chart: stacked areas, the parts of a sum along an axis.

struct AreaBand {
  std::string name;
  std::string colour;          // CSS
  std::vector<double> values;  // one per point of the chart
};

/// A vertical line across all bands, such as the begin of a phase.
struct AreaMark {
  std::string name;
  std::size_t point{};
};

struct AreaChart {
  std::string title;
  std::string x;  // titles of the axes
  std::string y;
  std::vector<double> points;   // positions on x, ascending
  std::vector<AreaBand> bands;  // from the lowest to the highest
  std::vector<AreaMark> marks;  // ascending; a name without room is left out
};

/// Returns a `figure` as wide as the page, with two linear axes; y begins at 0. Texts are escaped.
/// @param chart  has at least two points, and one value per band and point; values are finite and at least 0, and the
///               sum at some point is above 0
/// @throws       std::invalid_argument  for any other chart
[[nodiscard]] std::string area_chart(const AreaChart& chart);

// Flame graph that grows downwards (icicle): a whole and its nested parts, from top to bottom.

struct FlameBox {
  std::string name;
  std::string said;                     // text after the name in the tooltip
  std::optional<std::size_t> parent{};  // index of an earlier box; nullopt in the top row
  double value{};                       // width, in the unit of all boxes
  std::string colour{};                 // CSS
};

struct FlameChart {
  std::string title;
  std::vector<FlameBox> boxes;
};

/// Returns a `figure` as wide as the page. The top row fills the width. The boxes of a parent are side by side in their
/// order, and begin at the parent's left end. Boxes that are too narrow to be seen are not drawn. A name loses its
/// parent's name (`attention.qkv` in `attention` becomes `qkv`) and is cut to its box. Texts are escaped.
/// @param chart  values are finite and at least 0, and their sum is above 0; the boxes of a parent are together at most
///               as wide as the parent
/// @throws       std::invalid_argument  for any other chart, or if a parent does not precede its box
[[nodiscard]] std::string flame_chart(const FlameChart& chart);

// Heat map: a grid of ratios, coloured by their distance from 1.

struct HeatCell {
  std::optional<double> gain;  // logarithm of the ratio: above 0 is better than the base, below 0 is worse
  std::string label;
};

struct HeatMap {
  std::string title;
  std::string x;  // titles of the axes
  std::string y;
  std::vector<std::string> columns;          // texts below the grid
  std::vector<std::string> rows;             // texts to the left of the grid, from top to bottom
  std::vector<std::vector<HeatCell>> cells;  // per row, a cell per column
  std::string better;                        // legend: what a gain above 0 means
  std::string worse;
};

/// Returns a `figure`. The colour's strength is the gain's share of the largest gain or loss of the grid. A cell
/// without a gain is empty. Texts are escaped.
/// @param map  has a row, a column and a cell for each pair of them; all gains are finite
/// @throws     std::invalid_argument  for any other map
[[nodiscard]] std::string heat_map(const HeatMap& map);

// Waterfall chart: rows of bars. Each bar begins at the end of the bar above it, and sums begin at 0.

struct WaterfallBar {
  std::string name;
  studies::StudyStep step{};        // not kNone
  double value{};                   // length of the bar; negative values extend to the left
  std::vector<std::string> labels;  // one per column, to the right of the bar
  std::string detail;               // text of the tooltip; may be empty
};

struct WaterfallChart {
  std::string title;
  std::string x;  // title of the axis: the unit of the values
  std::vector<WaterfallBar> bars;
  std::string note;  // text below the chart; may be empty
};

/// Returns a `figure`. If rows do not add up to a sum, the bar after the sum begins at the end of the sum. Texts are
/// escaped.
/// @param chart  has a bar that ends above 0; all values are finite
/// @throws       std::invalid_argument  for any other chart
[[nodiscard]] std::string waterfall_chart(const WaterfallChart& chart);

// Parts that several kinds of charts have.

/// Returns a `text` element.
/// @param anchor  start, middle or end: the part of the text that is at `x`
/// @param text    text, which is escaped here
[[nodiscard]] std::string text_at(double x, double y, std::string_view anchor, std::string_view text);

[[nodiscard]] std::string grid_line(double x1, double y1, double x2, double y2);

/// Returns the multiples, from 0 to at most `high`, of the smallest step that makes `most` steps or fewer. Steps are 1,
/// 2 or 5 times a power of ten.
/// @param high  finite and above 0
/// @param most  at least 2
/// @throws      std::invalid_argument  for other values
[[nodiscard]] std::vector<double> steps_from_zero(double high, int most);

}  // namespace tbench::html
