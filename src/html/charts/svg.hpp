// Parts of the pages' pictures that several kinds of charts have. Colours and fonts are page.css's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tbench::html {

/// @param anchor  start, middle or end: which part of the text is at `x`
/// @param text    escaped here
[[nodiscard]] std::string text_at(double x, double y, std::string_view anchor, std::string_view text);

[[nodiscard]] std::string grid_line(double x1, double y1, double x2, double y2);

/// From 0 up to `high` at most, in steps of 1, 2 or 5 times a power of ten: the finest that make `most` steps or fewer.
/// @param high  above 0
/// @param most  at least 2
/// @throws      std::invalid_argument  for others
[[nodiscard]] std::vector<double> steps_from_zero(double high, int most);

}  // namespace tbench::html
