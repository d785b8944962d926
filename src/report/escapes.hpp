// Any text as a part of CSV, markup or LaTeX. Private to the report layer; Markdown's is in table.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tbench::report {

/// One line of CSV (RFC 4180, but ended by a single newline).
[[nodiscard]] std::string csv_row(std::span<const std::string> cells);

/// Text of XML or HTML, attributes included: markup escaped, control characters as spaces, bytes that are not UTF-8
/// replaced.
[[nodiscard]] std::string escape_markup(const std::string& text);

/// Text of LaTeX, whose ten special characters are escaped.
[[nodiscard]] std::string escape_latex(std::string_view text);

}  // namespace tbench::report
