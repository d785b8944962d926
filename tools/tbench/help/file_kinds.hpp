// Files that a command of tbench does not read, but another one does.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>

namespace tbench::tool {

/// Returns the command that shows a file, by its content or name: `tbench report FILE` for results, `tbench history
/// --db=FILE` for a history, `tbench nsys FILE` for a report of Nsight Systems or its export, `tbench profile FILE` for
/// a trace. Returns nullopt for other files, folders, and if there is no such file.
[[nodiscard]] std::optional<std::string> command_that_shows(const std::string& path);

/// Returns the command for files that were given without one: `tbench diff A B` for two files of results, otherwise
/// command_that_shows() of a single file.
[[nodiscard]] std::optional<std::string> command_of_files(std::span<const std::string> paths);

/// Makes every command refuse files of the kinds that it does not read. The messages name the command that reads them.
/// Call it after all commands were added; parsing then throws a UsageError.
void refuse_other_kinds(CLI::App& app);

}  // namespace tbench::tool
