// Column chart: upright bars side by side in categories, all on one axis from 0.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "html/charts/marks.hpp"

namespace tbench::html {

/// A bar of a category.
struct Column {
  std::size_t category{};
  double value{};
  PointFacts facts;
};

struct ColumnSeries {
  std::string name;
  std::string colour;  // CSS
  bool is_open{};      // an outline instead of a filled bar
  double opacity{1};
  std::vector<Column> columns;
};

struct ColumnChart {
  std::string title;
  std::string x;  // titles of the axes
  std::string y;
  std::vector<std::string> categories;
  std::vector<ColumnSeries> series;
  std::optional<double> level{};  // value of a dashed line across all categories
  std::string level_name{};
  bool has_legend{true};
};

/// Returns a `figure` for a page with scripts. Bars of a series have the same position in every category. Texts are
/// escaped.
/// @param chart  has a bar; values are finite and at least 0, and one is above 0
/// @throws       std::invalid_argument  for any other chart
[[nodiscard]] std::string column_chart(const ColumnChart& chart);

}  // namespace tbench::html
