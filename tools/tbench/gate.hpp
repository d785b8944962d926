// `tbench gate`: last night against the nights before it.
#pragma once

#include <CLI/CLI.hpp>

namespace tbench::tool {

/// Adds the subcommand; it runs when the command line is parsed.
/// @param exit_status  set to what the program is to exit with; must outlive the parsing
/// @throws             from its callback: UsageError naming the input, the value and the remedy; std::system_error
void add_gate(CLI::App& app, int& exit_status);

}  // namespace tbench::tool
