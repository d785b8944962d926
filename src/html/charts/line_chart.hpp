// A line chart that needs no script: SVG whose colours are page.css's variables, and below it a legend.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tbench::html {

struct ChartPoint {
  double x{};
  double y{};
};

struct ChartSeries {
  std::string name;
  std::string colour;              // CSS: `var(--slot-1)`
  std::size_t shape{};             // of its points; five differ
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

}  // namespace tbench::html
