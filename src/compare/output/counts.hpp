// How many cases came out as what, in lines of at most so many columns.
#pragma once

#include <string>
#include <vector>

#include "tbench/compare/comparison.hpp"

namespace tbench::compare {

/// `text` in lines of at most `width` columns, those after the first indented; words are not cut.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, std::size_t width);

/// A line an outcome, the gravest first, with the kinds of its cases and what these are known to differ by; then what
/// is said of host-bound steps, of chance, of cases that one side lacks and of GPUs that others used.
/// @param width  columns of a line; longer ones are wrapped
[[nodiscard]] std::vector<std::string> count_lines(const Comparison& comparison, std::size_t width);

}  // namespace tbench::compare
