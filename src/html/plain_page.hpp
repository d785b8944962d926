// The frame of pages without scripts.
#pragma once

#include <string>
#include <string_view>

namespace tbench::html {

/// A whole document with the pages' style, that loads and runs nothing.
/// @param title  a text; escaped here
/// @param body   markup, behind the title
[[nodiscard]] std::string plain_page(std::string_view title, std::string_view body);

/// A paragraph of small print.
/// @param text  escaped here
[[nodiscard]] std::string note_html(std::string_view text);

}  // namespace tbench::html
