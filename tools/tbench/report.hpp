// `tbench report`: the tables of a results file.
#pragma once

#include <CLI/CLI.hpp>

namespace tbench::tool {

/// Adds the subcommand; it runs when the command line is parsed.
/// @throws  from its callback: UsageError naming the input, the value and the remedy; std::system_error
void add_report(CLI::App& app);

}  // namespace tbench::tool
