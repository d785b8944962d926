// What the subcommands' command lines have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tbench::tool {

/// What is wrong with the arguments, for a person: names the flag or command that is unknown, and the nearest known.
[[nodiscard]] std::string explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tbench::tool
