// Suggestions for mistaken command lines of tbench.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbench::tool {

/// Returns `; did you mean '--nights=30'?` for an unknown flag, or an empty text if no flag of the command is likely.
/// @param unknown  the arguments from the unknown flag on: its value may be the second one
[[nodiscard]] std::string flag_hint(std::span<const std::string> unknown, const CLI::App& command);

/// Returns `; did you mean 'diff'?` for an unknown command, or an empty text if no command is likely.
[[nodiscard]] std::string command_hint(const std::string& typed, std::span<const std::string> commands);

/// Explains a number that CLI11 could not convert: `--nights: '30d' is not a number; did you mean '30'?`. Returns
/// nullopt for other errors.
[[nodiscard]] std::optional<std::string> explain_number(const CLI::ParseError& error);

/// Returns a validator for numbers with a unit, such as seconds.
/// @param unit       what the number is: `a number of seconds`
/// @param fits       whether the option takes the number
/// @param otherwise  what to give instead: `is no time; give seconds, from 0 to 3600`
[[nodiscard]] CLI::Validator number_of(const char* unit, bool (*fits)(double), const char* otherwise);

/// Checks that an output has an ending that the command writes, or none.
/// @param endings  with their dots; the first one is suggested
/// @param remedy   what else to do; may be empty
/// @throws         UsageError  naming the flag, the path and the endings
void check_ending(const std::string& flag, const std::string& path, const std::vector<std::string>& endings,
                  const std::string& remedy);

}  // namespace tbench::tool
