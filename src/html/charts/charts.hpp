// Charts that need no script: SVG with the colours and fonts of page.css. One function for each kind, and the parts
// that several kinds have.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/studies/study.hpp"

namespace tbench::html {

// Lines over two axes, and below them a legend.

struct ChartPoint {
  double x{};
  double y{};
};

struct ChartSeries {
  std::string name;
  std::string colour;              // CSS: `var(--slot-1)`
  std::size_t shape{};             // index of its point shape; there are five shapes
  std::vector<ChartPoint> points;  // in the order in which the line goes
};

struct ChartTick {
  double at{};
  std::string label;
};

struct LineChart {
  std::string title;
  std::string x;  // titles of the axes
  std::string y;
  std::vector<ChartTick> ticks;  // of x, ascending; those without room for their label have none
  std::vector<ChartSeries> series;
};

/// A `figure` with both axes logarithmic. Texts are escaped.
/// @param chart  a series at least, with a point at least; all values are above 0
/// @throws       std::invalid_argument  for another one
[[nodiscard]] std::string line_chart(const LineChart& chart);

// Bars in groups: a picture for each group, whose axis is its own, and below them a legend.

/// Bars of the same place in each group.
struct BarSeries {
  std::string name;
  std::string colour;   // CSS: `var(--slot-1)`
  std::size_t hatch{};  // 0: a full bar; 1, 2, ...: an outline with lines, each number others
};

struct Bar {
  std::optional<double> value;
  std::string label;  // text of the value, or the reason for its absence
};

struct BarGroup {
  std::string name;
  std::vector<Bar> bars;  // one a series
};

struct BarChart {
  std::string title;
  std::vector<BarSeries> series;
  std::vector<BarGroup> groups;
};

/// A `figure` as wide as the page, which says so where groups are several: every group's axis begins at 0 and ends at
/// its longest bar: lengths compare within a group. Texts are escaped.
/// @param chart  has a group at least; each has one bar a series, and a value that is above 0; none is below it
/// @throws       std::invalid_argument  for another one
[[nodiscard]] std::string bar_chart(const BarChart& chart);

// Areas one on the other: what a sum is made of while something goes on.

struct AreaBand {
  std::string name;
  std::string colour;          // CSS
  std::vector<double> values;  // one a point of the chart
};

/// A line across all bands where something begins.
struct AreaMark {
  std::string name;
  std::size_t point{};
};

struct AreaChart {
  std::string title;
  std::string x;  // titles of the axes
  std::string y;
  std::vector<double> points;   // places on x, ascending
  std::vector<AreaBand> bands;  // the lowest first
  std::vector<AreaMark> marks;  // ascending; those without room for their name, behind or before, have none
};

/// A `figure` as wide as the page; both axes are linear, y begins at 0. Texts are escaped.
/// @param chart  two points at least, a value of each band at each of them, finite and at least 0; a sum above 0
/// @throws       std::invalid_argument  for another one
[[nodiscard]] std::string area_chart(const AreaChart& chart);

// An icicle: what a whole is made of, from the top to the bottom.

struct FlameBox {
  std::string name;
  std::string said;                     // text of the tooltip after the name
  std::optional<std::size_t> parent{};  // index of an earlier box; nullopt in the top row
  double value{};                       // how wide it is, in the unit of all
  std::string colour{};                 // CSS
};

struct FlameChart {
  std::string title;
  std::vector<FlameBox> boxes;
};

/// A `figure` as wide as the page. Boxes of one parent are side by side in their order and begin where the parent does;
/// the top row is as wide as the picture. What is too narrow to be seen is not drawn, and names are cut to their box:
/// of `attention.qkv` in `attention` there is `qkv`. Texts are escaped.
/// @param chart  values are finite, above 0 in sum and at least 0; the boxes of one parent are at most the parent in
///               sum
/// @throws       std::invalid_argument  for another one, or a parent that is not before its box
[[nodiscard]] std::string flame_chart(const FlameChart& chart);

// A waterfall: rows of bars that each begin where the one above ended, and sums from 0.

struct WaterfallBar {
  std::string name;
  studies::StudyStep step{};        // not kNone
  double value{};                   // its length; negative values extend to the left
  std::vector<std::string> labels;  // one per column, to the right of the bar
  std::string detail;               // text of the tooltip; may be empty
};

struct WaterfallChart {
  std::string title;
  std::string x;  // title of the axis: the values' unit
  std::vector<WaterfallBar> bars;
  std::string note;  // below; may be empty
};

/// A `figure`. Where rows do not add up to a sum, the next bar begins where the sum ends. Texts are escaped.
/// @param chart  has a bar that is not 0; all are finite
/// @throws       std::invalid_argument  for another one
[[nodiscard]] std::string waterfall_chart(const WaterfallChart& chart);

// Parts that several kinds of charts have.

/// @param anchor  start, middle or end: which part of the text is at `x`
/// @param text    escaped here
[[nodiscard]] std::string text_at(double x, double y, std::string_view anchor, std::string_view text);

[[nodiscard]] std::string grid_line(double x1, double y1, double x2, double y2);

/// Returns steps from 0 up to `high` at most, in steps of 1, 2 or 5 times a power of ten: the finest that make `most`
/// steps or fewer.
/// @param high  above 0
/// @param most  at least 2
/// @throws      std::invalid_argument  for others
[[nodiscard]] std::vector<double> steps_from_zero(double high, int most);

}  // namespace tbench::html
