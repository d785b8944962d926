// Row chart: lying bars, or points with intervals, in rows with names above them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "html/charts/marks.hpp"

namespace tbench::html {

enum class RowLook { kBar, kOutline, kPoint, kInterval };

struct RowMark {
  std::size_t row{};
  double from{};  // ends of a bar or interval; equal for a point
  double to{};
  double value{};  // number of the tooltip, such as the length of a bar
  PointFacts facts;
};

struct RowSeries {
  std::string name;
  std::string colour;  // CSS
  RowLook look{};
  std::vector<RowMark> marks;
};

struct RowChart {
  std::string title;
  std::string x;  // title of the axis
  std::vector<std::string> rows;
  std::vector<RowSeries> series;
  std::optional<double> reference{};  // value of an upright line; the axis then need not begin at 0
};

/// Returns a `figure` for a page with scripts. Without a reference, the axis begins at 0. Texts are escaped.
/// @param chart  has a mark; all values are finite
/// @throws       std::invalid_argument  for any other chart
[[nodiscard]] std::string row_chart(const RowChart& chart);

}  // namespace tbench::html
