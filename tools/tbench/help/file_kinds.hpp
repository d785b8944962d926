// Files that a command of tbench does not read, but another one does.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbench::tool {

/// Returns the command that shows a file, by its content or name: `tbench report FILE` for results, `tbench history
/// --db=FILE` for a history, `tbench nsys FILE` for a report of Nsight Systems or its export, `tbench profile FILE` for
/// a trace and for its folder. Any other folder may have results. Returns nullopt for other files, and if there is no
/// such file.
[[nodiscard]] std::optional<std::string> command_that_shows(const std::string& path);

/// Returns the command for files that were given without one: `tbench diff A B` for two files of results, a page of
/// `tbench report` for more than two, and command_that_shows() for a single file.
[[nodiscard]] std::optional<std::string> command_of_files(std::span<const std::string> paths);

/// Makes every command refuse files of the kinds that it does not read, and arguments that are not files but mean
/// something else. The messages name the command that reads them, or what is meant. Call it after all commands were
/// added; parsing then throws a UsageError.
/// @param words  the command line without the program's name
void refuse_other_kinds(CLI::App& app, const std::vector<std::string>& words);

}  // namespace tbench::tool
