// Wraps messages, names of cases and commands to the width of a console.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tbench/render/terminal.hpp"

namespace tbench::render {

/// Puts a space after a slash into each word of more than `room` bytes, such as a case's name, so that add_wrapped()
/// divides it there.
[[nodiscard]] std::string divided_names(std::string_view text, std::size_t room);

/// Returns the text on lines of at most `width` columns, each with a newline. Lines after the first are indented by two
/// spaces. A word that is longer, such as a path, keeps a line of its own.
[[nodiscard]] std::string wrapped_text(std::string_view text, std::size_t width = kConsoleWidth);

/// Returns a shell command on lines of at most `width` columns, if its words allow it. Lines are divided between words
/// outside of quotation marks, and all but the last end in a backslash, so that a shell takes them as they are. Lines
/// after the first begin with `indent` spaces.
[[nodiscard]] std::string command_lines(std::string_view begin, std::string_view command, std::size_t indent,
                                        std::size_t width = kConsoleWidth);

}  // namespace tbench::render
