// How much room UTF-8 text takes on a terminal, and how to make it fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tbench::report {

enum class Align { kLeft, kRight };

/// Columns of a terminal that `text` takes: two for wide East Asian characters and emoji, none for combining marks, one
/// for a byte that is not UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` if it fits into `width` columns, else its beginning and an ellipsis.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);

/// `text` with spaces on the other side, at least `width` columns.
[[nodiscard]] std::string pad(std::string_view text, std::size_t width, Align align);

/// Text on one line: control characters (line breaks, escapes) become spaces, those at the ends are dropped.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace tbench::report
