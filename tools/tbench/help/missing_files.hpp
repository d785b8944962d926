// Arguments that stand where a file of results does, but are none.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>

namespace tbench::tool {

/// Explains an argument that is not a file: a shell's or a person's notation (`a.json,b.json`, `vs`, quotation marks),
/// a command, a study, the file of a format flag (`--json a.json`), or a file with another ending. Returns nullopt if
/// the file exists, and if none of these is likely.
/// @param words    the command line without the program's name
/// @param command  the command whose argument it is
/// @param program  has all commands
[[nodiscard]] std::optional<std::string> explain_missing_file(const std::string& path,
                                                              std::span<const std::string> words,
                                                              const CLI::App& command, const CLI::App& program);

}  // namespace tbench::tool
