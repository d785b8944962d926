// Numbers on the command line of tbench, and its parser's errors in our words.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace tbench::tool {

/// Returns a validator for whole numbers: `'5x' is not a whole number of at least 1; did you mean '5'?`.
/// @param max  the largest one that the command takes
[[nodiscard]] CLI::Validator count_of(std::int64_t min, std::int64_t max = std::int64_t{1} << 31);

/// Returns a validator for numbers with a unit, such as seconds.
/// @param unit       what the number is: `a number of seconds`
/// @param meant      returns the number of a text with a unit, for a suggestion
/// @param fits       whether the option takes the number
/// @param otherwise  what to give instead: `is not a time; give seconds, from 0 to 3600`
[[nodiscard]] CLI::Validator number_of(const char* unit, std::optional<double> (*meant)(std::string_view),
                                       bool (*fits)(double), const char* otherwise);

/// Returns the message for an error of the parser: our own text if a flag lacks its value or takes none, and the
/// parser's text for all other errors.
[[nodiscard]] std::string explain_value(const CLI::ParseError& error);

}  // namespace tbench::tool
