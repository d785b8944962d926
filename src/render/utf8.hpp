// Makes text valid UTF-8: names and messages quote bytes of files, which may be anything.
#pragma once

#include <string>
#include <string_view>

namespace tbench::render {

/// Returns the text with U+FFFD instead of bytes that are not UTF-8, one for each of the longest valid beginnings of a
/// character (Unicode 15, table 3-7).
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace tbench::render
