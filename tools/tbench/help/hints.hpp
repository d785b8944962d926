// Suggestions for mistaken flags and commands of tbench.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace tbench::tool {

/// Returns `; did you mean '--nights=30'?` for an unknown flag, or an empty text if no flag is likely. A flag of
/// another command is answered with that command, and an output that the command does not write with what it prints
/// instead.
/// @param words    the command line from the unknown flag on: its value may be the second word
/// @param program  has all commands
[[nodiscard]] std::string flag_hint(std::span<const std::string> words, const CLI::App& command,
                                    const CLI::App& program);

/// Returns `; did you mean 'diff'?` for an unknown command, or an empty text if no command is likely.
[[nodiscard]] std::string command_hint(const std::string& typed, std::span<const std::string> commands);

}  // namespace tbench::tool
