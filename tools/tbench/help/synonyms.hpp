// Names that other programs have for the commands, flags and arguments of tbench.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "tbench/core/hints/suggestions.hpp"

namespace tbench::tool {

/// Returns the names of flags. A row counts only for commands that have its flag.
[[nodiscard]] std::span<const FlagSynonym> flag_synonyms();

/// Returns flags of other programs for arguments that have no flag here: `--base` for BASE. A row counts only for
/// commands that have its argument.
[[nodiscard]] std::span<const FlagSynonym> argument_synonyms();

/// Returns the flags that choose an output format by its name, as in `--format=csv`, and names of formats.
[[nodiscard]] std::span<const FlagSynonym> format_synonyms();

/// Returns names of commands, each with the command of tbench.
[[nodiscard]] std::span<const std::pair<std::string_view, std::string_view>> command_synonyms();

}  // namespace tbench::tool
