// The examples that `tbench --help` and `tbench COMMAND --help` end with.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tbench::tool {

/// Adds examples to the help of the program and of each of its commands.
void add_examples(CLI::App& app);

/// Returns the first example of a command.
[[nodiscard]] std::string example_of(const std::string& command);

}  // namespace tbench::tool
