// A chart as a file of its own.
#pragma once

#include <string>
#include <string_view>

namespace tbench::html {

/// Returns a chart's `figure` as an SVG file that needs no page: its title, its pictures and its legend on a
/// background, with the light colours of page.css. The pictures of a bar chart, one for each group, lie side by side in
/// rows.
/// @throws  std::invalid_argument  for a figure without a picture
[[nodiscard]] std::string svg_file(std::string_view figure);

/// Returns the caption of a chart's `figure` as plain text; empty if it has none.
[[nodiscard]] std::string figure_title(std::string_view figure);

}  // namespace tbench::html
