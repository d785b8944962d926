// Panels of columns and lines: charts of cases.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "html/charts/charts.hpp"
#include "html/charts/column_chart.hpp"
#include "html/charts/row_chart.hpp"
#include "html/plots/division.hpp"
#include "html/plots/plot_case.hpp"

namespace tbench::html {

using Panel = std::variant<LineChart, ColumnChart, RowChart>;
using Panels = std::vector<Panel>;

/// Returns the markup of a panel's chart.
[[nodiscard]] std::string panel_figure(const Panel& panel);

/// The categories of columns: their title, the keys that make them, and the category of a case.
struct Categories {
  std::string title;
  Keys keys;
  NameOf name_of;
};
/// Returns the categories by the value of one key.
[[nodiscard]] Categories categories_by(const std::string& key);

/// A dashed line across a panel of columns.
struct Level {
  double value{};
  std::string name;
};

/// Returns panels of columns, per family.
/// @param value_of  cases without a value are left out
[[nodiscard]] Panels columns(const PlotData& data, const Cases& cases, const ValueOf& value_of, const std::string& unit,
                             const Categories& x, const std::optional<Level>& level = {});

/// Returns panels of lines over the key `x`, a length in tokens, per family. A case that is out of memory is a cross.
/// @param divide  divides the cases of a family
[[nodiscard]] Panels lines(const PlotData& data, const Cases& cases, const std::string& x, const ValueOf& value_of,
                           const std::string& unit, const std::function<Division(const Cases&)>& divide);

}  // namespace tbench::html
