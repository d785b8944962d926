// Marks of the charts on a page with scripts: their points, what a point carries, and the legend.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tbench::html {

/// The facts that a point carries for its tooltip and for the CSV file of its chart.
struct PointFacts {
  std::optional<std::size_t> record{};  // index of the case in the page's data
  std::string unit{};
  std::optional<double> interval{};  // half width of the 95 % interval, in percent of the value
  std::size_t count{};               // samples; 0 if unknown
  std::string status{};
  std::string note{};  // further text of the tooltip
};

/// Returns a number with six significant digits; all digits of a whole number.
[[nodiscard]] std::string number_text(double value);

/// Returns the attributes `data-x`, `data-y` and, where they are known, `data-unit`, `data-interval`, `data-n`,
/// `data-status`, `data-case` and `data-note`, with a space before each. Texts are escaped.
/// @param x  text of the position
/// @param y  text of the value; empty for a case without one
[[nodiscard]] std::string point_attributes(std::string_view x, std::string_view y, const PointFacts& facts);

/// Returns the path of a point shape: circle, square, triangle, diamond or inverted triangle.
[[nodiscard]] std::string shape_at(std::size_t shape, double x, double y);

/// Returns the path of a cross: a case without a value.
[[nodiscard]] std::string cross_at(double x, double y);

/// Returns the begin of a `figure` up to and including its opened `svg`.
/// @param title   caption, which is escaped here
/// @param said    text for a screen reader, which is escaped here
[[nodiscard]] std::string chart_head(std::string_view title, std::string_view said, double width, double height);

/// Returns an entry of a legend.
/// @param colour  CSS
/// @param sign    markup of a picture of 12 by 12 units
/// @param name    text, which is escaped here
[[nodiscard]] std::string legend_entry(std::string_view colour, std::string_view sign, std::string_view name);

}  // namespace tbench::html
