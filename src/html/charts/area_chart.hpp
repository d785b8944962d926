// Areas one on the other, without a script: what a sum is made of while something goes on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tbench::html {

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

}  // namespace tbench::html
