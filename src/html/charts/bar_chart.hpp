// Bars in groups, without a script: a picture for each group, whose axis is its own, and below them a legend.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tbench::html {

/// Bars of the same place in each group.
struct BarSeries {
  std::string name;
  std::string colour;   // CSS: `var(--slot-1)`
  std::size_t hatch{};  // 0: a full bar; 1, 2, ...: an outline with lines, each number others
};

struct Bar {
  std::optional<double> value;
  std::string label;  // of the value, or why there is none
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

}  // namespace tbench::html
