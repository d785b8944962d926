// The numbers of cases by outcome, in lines of limited width.
#pragma once

#include <string>
#include <vector>

#include "tbench/compare/comparison.hpp"

namespace tbench::compare {

/// Breaks `text` into lines of at most `width` columns. Lines after the first are indented. Words are not cut.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, std::size_t width);

/// Returns a line per outcome, the most severe first, with the classes of its cases and their known spreads. Then
/// follow lines about host-bound steps, chance, cases that one side lacks, and GPUs that other processes used.
/// @param width  largest number of columns; longer lines are wrapped
[[nodiscard]] std::vector<std::string> count_lines(const Comparison& comparison, std::size_t width);

}  // namespace tbench::compare
