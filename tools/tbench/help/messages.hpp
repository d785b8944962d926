// Messages, wrapped to the width of the console.
#pragma once

#include <string_view>

namespace tbench::tool {

/// Writes a message to standard error. Ignores failures, which cannot be reported anywhere else. Control characters
/// become spaces.
void say(std::string_view text);
/// Writes a line of the output to standard output, wrapped likewise.
void print_line(std::string_view text);
/// Writes `warning: TEXT`.
void warn(std::string_view text);
/// Writes `note: TEXT`.
void note(std::string_view text);

}  // namespace tbench::tool
