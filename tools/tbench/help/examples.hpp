// The examples that `tbench --help` and `tbench COMMAND --help` end with.
#pragma once

#include <CLI/CLI.hpp>

namespace tbench::tool {

/// Adds examples to the help of the program and of each of its commands.
void add_examples(CLI::App& app);

}  // namespace tbench::tool
