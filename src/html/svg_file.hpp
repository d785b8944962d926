// A chart as a file of its own.
#pragma once

#include <string>
#include <string_view>

namespace tbench::html {

/// Returns a chart's `figure` as an SVG file that needs no page: its title, its picture and its legend on a background,
/// with the light colours of page.css. Returns an empty text for a figure of several pictures, such as a bar chart with
/// groups.
[[nodiscard]] std::string svg_file(std::string_view figure);

/// Returns the caption of a chart's `figure` as plain text; empty if it has none.
[[nodiscard]] std::string figure_title(std::string_view figure);

}  // namespace tbench::html
