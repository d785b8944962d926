// `tbench history`: a case over time, and filling the history from results files.
#pragma once

#include <CLI/CLI.hpp>

namespace tbench::tool {

/// Adds the subcommand; it runs when the command line is parsed.
/// @throws  from its callback: UsageError naming the input, the value and the remedy
void add_history(CLI::App& app, int& exit_status);

}  // namespace tbench::tool
